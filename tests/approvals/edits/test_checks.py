"""An edit is taken only where the rule and the schema let it in, with the fault at its field."""

from __future__ import annotations

from typing import Any

import pytest

from approvals.edits import check

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["amount"],
    "properties": {
        "amount": {"type": "integer", "minimum": 1},
        "note": {"type": ["string", "null"]},
        "id": {"type": "string", "readOnly": True},
        "kind": {"enum": [1, "one"]},
        "mode": {"oneOf": [{"type": "object", "required": ["a"]}, {"type": "object", "required": ["b"]}]},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "closed": {"type": "object", "properties": {"x": {"type": "integer"}}, "additionalProperties": False},
        "loose": {"type": "object", "properties": {"x": {"type": "integer"}}},
        "open": {"type": "object", "properties": {"x": {"type": "integer"}}, "additionalProperties": True},
        "bag": {"type": "object"},
        "lines": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "string", "readOnly": True}, "n": {"type": "integer"}},
            },
        },
    },
}
BASE: dict[str, Any] = {
    "amount": 5,
    "id": "x1",
    "loose": {"x": 1, "extra": True},
    "labels": {"a": "b"},
    "lines": [{"id": "l1", "n": 1}, {"id": "l2", "n": 2}],
}


def faults(change: dict[str, Any], editable: list[str] | None = None, without: str = "") -> list[tuple[str, str]]:
    edited = {name: value for name, value in {**BASE, **change}.items() if name != without}
    return [(fault.pointer, fault.rule) for fault in check(BASE, edited, SCHEMA, editable=editable)]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"amount": "5"}, [("/amount", "type")]),
        ({"amount": 0}, [("/amount", "minimum")]),
        ({"note": 1}, [("/note", "type")]),
        ({"kind": True}, [("/kind", "enum")]),
        ({"mode": {"a": 1, "b": 1}}, [("/mode", "oneOf")]),
        ({"labels": {"a": 1}}, [("/labels/a", "type")]),
        ({"tenant": "x"}, [("/tenant", "additionalProperties")]),
        ({"Amount": 5}, [("/Amount", "additionalProperties")]),
        ({"loose": {"x": 1, "extra": True, "force": True}}, [("/loose/force", "additionalProperties")]),
        ({"closed": {"x": 1, "y": 2}}, [("/closed/y", "additionalProperties")]),
        ({"bag": {"__proto__": 1}}, [("/bag/__proto__", "name")]),
        ({"labels": {"a": "b", "constructor": "c"}}, [("/labels/constructor", "name")]),
        ({"labels": {"a": "b", "am\u200bount": "c"}}, [("/labels/am\u200bount", "name")]),
        ({"open": {"prototype": 1}}, [("/open/prototype", "name")]),
        ({"id": "x2"}, [("/id", "readOnly")]),
        ({"lines": [{"id": "l1", "n": 1}, {"id": "l9", "n": 2}]}, [("/lines/1/id", "readOnly")]),
        ({"lines": [*BASE["lines"], {"id": "mine", "n": 3}]}, [("/lines/2/id", "readOnly")]),
    ],
)
def test_what_does_not_fit_is_refused_at_its_field(change: dict[str, Any], told: list[tuple[str, str]]) -> None:
    """JS-9 JS-10 IN-E7 IN-E9 IN-E12 IN-E27 IN-E43 IN-E45 IN-E48 AP-E2: nothing strange, nothing locked."""
    assert faults(change) == told


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"amount": 7},
        {"note": None},
        {"labels": {"a": "b", "new": "c"}},
        {"open": {"x": 1, "y": 2}},
        {"bag": {"any": {"thing": [1]}}},
        {"loose": {"x": 1}},
        {"loose": {"x": 1, "extra": False}},
        {"lines": [{"id": "l2", "n": 2}]},
        {"lines": [{"id": "l1", "n": 9}, {"id": "l2", "n": 2}]},
        {"lines": [*BASE["lines"], {"n": 3}]},
    ],
)
def test_what_fits_is_taken(change: dict[str, Any]) -> None:
    """JS-10 JS-12: an agent's extra may be changed or taken out, maps and open objects grow, entries may go."""
    assert faults(change) == []


def test_a_missing_field_is_told_where_it_is_missing() -> None:
    """AP-E2: the edit is refused and says which field."""
    assert faults({}, without="amount") == [("/amount", "required")]
    assert faults({}, without="id") == [("/id", "readOnly")]


@pytest.mark.parametrize(
    ("change", "editable", "told"),
    [
        ({"amount": 6}, ["/amount"], []),
        ({"amount": 6, "note": "x"}, ["/amount"], [("/note", "locked")]),
        ({"labels": {"a": "c"}}, ["/labels/a"], []),
        ({"labels": {"a": "b", "z": "c"}}, ["/labels/a"], [("/labels/z", "locked")]),
        ({"labels": {}}, ["/labels/a"], []),
        ({"lines": [{"id": "l1", "n": 9}, {"id": "l2", "n": 2}]}, ["/lines/0/n"], []),
        ({"lines": [{"id": "l1", "n": 1}]}, ["/lines/0/n"], [("/lines", "locked")]),
        ({"loose": {"x": 2}}, [], [("/loose/x", "locked"), ("/loose/extra", "locked")]),
    ],
)
def test_a_rule_opens_places_and_what_is_below_them(
    change: Any, editable: list[str], told: list[tuple[str, str]]
) -> None:
    """JS-9 IN-E48: everything else stays as proposed, and lists keep their entries."""
    assert faults(change, editable) == told


def test_the_message_never_repeats_a_secret() -> None:
    """JS-6: a password of the wrong kind is not echoed."""
    schema = {"type": "object", "properties": {"password": {"type": "string", "minLength": 12}}}
    found = check({"password": "x" * 12}, {"password": "hunter2"}, schema)
    assert found[0].pointer == "/password"
    assert "hunter2" not in found[0].message


def test_an_array_is_no_set_of_arguments() -> None:
    """IN-E54: refused at the top."""
    assert [fault.rule for fault in check(BASE, [BASE], SCHEMA)] == ["type"]
