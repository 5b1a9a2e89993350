"""Taking in tools' definitions: little is refused, and nothing loose goes in silence."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest

from approvals import schemas
from approvals.ledger import canonical
from approvals.schemas import Inadmissible

DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}


def of(schema: Any, **more: Any) -> dict[str, Any]:
    return {"name": "mail.send", "inputSchema": schema, **more}


def fields(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def warned(schema: dict[str, Any]) -> list[tuple[str, str]]:
    """Where, below the input schema, and by which rule."""
    warnings = schemas.admit(of(schema)).warnings
    return [(warning.pointer.removeprefix("/inputSchema"), warning.rule) for warning in warnings]


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def chained(levels: int) -> dict[str, Any]:
    """IN-E17 without its bytes: each definition applies the one below it twice."""
    pairs = {f"a{i}": {"allOf": [{"$ref": f"#/$defs/a{i - 1}"}] * 2} for i in range(1, levels + 1)}
    return fields(x={"$ref": f"#/$defs/a{levels}"}) | {"$defs": {"a0": {"type": "integer"}} | pairs}


LOOP = {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}
REFUSED = [
    ("JS-1", {"type": "array"}, "/type", "root"),
    ("JS-1", True, "", "root"),
    ("JS-1", [], "", "root"),
    ("JS-1", None, "", "root"),
    ("JS-1", fields(a={"type": "integr"}), "/properties/a/type", "metaschema"),
    ("JS-1", fields(a={"minimum": "3"}), "/properties/a/minimum", "metaschema"),
    ("JS-1", {"type": "object", "required": "a"}, "/required", "metaschema"),
    ("JS-1", DRAFT_7 | {"type": "object", "properties": {"a": 1}}, "/properties/a", "metaschema"),
    ("JS-2", fields(a={"$ref": "http://127.0.0.1:9/s"}), "/properties/a/$ref", "reference"),
    ("JS-2", fields(a={"$ref": "http://json-schema.org/draft-07/schema#"}), "/properties/a/$ref", "reference"),
    ("JS-2 IN-E20", fields(a={"$ref": "file:///etc/passwd"}), "/properties/a/$ref", "reference"),
    ("JS-2 IN-E21", fields(a={"$ref": "b.json"}) | {"$id": "http://127.0.0.1:9/a"}, "/properties/a/$ref", "reference"),
    (
        "IN-E21",
        fields(a={"$id": "http://b.example/", "$ref": "#/$defs/c"}) | {"$defs": {"c": {}}},
        "/properties/a/$ref",
        "reference",
    ),
    ("JS-1", fields(a={"$ref": "#/$defs/none"}), "/properties/a/$ref", "reference"),
    ("JS-1", fields(a={"$ref": "#/properties/a/enum"}) | {"x": 1}, "/properties/a/$ref", "reference"),
    ("IN-E18", {"$ref": "#"}, "", "loop"),
    ("IN-E18", fields(a={"$ref": "#/properties/a"}), "/properties/a", "loop"),
    ("IN-E18", fields(a={"$ref": "#/$defs/a"}) | {"$defs": LOOP}, "/$defs/a", "loop"),
    ("IN-E17 JS-3", chained(17), "/$defs/a9", "budget"),
    ("JS-1", fields(a={"description": "x" * 131_072}), "", "bytes"),
    ("IN-E13", nested(16), "/properties/a" * 16, "depth"),
    ("IN-E13", nested(500), "/properties/a" * 16, "depth"),
    ("BD-9", fields(a={"maximum": 2**63}), "/properties/a/maximum", "number"),
    ("JS-14", fields(a={"description": "\0"}), "/properties/a/description", "nul"),
]


@pytest.mark.parametrize(("ids", "schema", "pointer", "rule"), REFUSED)
def test_what_cannot_be_followed_is_refused_at_its_place(ids: str, schema: Any, pointer: str, rule: str) -> None:
    begin = time.process_time()
    with pytest.raises(Inadmissible) as refusal:
        schemas.admit(of(schema))
    assert (refusal.value.pointer, refusal.value.rule) == (f"/inputSchema{pointer}", rule), ids
    assert time.process_time() - begin < 1


@pytest.mark.parametrize(
    ("definition", "pointer"),
    [
        ({"inputSchema": fields()}, "/name"),
        (of(fields()) | {"name": ""}, "/name"),
        (of(fields()) | {"name": 7}, "/name"),
        (of(fields(), title=["a"]), "/title"),
        (of(fields(), description="\u00e9" * 8_193), "/description"),
        (of(fields(), annotations=[]), "/annotations"),
        (of(fields(), outputSchema={"type": "string"}), "/outputSchema/type"),
        ([], ""),
    ],
)
def test_a_definition_has_a_name_and_members_of_the_right_kind(definition: Any, pointer: str) -> None:
    """JS-1: text limits are bytes of UTF-8."""
    with pytest.raises(Inadmissible) as refusal:
        schemas.admit(definition)
    assert refusal.value.pointer == pointer


REFERS = {"$ref": "#/definitions/a", "minimum": 3}
LOOSE = [
    ("IN-E22", fields() | {"$schema": "https://example.com/mine"}, "/$schema", "dialect"),
    ("IN-E22", fields(a=DRAFT_7 | {"type": "string"}), "/properties/a/$schema", "dialect"),
    (
        "IN-E23",
        DRAFT_7 | fields(a=REFERS) | {"definitions": {"a": {"type": "integer"}}},
        "/properties/a/$ref",
        "sibling",
    ),
    ("IN-E24", DRAFT_7 | fields() | {"unevaluatedProperties": False}, "/unevaluatedProperties", "keyword"),
    ("IN-E26", fields(a={"properties": {"b": {"type": "string"}}}), "/properties/a", "untyped"),
    ("IN-E27", {"type": "object"}, "", "open"),
    ("IN-E28", fields() | {"patternProperties": {"evil": {}}}, "/patternProperties/evil", "anchor"),
    ("JS-1", fields() | {"patternProperties": {"^(?!a)$": {}}}, "/patternProperties/^(?!a)$", "pattern"),
    ("JS-1", fields(a={"type": "string", "pattern": "^(?!a)b"}), "/properties/a/pattern", "pattern"),
    ("JS-1", fields(a={"type": "string", "pattern": "(a{900}){9}"}), "/properties/a/pattern", "pattern"),
    ("JS-4", fields(a={"type": "integer", "format": "int32"}), "/properties/a/format", "format"),
    ("JS-1", fields(a={"type": "string", "nullable": True}), "/properties/a/nullable", "keyword"),
    ("JS-11", fields(a={"type": "string", "default": None}), "/properties/a/default", "default"),
    ("IN-E56", fields(a={"type": "string", "contentEncoding": "base32"}), "/properties/a/contentEncoding", "content"),
    ("JS-1", {"additionalProperties": False}, "", "root"),
    ("JS-1", fields(**{"a/b": {"type": "string", "x~y": 1}}), "/properties/a~1b/x~0y", "keyword"),
]


@pytest.mark.parametrize(("ids", "schema", "pointer", "rule"), LOOSE)
def test_what_is_loose_is_admitted_with_a_warning(ids: str, schema: Any, pointer: str, rule: str) -> None:
    assert (pointer, rule) in warned(schema), ids


def test_what_is_strict_is_admitted_without_a_word() -> None:
    """JS-1: an argument may be called like a keyword, and a schema may hold itself."""
    names = {name: {"type": "string"} for name in ("properties", "type", "items", "$ref", "$schema", "default", "enum")}
    tree = {"children": {"type": "array", "items": {"$ref": "#"}}, "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}
    assert warned(fields(**names, **tree)) == []


def test_many_warnings_of_a_kind_are_counted() -> None:
    found = schemas.admit(of(fields(**{f"f{i}": {"format": "int32", "type": "integer"} for i in range(133)}))).warnings
    assert len(found) == 20
    assert found[-1].text.endswith("The same at 113 more places.")


def test_a_warning_says_whether_something_is_not_checked_at_all() -> None:
    found = schemas.admit(of({"type": "object", "nullable": True})).warnings
    assert {warning.rule: warning.unchecked for warning in found} == {"keyword": True, "open": False}


def test_an_admitted_definition_is_what_was_hashed() -> None:
    """BD-1, BD-11: what is no part of a tool is left out with a note; the digest is that of the canonical bytes."""
    tool = of(
        fields(a={"type": "number", "maximum": 42.0}), title="Send", _meta={"x": 1}, annotations={"readOnlyHint": True}
    )
    admission = schemas.admit(tool)
    assert set(admission.definition) == {"name", "title", "inputSchema", "annotations"}
    assert admission.digest == canonical.sha256_hex(canonical.encode(admission.definition))
    assert [(warning.pointer, warning.rule) for warning in admission.warnings] == [("/_meta", "member")]
    assert schemas.admit(admission.definition).digest == admission.digest


def test_any_change_of_a_definition_changes_its_digest() -> None:
    """BD-1: what people approved against is told apart from what came later."""
    tools = [
        of(fields()),
        of(fields(), description="a"),
        of(fields(a={})),
        of(fields(), annotations={}),
        of(fields()) | {"name": "x"},
    ]
    assert len({schemas.admit(tool).digest for tool in tools}) == len(tools)


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """JS-2, CH-B142: a listener that a schema names hears nothing, at admission and at validation."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        schema = fields(a={"$ref": f"http://127.0.0.1:{listener.getsockname()[1]}/schema.json"})
        with pytest.raises(Inadmissible):
            schemas.admit(of(schema))
        (fault,) = schemas.validate(schema, {"a": 1})
        with pytest.raises(TimeoutError):
            listener.accept()
    assert (fault.pointer, fault.rule) == ("", "schema")


@pytest.mark.parametrize(
    "dialect", ["http://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema#"]
)
def test_a_dialect_is_known_in_either_spelling(dialect: str) -> None:
    assert warned(fields() | {"$schema": dialect}) == []
