"""The words of a call as the pages make them: they look through no more than they can tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from approvals.edits import Tool
from approvals.edits.view import View
from approvals.pages import cards

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "to": {"type": "string"},
        "password": {"type": "string"},
        "rows": {"type": "array", "items": {"type": "object"}},
    },
}
ARGS = {"rows": [{"n": n} for n in range(2000)], "to": "acme", "password": "hunter2"}


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The places that were entered."""
    places: list[str] = []
    children = View.children

    def noted(view: View) -> Iterator[View]:
        places.append(view.pointer)
        return children(view)

    monkeypatch.setattr(View, "children", noted)
    return places


def test_arguments_that_the_summary_does_not_mention_are_not_looked_through(looked_at: list[str]) -> None:
    card = cards.words(Tool(SCHEMA), "Write to {/to}", "mail", "Mail", ARGS)
    assert card.title == "Write to acme" and set(looked_at) <= {"", "/to"}


@pytest.mark.parametrize("summary", ["Sign in as {/to} with {/password}", ""])
def test_a_secret_that_is_mentioned_is_covered(summary: str) -> None:
    card = cards.words(Tool(SCHEMA), summary, "login", "Log in", ARGS)
    assert "hunter2" not in card.title and "••••" in card.title
