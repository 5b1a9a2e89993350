"""A second validator (jsonschema-rs) gives the same answers, but for the differences that are meant."""

from __future__ import annotations

from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from approvals import schemas
from approvals.ledger import canonical
from approvals.schemas import budgets, metaschemas
from tests.approvals.ledger.test_reading import JSON

NAMES = st.sampled_from(["a", "b", "c", "a1"])
NUMBERS = st.integers(-5, 5) | st.sampled_from([0.5, 1.5, -2.25])
PLAIN = st.sampled_from([None, True, False, 0, 1, 1.5, "", "a", "ab", "a1", [], [1], {}, {"a": 1}])
COUNTS = st.integers(0, 3)


def _object(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=members)


def _schemas() -> st.SearchStrategy[Any]:
    flat = st.booleans() | _object(
        type=st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null", ["string", "null"]]),
        enum=st.lists(PLAIN, min_size=1, max_size=3, unique_by=repr),
        const=PLAIN,
        minimum=NUMBERS,
        exclusiveMaximum=NUMBERS,
        multipleOf=st.sampled_from([1, 2, 0.5]),
        minLength=COUNTS,
        maxLength=COUNTS,
        pattern=st.sampled_from(["^a", "b$", "^[a-z]+$", "[0-9]", "a|b"]),
        minItems=COUNTS,
        maxProperties=COUNTS,
        uniqueItems=st.booleans(),
        required=st.lists(NAMES, max_size=2, unique=True),
        dependentRequired=st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=2),
    )
    return st.recursive(flat, _deeper, max_leaves=6)


def _deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    return _object(
        properties=st.dictionaries(NAMES, inner, max_size=2),
        additionalProperties=inner,
        items=inner,
        prefixItems=several,
        contains=inner,
        patternProperties=st.dictionaries(st.just("^a"), inner),
        **{"propertyNames": inner, "allOf": several, "anyOf": several, "oneOf": several, "not": inner},
        **{"if": inner, "then": inner, "else": inner, "dependentSchemas": st.dictionaries(NAMES, inner, max_size=2)},
        unevaluatedProperties=inner,
        unevaluatedItems=inner,
    )


VALUES = st.recursive(
    PLAIN | NUMBERS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)
)


@settings(max_examples=150)
@given(_schemas(), VALUES)
def test_two_validators_agree(schema: Any, value: Any) -> None:
    """JS-1, CH-B139: our own readings of keywords change no answer on plain schemas of 2020-12."""
    whole = {"allOf": [schema]}
    faults = schemas.validate(whole, value)
    assert (faults == ()) == jsonschema_rs.Draft202012Validator(whole).is_valid(value), faults


def _of_draft_7(schema: Any) -> Any:
    """The schema in draft 7: its spellings of what 2020-12 calls otherwise, and without what it does not know."""
    if not isinstance(schema, dict):
        return [_of_draft_7(each) for each in schema] if isinstance(schema, list) else schema
    found = {name: value if name in ("enum", "const") else _of_draft_7(value) for name, value in schema.items()}
    if "prefixItems" in found:
        found |= {"additionalItems": found.get("items", True), "items": found.pop("prefixItems")}
    needed = found.pop("dependentRequired", {}) | found.pop("dependentSchemas", {})
    found.pop("unevaluatedItems", None)
    found.pop("unevaluatedProperties", None)
    return found | ({"dependencies": needed} if needed else {})


@settings(max_examples=150)
@given(_schemas(), VALUES)
def test_two_validators_agree_on_draft_7(schema: Any, value: Any) -> None:
    """JS-1, CH-B139, CH-B142: the draft that half of the published tools name."""
    whole = {"$schema": "http://json-schema.org/draft-07/schema#", "allOf": [_of_draft_7(schema)]}
    faults = schemas.validate(whole, value)
    assert (faults == ()) == jsonschema_rs.Draft7Validator(whole).is_valid(value), faults


@settings(max_examples=100)
@given(_schemas(), VALUES)
def test_every_schema_is_taken_in_or_refused_with_a_place(schema: Any, value: Any) -> None:
    """JS-1: admission never fails otherwise, and nothing admitted fails otherwise when it is used."""
    answer = _admitted({"type": "object", "allOf": [schema]})
    if isinstance(answer, schemas.Inadmissible):
        assert _has_a_place(answer)
    else:
        faults = schemas.validate(answer.definition["inputSchema"], value)
        assert all(fault.rule and fault.message for fault in faults)


@settings(max_examples=100)
@given(JSON)
def test_any_json_for_a_schema_is_an_answer(value: Any) -> None:
    """JS-1: whatever stands where a schema should, a tool comes of it or a refusal with its place."""
    answer = _admitted(value)
    assert _has_a_place(answer) if isinstance(answer, schemas.Inadmissible) else answer.digest


def _admitted(schema: Any) -> schemas.Admission | schemas.Inadmissible:
    try:
        return schemas.admit({"name": "x", "inputSchema": schema})
    except schemas.Inadmissible as refusal:
        return refusal


def _has_a_place(refusal: schemas.Inadmissible) -> bool:
    """Whether it says which rule is broken, and where, by a JSON pointer."""
    return bool(refusal.rule) and canonical.join(canonical.split(refusal.pointer)) == refusal.pointer


@pytest.mark.parametrize(
    ("schema", "value", "ours"),
    [
        ({"multipleOf": 0.01}, 19.99, True),
        ({"pattern": "^\\d$"}, "\u0661", False),
        ({"pattern": "^a$"}, "a\n", False),
        ({"format": "date"}, "2026-02-30", False),
    ],
)
def test_the_differences_are_meant(schema: Any, value: Any, ours: bool) -> None:
    """IN-E41, IN-E31, IN-E29, IN-E34."""
    assert (schemas.validate(schema, value) == ()) is ours


KEYWORDS = st.sampled_from(
    [
        "type",
        "enum",
        "minimum",
        "multipleOf",
        "maxLength",
        "pattern",
        "required",
        "properties",
        "items",
        "prefixItems",
        "anyOf",
        "not",
        "$ref",
        "$defs",
        "$anchor",
        "dependentRequired",
        "dependencies",
        "uniqueItems",
        "title",
        "examples",
        "if",
        "$id",
        "unevaluatedItems",
        "additionalProperties",
    ]
)
DRAFTS = [jsonschema.Draft202012Validator, jsonschema.Draft201909Validator, jsonschema.Draft7Validator]


@pytest.mark.parametrize("draft", DRAFTS)
@given(st.dictionaries(KEYWORDS, JSON | st.dictionaries(KEYWORDS, JSON, max_size=2), min_size=1, max_size=3))
def test_a_metaschema_in_one_piece_says_the_same(draft: Any, schema: dict[str, Any]) -> None:
    """JS-1: as the reference's own check, formats aside."""
    schema["$schema"] = draft.META_SCHEMA["$schema"]
    try:
        draft.check_schema(schema, format_checker=None)
    except jsonschema.SchemaError:
        sound = False
    else:
        sound = True
    with budgets.limited():
        assert (metaschemas.fault(schema) is None) is sound
