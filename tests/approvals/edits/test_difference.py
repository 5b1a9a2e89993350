"""What an edit changed is told by place, exactly, and word by word in prose."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from hypothesis import given, settings

from approvals.edits import Change, Tool, difference, same
from approvals.edits.difference import aligned, words
from tests.approvals.edits.tools import ANYTHING, TEXTS

OPEN = Tool({"type": "object"})


def changes(before: Any, after: Any, tool: Tool = OPEN) -> list[tuple[str, str]]:
    return [(change.kind, change.pointer) for change in difference(before, after, tool)]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({"a": 10}, {"a": "10"}, [("changed", "/a")]),
        ({"a": None}, {}, [("removed", "/a")]),
        ({"a": None}, {"a": ""}, [("changed", "/a")]),
        ({}, {"a": None}, [("added", "/a")]),
        ({"a": 1}, {"a": True}, [("changed", "/a")]),
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, [("changed", "/a/c")]),
        ({"a": {"b": 1}}, {"a": [1]}, [("changed", "/a")]),
        ({"a": [1, 2, 3]}, {"a": [1, 3]}, [("removed", "/a/1")]),
        ({"a": [1, 3]}, {"a": [1, 2, 3]}, [("added", "/a/1")]),
        ({"a": ["x"]}, {"a": ["y"]}, [("changed", "/a/0")]),
        (
            {"a": [{"id": 1, "q": 5}, {"id": 2, "q": 6}]},
            {"a": [{"id": 2, "q": 7}]},
            [("removed", "/a/0"), ("changed", "/a/0/q")],
        ),
        ({"x~y": {"a/b": 1}}, {"x~y": {"a/b": 2}}, [("changed", "/x~0y/a~1b")]),
    ],
)
def test_changes_are_told_by_kind_and_place(before: Any, after: Any, told: list[tuple[str, str]]) -> None:
    """AP-E1 AP-E5 AP-X1 RN-15 JS-12: absent, null and "" differ, and so do 10, "10" and true."""
    assert changes(before, after) == told


@given(ANYTHING, ANYTHING)
@settings(max_examples=100, deadline=None)
def test_two_values_differ_exactly_when_there_is_a_change(before: Any, after: Any) -> None:
    """AP-X1: no change goes untold."""
    assert bool(difference({"a": before}, {"a": after}, OPEN)) is not same(before, after)


@given(TEXTS, TEXTS)
@settings(max_examples=100, deadline=None)
def test_the_pieces_of_a_text_make_up_both(before: str, after: str) -> None:
    """RN-7 RN-15: nothing is left out of either."""
    pieces = words(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind != "ins") == before
    assert "".join(piece.text for piece in pieces if piece.kind != "del") == after


def test_prose_is_compared_by_words() -> None:
    """RN-15: so that one changed word in a page is seen."""
    before = "Deploy to production starts at 16:00 UTC. " * 3
    after = before.replace("16:00", "17:30", 1)
    change: Change = difference({"text": before}, {"text": after}, OPEN)[0]
    assert [(piece.kind, piece.text) for piece in change.pieces[:4]] == [
        ("same", "Deploy to production starts at "),
        ("del", "16"),
        ("ins", "17"),
        ("same", ":"),
    ]


def test_an_unchanged_middle_can_be_folded_to_its_length() -> None:
    """RN-7: where a narrow place shows the change, what is left out is counted."""
    pieces = words("x" * 4000 + " a", "x" * 4000 + " b")
    assert "3,881 unchanged characters" in [segment.text for segment in pieces[0].folded]
    assert "".join(segment.text for segment in pieces[0].segments) == "x" * 4000 + " "


def test_a_changed_secret_is_not_told() -> None:
    """RN-13 AP-X7: only that it was replaced."""
    tool = Tool({"type": "object", "properties": {"password": {"type": "string"}}})
    change = difference({"password": "old one"}, {"password": "new one"}, tool)[0]
    assert change.before is not None
    assert change.after is not None
    assert (change.before.secret, change.after.secret) == ("its name says so", "its name says so")
    assert not change.pieces
    assert "one" not in change.before.plain + change.after.plain


def test_secrets_inside_what_was_added_are_masked() -> None:
    """RN-13: an added object is shown as its JSON text, with dots."""
    change = difference({}, {"login": {"user": "x", "password": "hunter2"}}, OPEN)[0]
    assert change.after is not None
    assert "hunter2" not in change.after.plain
    assert '"user": "x"' in change.after.plain


def test_long_lists_and_texts_are_compared_in_time() -> None:
    """JS-3: thousands of changed entries, and a text of as many words, cost seconds of the processor and not hours."""
    began = time.process_time()
    difference({"a": list(range(6_000))}, {"a": [n * 2 + 1 for n in range(5_000)]}, OPEN)
    words("a b " * 10_000, "c d " * 10_000)
    assert time.process_time() - began < 15


def test_lists_of_long_texts_that_were_all_rewritten_are_compared_in_time() -> None:
    """JS-3, IN-E14: an edit is compared while its approval is locked; a hundred texts once took twenty seconds."""
    chance = random.Random(1)
    olds, news = (["".join(chance.choices("abcdefghij ", k=400)) for _ in range(count)] for count in (100, 99))
    began = time.process_time()
    assert len(list(aligned(olds, news))) >= 100
    assert time.process_time() - began < 5
