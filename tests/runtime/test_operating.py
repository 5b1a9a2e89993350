"""Operators' pages in a real browser: to axe, at 1280 and 320 px, and what a press and an opened checkpoint do."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from approvals import gate
from runtime.runs import Run
from tests.axe import IN_DARK, problems
from tests.runtime.conftest import Desk
from tests.runtime.test_attention import parked
from tests.runtime.test_checkpoint_pages import run
from tests.runtime.test_pages import RUNS

__all__ = ["run"]
pytestmark = pytest.mark.committed


def flaws(page: Any) -> list[str]:
    """What is wrong with the open page, in light on a desk and a phone, and of its colours in dark."""
    page.evaluate("for (const one of document.querySelectorAll('main details')) one.open = true")
    found = problems(page)
    page.emulate_media(color_scheme="dark")
    found += problems(page, IN_DARK)
    page.set_viewport_size({"width": 320, "height": 700})
    sideways = page.evaluate("document.documentElement.scrollWidth") > 320
    page.set_viewport_size({"width": 1280, "height": 800})
    page.emulate_media(color_scheme="light")
    return [*found, *(["it scrolls sideways"] if sideways else [])]


def test_operators_pages_hold_on_a_desk_and_on_a_phone(desk: Desk, page_as: Any, run: Run) -> None:
    """WCAG 2.2 AA as far as a program can tell; nothing scrolls sideways at 320."""
    parked(desk)
    gate.halts.begin(desk.cast.northwind, desk.agent, by=desk.cast.omar, reason="It loops. " * 20)
    page, found = page_as(desk.cast.omar, reduced_motion="reduce"), dict[str, list[str]]()
    at = f"{RUNS}/{run.public_id}"
    for path in ("/w/northwind/attention", at, f"{at}/checkpoints/2", f"{at}/checkpoints/3?with=x", f"{at}?until=1"):
        page.goto(path)
        found |= {path: lines} if (lines := flaws(page)) else {}
    assert found == {}


def test_a_step_opens_what_it_changed_in_place(desk: Desk, page_as: Any, run: Run) -> None:
    page = page_as(desk.cast.omar)
    page.goto(f"{RUNS}/{run.public_id}")
    page.locator("#state-3 > summary").click()
    expect(page.locator("#state-3 .tree")).to_contain_text("closed")
    expect(page.locator("#state-3 .line.gone")).to_contain_text("open")


def test_a_stopped_agent_is_let_go_on_without_a_script(desk: Desk, page_as: Any) -> None:
    gate.halts.begin(desk.cast.northwind, desk.agent, by=desk.cast.omar)
    page = page_as(desk.cast.omar, java_script_enabled=False)
    page.goto("/w/northwind/attention")
    page.get_by_role("button", name=re.compile("^Let it go on")).click()
    expect(page).to_have_url(re.compile("/w/northwind/attention$"))
    assert gate.halts.on(desk.cast.northwind.pk) == []
