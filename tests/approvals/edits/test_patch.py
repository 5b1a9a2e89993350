"""An edit as JSON Patch: it leads from the one value to the other, and says of secrets only that they changed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.edits import Tool, patch, same
from approvals.ledger import canonical

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "password": {"type": "string"},
        "secrets": {"type": "object"},
        "clients": {
            "type": "array",
            "items": {"type": "object", "properties": {"name": {"type": "string"}, "secret": {"type": "string"}}},
        },
    },
}
BEFORE: dict[str, Any] = {
    "user": "reader",
    "password": "hunter2",
    "secrets": {"a": "s3cr3t-a"},
    "clients": [{"name": "a", "secret": "s3cr3t-1"}, {"name": "b", "secret": "s3cr3t-2"}],
}
LEAVES = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(0, 1, width=16) | st.text("a~/0é", max_size=3)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text("a~/0", max_size=2), inner, max_size=4)
)


def value_of(drawn: Any) -> Any:
    return canonical.parse(canonical.encode(drawn))


@given(VALUES, VALUES)
def test_it_leads_from_any_value_to_any_other(one: Any, other: Any) -> None:
    """BD-8, AP-E1, AP-E5: types, null and absent and the order of a list come out exactly; what it is given stays."""
    before, after = value_of(one), value_of(other)
    steps = patch.parse(patch.encode(patch.made(before, after)))
    assert same(patch.applied(steps, before), after)
    assert before == value_of(one) and bool(steps) is not same(before, after)


@pytest.mark.parametrize(
    ("before", "after", "steps"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": True}, [{"op": "replace", "path": "/a", "value": True}]),
        ({"a": None}, {}, [{"op": "remove", "path": "/a"}]),
        ({}, {"a": None}, [{"op": "add", "path": "/a", "value": None}]),
        ({"a/b": {"~": 1}}, {"a/b": {"~": 2}}, [{"op": "replace", "path": "/a~1b/~0", "value": 2}]),
        ({"a": ["x", "y", "z"]}, {"a": ["y", "z"]}, [{"op": "remove", "path": "/a/0"}]),
        ({"a": ["x", "z"]}, {"a": ["x", "y", "z"]}, [{"op": "add", "path": "/a/1", "value": "y"}]),
        ([1], {"a": 1}, [{"op": "replace", "path": "", "value": {"a": 1}}]),
    ],
    ids=["same", "true", "removed", "null", "escaped", "first", "between", "whole"],
)
def test_it_says_what_rfc_6902_says(before: Any, after: Any, steps: list[dict[str, Any]]) -> None:
    """JS-12: no step for what did not change."""
    assert patch.made(before, after) == steps
    assert same(patch.applied(steps, before), after)


@pytest.mark.parametrize(
    "step",
    [
        {"op": "test", "path": "/a", "value": 1},
        {"op": "replace", "path": "/none", "value": 1},
        {"op": "remove", "path": "/none"},
        {"op": "remove", "path": ""},
        {"op": "remove", "path": "/a", "value": 1},
        {"op": "add", "path": "/list/01", "value": 1},
        {"op": "add", "path": "/list/9", "value": 1},
        {"op": "replace", "path": "/list/1", "value": 1},
        {"op": "add", "path": "/a/b", "value": 1},
        {"op": "add", "path": "a", "value": 1},
        {"op": "add", "path": "/a"},
        {"path": "/a", "value": 1},
    ],
    ids=range(12),
)
def test_what_does_not_fit_changes_nothing(step: dict[str, Any]) -> None:
    before = {"a": 1, "list": [1]}
    with pytest.raises(patch.Unfitting):
        patch.applied([step], before)
    assert before == {"a": 1, "list": [1]}


def test_a_secret_that_nobody_touched_is_not_in_it() -> None:
    """WB-9, IN-E49: not where it stays, nor where an entry before it is taken out."""
    after = {**BEFORE, "user": "writer", "clients": BEFORE["clients"][1:]}
    text = patch.encode(patch.made(BEFORE, after)).decode()
    assert not any(secret in text for secret in ("hunter2", "s3cr3t"))
    assert same(patch.applied(patch.made(BEFORE, after), BEFORE), after)


def test_a_secret_that_was_replaced_is_shown_as_its_mark() -> None:
    """RN-13, AP-X7: what surfaces show names the place alone."""
    after = {**BEFORE, "password": "new one", "clients": [*BEFORE["clients"], {"name": "c", "secret": "s3cr3t-3"}]}
    shown = patch.covered(patch.made(BEFORE, after), after, Tool(SCHEMA))
    assert shown == [
        {"op": "replace", "path": "/password", "value": {"$kept": "/password"}},
        {"op": "add", "path": "/clients/2", "value": {"name": "c", "secret": {"$kept": "/clients/2/secret"}}},
    ]


def test_of_the_inside_of_a_secret_only_the_change_is_shown() -> None:
    """RN-13: neither names nor places of what is in there."""
    after = {**BEFORE, "secrets": {"hidden-name": "s3cr3t-b", "c": "d"}}
    shown = patch.covered(patch.made(BEFORE, after), after, Tool(SCHEMA))
    assert "s3cr3t" not in str(shown)
    policy = patch.covered(patch.made(BEFORE, after), after, Tool(SCHEMA, secret=("/secrets",)))
    assert policy == [{"op": "replace", "path": "/secrets", "value": {"$kept": "/secrets"}}]
