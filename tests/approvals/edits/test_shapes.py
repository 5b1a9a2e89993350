"""A schema node taken apart, bounded whatever the schema does, and matched with the value that stands there."""

from __future__ import annotations

import time
from typing import Any

import pytest

from approvals.edits import Tool, fields, shapes
from approvals.edits.fitting import fit
from approvals.edits.limits import words
from approvals.edits.lines import line_of, positions
from approvals.edits.unfolding import alternatives


def kinds(schema: dict[str, Any], node: dict[str, Any] | None = None) -> list[str]:
    return [shapes.kind(flat) for flat in alternatives(schema, schema if node is None else node)]


@pytest.mark.parametrize(
    ("node", "told"),
    [
        ({"type": "string"}, ["text"]),
        ({"type": ["string", "null"]}, ["text", "null"]),
        ({"type": ["boolean", "null"]}, ["enum"]),
        ({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}, ["enum"]),
        ({"anyOf": [{"const": 1}, {"const": -1}, {"const": "text"}]}, ["enum"]),
        ({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}, ["text", "list"]),
        (
            {"oneOf": [{"anyOf": [{"type": "string"}, {"type": "number"}]}, {"type": "null"}]},
            ["text", "number", "null"],
        ),
        ({"allOf": [{"type": "integer"}, {"type": "number", "minimum": 1}]}, ["number"]),
        ({"properties": {"a": {}}}, ["object"]),
        ({"type": "object"}, ["raw"]),
        ({"type": "object", "additionalProperties": {}}, ["raw"]),
        ({"type": "object", "additionalProperties": {"type": "string"}}, ["object"]),
        ({"type": "array"}, ["raw"]),
        ({"type": "array", "prefixItems": [{"type": "string"}]}, ["list"]),
        ({}, ["raw"]),
        ({"type": "string", "nullable": True}, ["text"]),
    ],
)
def test_a_node_says_what_may_stand_there(node: dict[str, Any], told: list[str]) -> None:
    """JS-8: types as declared; OpenAPI's nullable is no JSON Schema."""
    assert kinds(node) == told


def test_references_are_followed_with_their_siblings() -> None:
    """IN-E23: in 2020-12 both count, in draft 7 only the reference."""
    root = {"$defs": {"n": {"type": "integer", "title": "N"}}, "$ref": "#/$defs/n", "minimum": 3}
    assert alternatives(root, root)[0]["minimum"] == 3
    assert "minimum" not in alternatives({**root, "$schema": "http://json-schema.org/draft-07/schema#"}, root)[0]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/nowhere"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "#/~2"},
        {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"anyOf": [{"const": [n]} for n in range(5000)], "$defs": {}},
        {"type": 7, "properties": [], "required": "x", "items": 5},
        True,
    ],
)
def test_no_schema_unfolds_without_end(schema: Any) -> None:
    """IN-E17 IN-E18 IN-E20: what cannot be said in a few words is edited as JSON."""
    began = time.process_time()
    found = alternatives(schema if isinstance(schema, dict) else {}, schema)
    assert found
    assert time.process_time() - began < 1


def test_nested_choices_stop_at_a_number() -> None:
    """IN-E17: seventeen levels of pairs are 131,072 alternatives."""
    node: dict[str, Any] = {"type": "string"}
    for _ in range(17):
        node = {"anyOf": [node, {**node, "title": "other"}]}
    assert kinds(node) == ["raw"]


def test_a_value_picks_the_alternative_it_names_most_of() -> None:
    """AP-E1: by type, fixed values, required and known members."""
    user = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}
    team = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}, "slug": {"type": "string"}}}
    choices = alternatives({}, {"anyOf": [user, team, {"type": "null"}]})
    assert fit(Tool({}).choices, choices, {"id": 1, "slug": "x"}) == 1
    assert fit(Tool({}).choices, choices, {"id": 1}) == 0
    assert fit(Tool({}).choices, choices, None) == 2
    assert fit(Tool({}).choices, choices, {"slug": "x"}) is None
    assert fit(Tool({}).choices, alternatives({}, {"enum": [1, "1", True]}), 2) is None


def test_a_deep_or_wide_value_is_drawn_as_json() -> None:
    """IN-E13: a form a person could not fill in falls back to text."""
    tree: dict[str, Any] = {
        "type": "object",
        "properties": {"t": {"$ref": "#"}, "l": {"type": "array", "items": {"type": "integer"}}},
    }
    deep: dict[str, Any] = {}
    for _ in range(30):
        deep = {"t": deep}
    controls = {
        one.pointer.count("/"): one.control for one in fields(Tool(tree), deep).root.walk() if one.control != "absent"
    }
    assert controls[8] == "object"
    assert controls[9] == "raw"
    wide = fields(Tool(tree), {"l": list(range(5000))})
    assert [one.control for one in wide.root.walk() if one.pointer == "/l"] == ["raw"]


@pytest.mark.parametrize(
    ("node", "told"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 10080}, "1 to 10,080."),
        ({"type": "number", "exclusiveMinimum": 0}, "More than 0."),
        ({"type": "number", "maximum": 5, "multipleOf": 0.5}, "At most 5. A multiple of 0.5."),
        ({"type": "string", "maxLength": 4000}, "At most 4,000 characters."),
        ({"type": "string", "format": "date"}, "A date, such as 2026-12-04."),
        ({"type": "string", "format": "cidrv4", "minLength": 1}, "Format: cidrv4."),
        ({"type": "string", "pattern": "^[A-Z]+$"}, "Pattern: ^[A-Z]+$."),
        ({"type": "string", "minLength": "7", "maximum": True}, ""),
        ({"type": "boolean"}, ""),
    ],
)
def test_limits_are_told_in_words(node: dict[str, Any], told: str) -> None:
    """IN-E55: characters are code points; a limit that is no number is not told."""
    assert words(node) == told


def test_limits_of_an_amount_are_told_in_its_currency() -> None:
    """AP-X9: as the field itself shows it."""
    assert words({"type": "integer", "minimum": 1, "maximum": 186_000}, "EUR") == "€0.01 to €1,860.00."
    assert words({"type": "integer", "maximum": 5000}, "JPY") == "At most ¥5,000."


def test_the_line_of_a_pointer() -> None:
    """AP-E2: of the value, or of the nearest thing around it."""
    text = '{\n "a": [\n  1,\n  {"b\\n": 2}\n ],\n "c": "}"\n}'
    assert [line_of(text, pointer) for pointer in ("", "/a/0", "/a/1/b\n", "/a/7/x", "/c")] == [1, 3, 4, 2, 6]
    assert positions('{"a": [1, ') == {"": 0, "/a": 1, "/a/0": 7}
