"""Every state of who may say yes, on every page that shows it: to axe, on a desk and a phone, in plain words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runtime import exhibits
from tests.runtime.conftest import Desk
from tests.runtime.test_gallery import flaws

pytestmark = pytest.mark.committed


@pytest.mark.lasts(150)
def test_every_state_of_a_decision_holds_on_a_desk_and_on_a_phone(desk: Desk, monkeypatch: Any, page_as: Any) -> None:
    """WCAG 2.2 AA as far as a program can tell, all unfolded; nothing scrolls sideways; no code stands for a word."""
    found: dict[str, Any] = {}
    pages: dict[Any, Any] = {}
    for name, person, path in exhibits.hang(desk, monkeypatch):
        page = pages.get(person.pk) or pages.setdefault(person.pk, page_as(person, reduced_motion="reduce"))
        look(page, path, name)
        found |= flaws(page, name)
    assert found == {}, "\n".join(f"{name}: {what}" for name, what in found.items())


def look(page: Any, path: str, name: str) -> None:
    """Open the page; without a path, wait for the open one to say what happened."""
    if path == exhibits.AS_IT_IS:
        page.wait_for_selector("#notice .notice", timeout=60_000)
    else:
        assert page.goto(path).status == 200, name
