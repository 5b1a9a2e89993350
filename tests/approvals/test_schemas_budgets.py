"""No schema and no value makes a validation long: it ends with an answer, or over its budget."""

from __future__ import annotations

import time
from typing import Any

import pytest

from approvals.schemas import validate
from tests.approvals.test_schemas_admission import DRAFT_7, chained, fields


def _doubling(levels: int) -> tuple[Any, Any]:
    value: Any = 5
    for _ in range(levels):
        value = {"x": value}
    return {"type": "object", "properties": {"x": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}}}, value


OBJECTS = [{"id": number, "name": str(number)} for number in range(3_000)]
COSTLY = [
    ("IN-E14", fields(a={"type": "array", "uniqueItems": True}), {"a": OBJECTS}, ""),
    ("IN-E15", fields(a={"type": "string", "pattern": "^(a+)+$"}), {"a": "a" * 1_000_000 + "!"}, "pattern"),
    ("IN-E16", fields(a={"type": "string", "pattern": "^(a+)+$"}), {"a": "a" * 32 + "!"}, "pattern"),
    ("IN-E16", fields(a=DRAFT_7 | {"pattern": "^(a+)+$"}), {"a": "a" * 32 + "!"}, "pattern"),
    (
        "IN-E16",
        fields() | {"patternProperties": {"^(a+)+$": {}}, "unevaluatedProperties": False},
        {"a" * 32 + "!": 1},
        "additionalProperties",
    ),
    ("IN-E16 JS-3", fields(a={"pattern": "(a|b)*a[ab]{900}c"}), {"a": "ab" * 400_000}, "budget"),
    ("IN-E17 JS-3", chained(17), {"x": 1}, "budget"),
    ("IN-E18 JS-3", {"$ref": "#"}, {}, "budget"),
    ("JS-3", *_doubling(60), "budget"),
    ("JS-3", fields(a={"items": {"enum": list(range(5_000))}}), {"a": [4_999] * 3_000}, "budget"),
    ("JS-3", fields(a={"items": {"enum": [[]] * 5_000}}), {"a": [[1]] * 3_000}, "budget"),
    ("IN-E13", {"type": "object", "properties": {"a": {"$ref": "#"}}}, _doubling(60)[1], ""),
]


LIMIT = 3
"""Seconds: a slow machine needs one for the costliest of these; the cheapest took 3.8 before there was a budget."""


@pytest.mark.parametrize(("ids", "schema", "value", "rule"), COSTLY)
def test_nothing_takes_long(ids: str, schema: Any, value: Any, rule: str) -> None:
    """JS-3: counted in processor time, which a busy machine does not change much."""
    begin = time.process_time()
    faults = validate(schema, value)
    assert time.process_time() - begin < LIMIT, ids
    assert [fault.rule for fault in faults[:1]] == ([rule] if rule else []), ids
