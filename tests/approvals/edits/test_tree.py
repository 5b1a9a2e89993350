"""A state as a tree, and two states as one: what differs, what is folded, what is masked, and what is only counted."""

from __future__ import annotations

from typing import Any

import pytest

from approvals.edits.places import ABSENT
from approvals.edits.tree import ENTRIES_MAX, LINES_MAX, PART, TEXT_MAX, Line, Tree, grow

BEFORE = {"customer": {"name": "Acme", "vat": "x", "zip": "N1"}, "id": 4471, "status": "open", "messages": [1, 2]}
AFTER = {**BEFORE, "status": "offer accepted", "offer": {"amount": 142_000}, "messages": [1, 2, 3]}


def told(line: Line) -> str:
    name = "".join(segment.text for segment in line.name)
    shown = line.shown.plain if line.shown else ""
    return " ".join(filter(None, (line.sign, name, line.size, shown, line.note)))


def tree(before: Any, after: Any, **more: Any) -> Tree:
    found = grow(before, after, **more)
    assert found is not None
    return found


def lines(before: Any, after: Any, **more: Any) -> list[str]:
    return [told(line) for line in tree(before, after, **more).lines if line.kind != "end"]


def test_the_difference_of_two_states_reads_as_one_tree() -> None:
    assert lines(BEFORE, AFTER) == [
        "customer {3} unchanged",
        "name Acme",
        "vat x",
        "zip N1",
        "id 4471",
        "messages [3] 1 new",
        "1 1",
        "2 2",
        "+ 3 3",
        "+ offer {1}",
        "+ amount 142000",
        "− status open",
        "+ status offer accepted",
    ]
    assert tree(BEFORE, AFTER).changed == 3


def test_an_unchanged_branch_is_folded_and_a_changed_one_is_open() -> None:
    branches = {told(line): line.open for line in tree(BEFORE, AFTER).lines if line.kind == "branch"}
    assert branches == {"customer {3} unchanged": False, "messages [3] 1 new": True, "+ offer {1}": True}


def test_a_state_by_itself_has_no_signs() -> None:
    assert all(line.sign == "" and "unchanged" not in line.note for line in tree(ABSENT, AFTER).lines)


def test_many_unchanged_entries_are_one_line_that_counts_them() -> None:
    before = {f"k{number}": number for number in range(50)}
    assert lines(before, before | {"k2": "x"}) == [
        "12 entries unchanged",
        "− k2 2",
        "+ k2 x",
        "37 entries unchanged",
    ]


@pytest.mark.parametrize(("one", "other"), [(1, True), (0, False), (None, 0), ("", None), ([], {}), ("1", 1)])
def test_what_python_takes_for_the_same_is_told_apart(one: Any, other: Any) -> None:
    assert tree({"a": one}, {"a": other}).changed == 1 and tree({"a": [one]}, {"a": [other]}).changed == 1


def test_a_secret_is_masked_in_every_form_and_said_to_have_changed() -> None:
    """RN-13."""
    before, after = {"api_token": "hush-one", "credentials": {"k": "v1"}}, {"api_token": "hush-two", "credentials": {}}
    for found in (lines(before, after), lines(ABSENT, before), lines(before, {}), lines({}, before)):
        assert not any(word in str(found) for word in ("hush", "v1")) and "its name says so" in str(found)
    assert grow(ABSENT, {"credentials": {"inner": {"a": 1}}}, at="/credentials/inner/a") is None


def test_a_large_list_is_paged_and_says_what_is_left() -> None:
    state = {"items": list(range(1000))}
    [line] = [line for line in tree(ABSENT, state).lines if line.kind == "branch"]
    assert line.leads and line.size == "[1,000]"
    first = tree(ABSENT, state, at="/items").lines
    assert len(first) == ENTRIES_MAX + 1 and told(first[-1]) == "900 more entries" and first[-1].after == ENTRIES_MAX
    last = lines(ABSENT, state, at="/items", skip=950)
    assert last[0] == "951 950" and len(last) == 50


def test_no_page_is_longer_than_its_bound_whatever_differs() -> None:
    deep: Any = 0
    for _ in range(40):
        deep = {f"k{number}": number for number in range(30)} | {"z": deep}
    befores: list[Any] = [ABSENT, {}, {"a": {}}]
    for before in befores:
        found = tree(before, {"a": deep, "b": [deep] * 50})
        assert len(found.lines) <= LINES_MAX + 2 * 40 * ENTRIES_MAX
        assert len(found.lines) < 2000 and any(line.leads for line in found.lines)


def test_a_long_text_begins_where_it_differs_and_goes_on_at_its_own_place() -> None:
    old, new = "a" * 5000 + "b" * 30_000, "a" * 5000 + "c" * 30_000
    was, now = tree({"t": old}, {"t": new}).lines
    assert (was.sign, now.sign) == ("−", "+") and "4,900 characters before" in now.note and now.shown
    assert len(now.shown.plain) == TEXT_MAX and "c" in now.shown.plain and now.leads
    [part] = tree(ABSENT, {"t": new}, at="/t").lines
    assert part.after == PART and part.note == "15,000 characters more"
    [rest] = tree(ABSENT, {"t": new}, at="/t", skip=PART).lines
    assert rest.after == 0 and rest.note == "20,000 characters before"


@pytest.mark.parametrize("at", ["/nothing", "x", "/id/deeper", "/messages/9", "/messages/-1", "/messages/01", "/a~2"])
def test_a_place_that_is_none_gives_no_tree(at: str) -> None:
    assert grow(ABSENT, AFTER, at=at) is None


def test_the_entries_of_a_list_are_matched_by_what_they_hold() -> None:
    assert lines({"a": [1, 2, 3, 4, 5, 6]}, {"a": [1, 3, 4, 5, 6]})[1:] == ["1 1", "− 2 2", "4 entries unchanged"]
