"""State: pure JSON, folded from operations."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import state
from runtime.state import NotState

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def body(**update: Any) -> dict[str, Any]:
    return {"ops": state.changes(update, {}, ())}


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"at": datetime(2026, 1, 1)}, "/answer/at"),  # DU-S1
        ({"lock": [threading.Lock()]}, "/answer/lock/0"),
        (Decimal("1.10"), "/answer"),
        ({"set": {1}}, "/answer/set"),  # DU-S2
        ((1, 2), "/answer"),
        (float("nan"), "/answer"),
        ({"a/b": {"~": object()}}, "/answer/a~1b/~0"),  # DU-S4
        (2**60, "/answer"),
        ({1: "one"}, "/answer"),
        ("half \ud800", "/answer"),
        ("nul \0", "/answer"),
    ],
)
def test_what_is_not_json_is_refused_with_its_path(value: Any, path: str) -> None:
    """DU-S1, DU-S2, DU-S3, DU-S4: refused when it is committed, never None or a dict when it is read."""
    with pytest.raises(NotState) as refusal:
        state.encode(body(answer=value))
    assert refusal.value.pointer == path and path in str(refusal.value)


def test_a_step_that_writes_too_much_is_refused() -> None:
    """DU-L47."""
    with pytest.raises(NotState, match="bytes"):
        state.encode(body(answer="x" * (state.MAX_BYTES + 1)))


def test_values_are_set_appended_to_and_deleted() -> None:
    held = state.fold({}, state.changes({"a": 1, "b": 2}, {"list": [1]}, ()))
    assert state.fold(held, state.changes({"a": 3}, {"list": [2, 3]}, ["b", "never there"])) == {
        "a": 3,
        "list": [1, 2, 3],
    }


def test_a_name_is_a_name_and_no_pointer() -> None:
    assert state.fold({}, state.changes({"a/b~c": 1}, {"": [1]}, ())) == {"a/b~c": 1, "": [1]}


def test_a_pointer_may_lead_inside() -> None:
    held = {"ticket": {"tags": ["new"]}}
    state.fold(held, [{"op": "append", "path": "/ticket/tags", "items": ["paid"]}])
    assert held == {"ticket": {"tags": ["new", "paid"]}}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "append", "path": "/text", "items": [1]},
        {"op": "set", "path": "/text/inside", "value": 1},
        {"op": "set", "path": "/missing/inside", "value": 1},
        {"op": "set", "path": "", "value": {}},
        {"op": "overwrite", "path": "/text", "value": 1},
    ],
)
def test_an_operation_that_does_not_fit_is_loud(operation: dict[str, Any]) -> None:
    """DU-L43, DU-S2: never a silent empty."""
    with pytest.raises(NotState):
        state.fold({"text": "here"}, [operation])


LOOKS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "[]": lambda own: own["list"],
    "get": lambda own: own.get("list"),
    "pop": lambda own: own.pop("list"),
    "popitem": lambda own: own.popitem()[1],
    "setdefault": lambda own: own.setdefault("list", []),
    "values": lambda own: next(iter(own.values())),
    "items": lambda own: next(iter(own.items()))[1],
    "copy": lambda own: own.copy()["list"],
    "dict": lambda own: dict(own)["list"],
    "**": lambda own: {**own}["list"],
    "|": lambda own: ({} | own)["list"],
    "update": lambda own: _updated(own)["list"],
    "deepcopy": lambda own: copy.deepcopy(own)["list"],
    "for": lambda own: [own[name] for name in own][0],  # noqa: RUF015
}


def _updated(own: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    made.update(own)
    return made


@pytest.mark.parametrize("look", LOOKS)
def test_whatever_an_agent_does_to_its_state_the_kept_one_stays(look: str) -> None:
    """DU-L26: also far inside, and however it got there."""
    kept = {"list": [{"n": 1}]}
    own = state.Own(kept)
    LOOKS[look](own)[0]["n"] = 2
    own["new"] = 1
    assert kept == {"list": [{"n": 1}]}


def test_an_agents_state_is_a_dict_with_what_it_changed() -> None:
    own = state.Own({"a": [1], "b": 2})
    own["a"].append(3)
    own["b"] = 4
    assert own == {"a": [1, 3], "b": 4} and json.dumps(own) == '{"a": [1, 3], "b": 4}' and own.get("c", 5) == 5
    assert own.pop("b") == 4 and own.pop("b", 6) == 6 and own.setdefault("d", 7) == 7 and list(own) == ["a", "d"]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(TEXTS, VALUES), max_size=8))
def test_the_fold_of_what_was_stored_is_the_state_itself(updates: list[tuple[str, Any]]) -> None:
    """DU-L41, DU-L42: a delta is data, and reading it back gives what was written."""
    direct: dict[str, Any] = {}
    stored: dict[str, Any] = {}
    for name, value in updates:
        direct[name] = value
        state.fold(stored, state.decode(state.encode(body(**{name: value})))["ops"])
    assert stored == direct
