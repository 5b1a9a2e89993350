"""A person at the edit page in a real browser: types, chooses and presses what an edit takes, and nothing else.

What it takes is found out on the server first, where a way that leads nowhere can be given up; in the browser only the
way that leads there is gone, from the first field to the last button.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from playwright.sync_api import Locator, Page, sync_playwright

from approvals.edits import Tool
from tests.approvals.edits.tools import form_of, pressed
from tests.browsers import HERE_ONLY
from tests.campaigns.visitors import Visitor
from tests.editing import Editor
from tests.forms import Form

SECONDS: Final = 30
PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")
CLOSED: Final = "xpath=ancestor::details[not(@open)]"


@dataclass(frozen=True)
class Act:
    """What is written into fields, by name, and the button that is pressed then."""

    written: dict[str, str]
    button: str


class Way:
    """The acts that bring the arguments ``before`` to ``after``. Raises NotOffered where the form has no way."""

    def __init__(self, tool: Tool, before: Any, after: Any) -> None:
        self.tool, self.before = tool, before
        self._drawn: dict[int, tuple[Form, list[str], list[Act]]] = {}
        first = self._keep(form_of(tool, before), [])
        last = Editor(first, self._press).change(before, after)
        self.acts = [*self._acts_to(last), Act(self._written(last), "save")]

    def _keep(self, form: Form, acts: list[Act]) -> Form:
        self._drawn[id(form)] = (form, [one.value for one in form.controls], acts)
        return form

    def _press(self, form: Form, do: str) -> Form:
        acts = [*self._acts_to(form), Act(self._written(form), do)]
        return self._keep(pressed(form, do, self.tool, self.before), acts)

    def _acts_to(self, form: Form) -> list[Act]:
        return self._drawn[id(form)][2]

    def _written(self, form: Form) -> dict[str, str]:
        first = self._drawn[id(form)][1]
        pairs = zip(form.controls, first, strict=True)
        return {control.name: control.value for control, was in pairs if control.value != was}


class Hands:
    """The hands of a person whose page is open at an edit form."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def go(self, way: Way) -> None:
        """Do all of it. What the page does not let a person do raises playwright's TimeoutError."""
        for act in way.acts:
            self._do(act)

    def _do(self, act: Act) -> None:
        chosen = None
        for name, text in act.written.items():
            place = self.page.locator(f"[name={_quoted(name)}]")
            if place.get_attribute("data-redraw") is not None:
                chosen = (place, text)  # choosing it brings the form anew, so it comes last
            else:
                self._put(place, text)
        if chosen and act.button == "draw":
            with self.page.expect_navigation():
                chosen[0].select_option(chosen[1])
            return
        if act.button == "save" and (box := self.page.locator("input[name=sure]")).count():
            box.check()
        with self.page.expect_navigation():
            self._uncovered(self.page.locator(f"button[name=do][value={_quoted(act.button)}]").first).click()

    def _put(self, place: Locator, text: str) -> None:
        if place.evaluate("one => one.tagName") == "SELECT":
            place.select_option(text)
            return
        self._uncovered(place).click()
        place.press("ControlOrMeta+a")
        if not text:
            place.press("Delete")
        elif text.isprintable():
            self.page.keyboard.type(text)
        else:
            self.page.keyboard.insert_text(text)  # pasted: a tab or the end of a line is also a key

    def _uncovered(self, place: Locator) -> Locator:
        """The same, once what it stands in is unfolded."""
        while place.locator(CLOSED).count():
            place.locator(CLOSED).first.locator("> summary").click()
        return place


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@contextmanager
def browser_of(person: Visitor) -> Iterator[Page]:
    """A page of a real browser that is signed in as this person is. Raises FileNotFoundError where there is none."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise FileNotFoundError("No Chromium is here: apt-get install chromium")
    # Playwright's loop runs in this thread, so Django would take this process's own queries for a coroutine's.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    url = str(person.client.base_url)
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(
            executable_path=program, args=[HERE_ONLY, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        ) as browser,
    ):
        context = browser.new_context(base_url=url)
        context.set_default_timeout(SECONDS * 1000)
        context.add_cookies(
            [{"name": name, "value": value, "url": url} for name, value in person.client.cookies.items()]
        )
        yield context.new_page()
