"""Every state of who may say yes, on every page that shows it: to axe, on a desk and a phone, in plain words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.approvals.pages.test_access import problems
from tests.runtime import exhibits
from tests.runtime.conftest import Desk
from tests.runtime.test_gallery import CODES, LOOKS

pytestmark = pytest.mark.committed


@pytest.mark.lasts(120)
def test_every_state_of_a_decision_holds_on_a_desk_and_on_a_phone(desk: Desk, monkeypatch: Any, page_as: Any) -> None:
    """WCAG 2.2 AA as far as a program can tell, all unfolded; nothing scrolls sideways; no code stands for a word."""
    found: dict[str, Any] = {}
    pages: dict[Any, Any] = {}
    for name, person, path in exhibits.hang(desk, monkeypatch):
        page = pages.get(person.pk) or pages.setdefault(person.pk, page_as(person, reduced_motion="reduce"))
        answer = page.goto(path)
        assert answer.status == 200, name
        found |= {f"{name} words": words} if (words := CODES.findall(page.locator("main").inner_text())) else {}
        page.evaluate("for (const one of document.querySelectorAll('details:not(.menu)')) one.open = true")
        for scheme, width in LOOKS:
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=scheme)
            wide = page.evaluate("document.documentElement.scrollWidth") > width
            found |= {f"{name} {scheme}": lines} if (lines := problems(page)) else {}
            found |= {f"{name} sideways": True} if wide else {}
    assert found == {}, "\n".join(f"{name}: {what}" for name, what in found.items())
