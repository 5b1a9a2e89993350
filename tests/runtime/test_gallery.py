"""Every state of the machine's matters, on every page that shows it: to axe, on a desk and a phone, in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.approvals.pages.test_access import problems
from tests.runtime import gallery
from tests.runtime.conftest import Desk

pytestmark = pytest.mark.committed
LOOKS = (("light", 1280), ("dark", 390))
SHOWN = [
    "stop-passed",
    "steer",
    "question-form",
    "question-answered-run",
    "budget",
    "budget-raised-run",
    "unknown",
    "unknown-others",
    "unknown-call",
    "unknown-it_happened-run",
    "retry-call",
    "asked-again-before",
    "erased-run",
]
"""Each page in each shape that its template has; the gallery has more of the same shapes."""
CODES = re.compile(r"\b(?:[a-z]+_(?:again|happened|before|after|allowed)|(?:run|call|outcome)\.[a-z_]+)\b")
"""A word of the machine's in a place where people read."""


@pytest.fixture
def pages(desk: Desk, monkeypatch: pytest.MonkeyPatch, page_as: Any) -> Iterator[tuple[Any, dict[str, str]]]:
    """A page of Omar's browser, and the paths of all states; whatever its console complains of fails the test."""
    paths = gallery.hang(desk, monkeypatch)
    page, complaints = page_as(desk.cast.omar, reduced_motion="reduce"), list[str]()
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    yield page, paths
    assert [each for each in complaints if "status of 410" not in each] == []


def flaws(page: Any, name: str) -> dict[str, Any]:
    """What is wrong with the page that is open, all unfolded, in each look."""
    words = CODES.findall(page.locator("main").inner_text())
    found: dict[str, Any] = {f"{name} words": words} if words else {}
    page.evaluate("for (const one of document.querySelectorAll('details:not(.menu)')) one.open = true")
    for scheme, width in LOOKS:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        wide = page.evaluate("document.documentElement.scrollWidth") > width
        found |= {f"{name} {scheme}": lines} if (lines := problems(page)) else {}
        found |= {f"{name} sideways": True} if wide else {}
    return found


def test_every_state_holds_in_light_and_dark_on_a_desk_and_on_a_phone(pages: Any) -> None:
    """WCAG 2.2 AA as far as a program can tell, all unfolded; nothing scrolls sideways; no code stands for a word."""
    page, paths = pages
    found: dict[str, Any] = {}
    for name in SHOWN:
        page.goto(paths[name])
        found |= flaws(page, name)
    assert found == {}, "\n".join(f"{name}: {what}" for name, what in found.items())


def test_the_button_repeats_the_choice(desk: Desk, page_as: Any) -> None:
    """Without a script: the sheet alone changes its words, and the form posts."""
    gallery.furnish(desk)
    run = gallery.doubtful(desk)
    page = page_as(desk.cast.omar, java_script_enabled=False)
    page.goto(gallery.path_of(gallery.last(desk.wait_out(run))))
    page.get_by_role("button", name="Record the choice").click()
    expect(page.get_by_text("Choose what became of it.")).to_be_visible()
    page.get_by_role("radio", name=re.compile("^It happened")).check()
    page.get_by_label("What you saw").fill("re_8Kd02mQvTz")
    page.get_by_role("button", name="Record that it happened").click()
    expect(page.locator(".chip")).to_have_text("It happened")
    assert desk.work(run).status == "completed"
