"""Sight: opens a scene in one browser for each person, and says what is wrong with it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from django.urls import Resolver404, resolve

from tests.axe import problems
from tests.scenes.looks import Look, scripted

CODES: Final = re.compile(r"\b(?:[a-z]+_(?:again|happened|before|after|allowed)|(?:run|call|outcome)\.[a-z_]+)\b")
"""A word of the machine's in a place where people read."""
UNFOLD: Final = "for (const one of document.querySelectorAll('main details:not(.menu)')) one.open = true"
WORDS: Final = """() => {
    const read = document.body.cloneNode(true);
    for (const literal of read.querySelectorAll('pre, .literal, textarea, script')) literal.remove();
    return read.textContent;
}"""
"""What stands on the page but for what the machine uses literally."""
HEIGHT: Final = 800


@dataclass
class Sight:
    """``page_as`` opens a browser for somebody. With PLACET_SCREENS a picture of everything is kept in that folder,
    with PLACET_SEEN a line of JSON of what was found."""

    page_as: Callable[..., Any]
    pages: dict[Any, Any] = field(default_factory=dict)
    found: dict[str, list[str]] = field(default_factory=dict)

    def look(self, name: str, person: Any, path: str, looks: Sequence[Look], status: int = 200) -> None:
        """Open a page and look at it in each of these ways; without a path, at the one that this person has open, once
        it says what happened meanwhile."""
        if not path:
            self._page(person).wait_for_selector("#notice .notice", timeout=60_000)
            for look in filter(scripted, looks):
                self._look_so(self._page(person), name, look)
            return
        for scripts in sorted({look.scripts for look in looks}):
            page = self._page(person)
            answer = _come(page, path, scripts)
            if answer.status != status:
                self.found[name] = [f"{path} answers {answer.status}"]
                continue
            for look in (each for each in looks if each.scripts is scripts):
                self._look_so(page, name, look)

    def read(self, name: str, text: str, looks: Sequence[Look]) -> None:
        """The same of a page with which no address of ours can be made to answer."""
        self._page(None).route(f"**/{name}", lambda route: route.fulfill(body=text, content_type="text/html"))
        self.look(name, None, f"/{name}", looks)

    def _page(self, person: Any) -> Any:
        key = person and person.pk
        if key not in self.pages:
            page = self.pages[key] = self.page_as(person, reduced_motion="reduce")
            page.on("console", lambda said: self._complain(page, said.text) if said.type == "error" else None)
        return self.pages[key]

    def _complain(self, page: Any, text: str) -> None:
        """What the console says beside the status of the answer is wrong: a broken policy of content, a script."""
        if "the server responded with a status of" not in text:
            self.found.setdefault(page.url, []).append(text)

    def _look_so(self, page: Any, name: str, look: Look) -> None:
        page.set_viewport_size({"width": look.width, "height": HEIGHT})
        page.emulate_media(color_scheme=look.scheme)
        if folder := os.environ.get("PLACET_SCREENS"):
            page.screenshot(path=Path(folder) / f"{name}-{look.name}.png", full_page=True)
        else:
            self._judge(page, f"{name} {look.name}", look)

    def _judge(self, page: Any, title: str, look: Look) -> None:
        page.evaluate(UNFOLD)
        serious = problems(page)
        wrong = [*serious, *_codes(page), *_sideways(page, look.width)]
        self.found |= {title: wrong} if wrong else {}
        if file := os.environ.get("PLACET_SEEN"):
            with Path(file).open("a", encoding="utf-8") as seen:
                told = {"page": _page_of(page), "state": title.split()[0], "look": look.name, "serious": serious}
                seen.write(json.dumps(told) + "\n")

    def told(self) -> str:
        """What was found, a line each; nothing where nothing was."""
        return "\n".join(f"{title}: {line}" for title, lines in self.found.items() for line in lines)


def _come(page: Any, path: str, scripts: bool) -> Any:
    """Open a page. None of its scripts runs where they are off; axe, which is one itself, comes afterwards."""
    protocol = page.context.new_cdp_session(page)
    protocol.send("Emulation.setScriptExecutionDisabled", {"value": not scripts})
    answer = page.goto(path)
    protocol.send("Emulation.setScriptExecutionDisabled", {"value": False})
    protocol.detach()
    return answer


def _page_of(page: Any) -> str:
    """The name of the address that is open, the same for all that differ in an id."""
    try:
        return resolve(urlsplit(page.url).path).url_name or page.url
    except Resolver404:
        return urlsplit(page.url).path


def _codes(page: Any) -> Iterable[str]:
    return [f"says {word}" for word in CODES.findall(page.evaluate(WORDS))]


def _sideways(page: Any, width: int) -> Iterable[str]:
    wide = page.evaluate("document.documentElement.scrollWidth")
    return [f"is {wide} pixels wide"] if wide > width else []
