"""Arguments against a schema: every fault at its field, in words, within a budget, and never with a secret in it."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import schemas
from approvals.ledger.canonical import Unrepresentable
from approvals.schemas import Fault, read_arguments, validate
from tests.approvals.test_schemas_admission import DRAFT_7, fields

ITEM = {
    "type": "object",
    "required": ["id"],
    "properties": {"id": {"type": "string"}, "count": {"type": "integer", "minimum": 1}},
}
CHOICE = {"anyOf": [{"type": "string", "enum": ["open", "closed"]}, {"type": "null"}]}
SHAPES = {
    "oneOf": [
        {
            "type": "object",
            "required": ["kind", "radius"],
            "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}},
        },
        {
            "type": "object",
            "required": ["kind", "side"],
            "properties": {"kind": {"const": "square"}, "side": {"type": "number"}},
        },
    ]
}
NEAR = fields(items={"type": "array", "items": ITEM, "uniqueItems": True, "maxItems": 3}, status=CHOICE, shape=SHAPES)

# (fault ids, schema, value, [(pointer, rule)])
FAULTS = [
    ("JS-8 CH-B141", fields(a={"type": "integer"}), {"a": "10"}, [("/a", "type")]),
    ("JS-8", fields(a={"type": "string"}), {"a": 10}, [("/a", "type")]),
    ("JS-8", fields(a={"type": "boolean"}), {"a": 1}, [("/a", "type")]),
    ("JS-8", fields(a={"type": "integer"}), {"a": True}, [("/a", "type")]),
    ("JS-8", fields(a={"type": "string"}), {"a": None}, [("/a", "type")]),
    ("JS-8", fields(a={"type": "integer"}), {"a": 49.5}, [("/a", "type")]),
    ("IN-E7", fields(a={}), {"a": 1, "A": 1}, [("/A", "additionalProperties")]),
    ("IN-E9", fields(amount={}), {"am\u200bount": 1}, [("/am\u200bount", "additionalProperties")]),
    (
        "IN-E12",
        fields(a={}),
        {"__proto__": {}, "constructor": 1},
        [("/__proto__", "additionalProperties"), ("/constructor", "additionalProperties")],
    ),
    ("IN-E29", fields(a={"pattern": "^[a-z]+$"}), {"a": "abc\n"}, [("/a", "pattern")]),
    ("IN-E31", fields(a={"pattern": "^\\d+$"}), {"a": "\u0661\u0662"}, [("/a", "pattern")]),
    ("JS-1", fields(a={"pattern": "^\\u0041\\uD83D\\uDE00$"}), {"a": "A\U0001f601"}, [("/a", "pattern")]),
    ("IN-E33 JS-4", fields(a={"format": "email"}), {"a": "a@b\nBcc: x@y"}, [("/a", "format")]),
    ("IN-E34 JS-4", fields(a={"format": "date-time"}), {"a": "2026-02-30T25:00"}, [("/a", "format")]),
    ("IN-E35", fields(a={"format": "uri"}), {"a": "javascript:alert(1)"}, [("/a", "format")]),
    ("IN-E43", fields(a={"enum": [1, "1", None]}), {"a": True}, [("/a", "enum")]),
    ("IN-E43", fields(a={"const": {"b": [1]}}), {"a": {"b": [True]}}, [("/a", "const")]),
    ("IN-E54", fields(), [], [("", "type")]),
    ("IN-E55", fields(a={"maxLength": 10}), {"a": "\U0001f469\u200d\U0001f680" * 10}, [("/a", "maxLength")]),
    ("IN-E56", fields(a={"contentEncoding": "base64"}), {"a": "not base64!"}, [("/a", "contentEncoding")]),
    ("JS-6", fields(a={}) | {"required": ["a", "b/c"]}, {}, [("/a", "required"), ("/b~1c", "required")]),
    (
        "JS-6",
        NEAR,
        {"items": [{"id": "x"}, {"count": 0}]},
        [("/items/1/id", "required"), ("/items/1/count", "minimum")],
    ),
    ("JS-6", NEAR, {"items": [{"id": "x"}, {"id": "x"}]}, [("/items", "uniqueItems")]),
    ("JS-6", NEAR, {"status": "lost"}, [("/status", "enum")]),
    ("JS-6", NEAR, {"status": 3}, [("/status", "anyOf")]),
    ("JS-6", NEAR, {"shape": {"kind": "square", "side": "2"}}, [("/shape/side", "type")]),
    ("JS-6", NEAR, {"shape": {"kind": "square"}}, [("/shape/side", "required")]),
    ("JS-6", NEAR, {"shape": {"kind": "line"}}, [("/shape", "oneOf")]),
    ("IN-E45", fields(a={"oneOf": [{"type": "integer"}, {"minimum": 2}]}), {"a": 3}, [("/a", "oneOf")]),
    (
        "JS-6",
        fields(a={"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}}),
        {"a": {"B": 1}},
        [("/a/B", "propertyNames")],
    ),
    ("JS-6", fields(a={}, b={}) | {"dependentRequired": {"a": ["b"]}}, {"a": 1}, [("/b", "dependentRequired")]),
    ("JS-6", DRAFT_7 | fields(a={}, b={}) | {"dependencies": {"a": ["b"]}}, {"a": 1}, [("/b", "dependencies")]),
    (
        "JS-6",
        {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
        {"a": 1, "b": 2},
        [("/b", "unevaluatedProperties")],
    ),
    ("JS-6", fields(a=False), {"a": 1}, [("/a", "false")]),
    ("JS-6", fields(a={"not": {"type": "null"}}), {"a": None}, [("/a", "not")]),
    ("JS-6", fields(a={"if": {"minimum": 5}, "then": {"multipleOf": 5}}), {"a": 6}, [("/a", "multipleOf")]),
    (
        "JS-6",
        DRAFT_7 | fields(a={"items": [{"type": "integer"}], "additionalItems": False}),
        {"a": [1, 2]},
        [("/a", "additionalItems")],
    ),
]


@pytest.mark.parametrize(("ids", "schema", "value", "expected"), FAULTS)
def test_a_fault_is_at_its_field(ids: str, schema: Any, value: Any, expected: list[tuple[str, str]]) -> None:
    assert [(fault.pointer, fault.rule) for fault in validate(schema, value)] == expected, ids


VALID = [
    ("IN-E41", fields(a={"multipleOf": 0.01}), {"a": 19.99}),
    ("IN-E41", fields(a={"multipleOf": 1e-300}), {"a": 1e300}),
    ("IN-E43", fields(a={"enum": [1.0]}), {"a": 1}),
    ("IN-E44", fields(a={"uniqueItems": True}), {"a": [1, True, "1", [1], [True]]}),
    ("IN-E8", {"properties": {"\u00e9": {}, "e\u0301": {}}}, {"\u00e9": 1, "e\u0301": 2}),
    ("IN-E62", fields(a={"type": "string"}), {"a": "${SECRET} {{x}} %(y)s"}),
    ("IN-E63", fields(a={"type": "string"}), {"a": '=HYPERLINK("http://x.example")'}),
    ("IN-E26", fields(a={"properties": {"b": {"type": "string"}}}), {"a": ["no object"]}),
    (
        "IN-E23",
        DRAFT_7 | fields(a={"$ref": "#/definitions/n", "minimum": 3}) | {"definitions": {"n": {"type": "integer"}}},
        {"a": 1},
    ),
    ("JS-11", fields(a={"type": "string", "default": "x"}), {}),
    ("JS-1", fields(a={"pattern": "^(?!a)"}), {"a": "a"}),
    ("JS-4", fields(a={"format": "int32"}), {"a": "text"}),
    ("JS-1", fields(a={"type": "integer"}), {"a": 42.0}),
    ("JS-1", {"patternProperties": {"^x-": {}}, "additionalProperties": False}, {"x-a": 1}),
    ("JS-1", {"type": "object", "properties": {"next": {"$ref": "#"}}}, {"next": {"next": {"next": {}}}}),
]


@pytest.mark.parametrize(("ids", "schema", "value"), VALID)
def test_what_is_right_passes(ids: str, schema: Any, value: Any) -> None:
    """And nothing is filled in."""
    before = repr(value)
    assert validate(schema, value) == (), ids
    assert repr(value) == before


FORMATS = [
    ("date", ["2026-11-30", "2028-02-29"], ["2026-02-29", "2026-1-1", "20261130", "2026-11-30\n", "\u0662026-11-30"]),
    (
        "time",
        ["09:30:00Z", "23:59:60Z", "09:30:00.5+01:00"],
        ["09:30", "24:00:00Z", "09:30:00", "12:00:60Z", "09:30:00+24:00"],
    ),
    (
        "date-time",
        ["2026-11-30T09:30:00Z", "2026-11-30t09:30:00-08:00"],
        ["2026-11-30 09:30:00Z", "2026-11-30T09:30:00", "2026-13-01T00:00:00Z"],
    ),
    ("duration", ["P3D", "PT30M", "P1Y2M3DT4H"], ["P", "PT", "3D", "P1M2Y", "PT1.5S "]),
    (
        "email",
        ["a.b+c@example.com", "x@localhost"],
        ["a@", "@b", "a b@c.d", "a@b@c", "a..b@c.d", "a@-b.c", "\u00e9@b.c", "a@b.c "],
    ),
    ("hostname", ["example.com", "a-b.c"], ["-a.b", "a_b.c", "a" * 64 + ".b", "a.b.", "", "\u00e9.b"]),
    ("ipv4", ["192.0.2.10"], ["192.0.2.256", "192.0.2", "192.0.2.01", "\u0661.0.2.1"]),
    ("ipv6", ["2001:db8::1", "::ffff:192.0.2.1"], ["2001:db8", "fe80::1%eth0", ":::"]),
    ("cidrv4", ["192.0.2.0/24", "192.0.2.7/32"], ["192.0.2.0", "192.0.2.0/33"]),
    ("cidrv6", ["2001:db8::/32"], ["2001:db8::/129"]),
    (
        "uri",
        ["https://example.com/a?b#c", "urn:isbn:1", "mailto:a@b.c"],
        ["/a", "https://exa mple", "a", "http://x/%zz", "JavaScript:x", "http://\u00e9/"],
    ),
    ("uri-reference", ["/a/b", "#c", "https://x.example"], ["\\a", "a b", "##", "javascript:x"]),
    ("iri", ["https://\u00e9.example/"], ["\u00e9", "https://x/\u202e"]),
    (
        "uuid",
        ["123e4567-e89b-12d3-a456-426614174000"],
        ["123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g"],
    ),
    ("json-pointer", ["", "/a~1b/0"], ["a", "/~2"]),
]


@pytest.mark.parametrize(("name", "right", "wrong"), FORMATS)
def test_a_format_is_asserted_strictly(name: str, right: list[str], wrong: list[str]) -> None:
    """JS-4, IN-E33, IN-E34: by our own checks, with ASCII digits and a true end."""
    schema = fields(a={"format": name})
    assert [text for text in right if validate(schema, {"a": text})] == []
    assert [text for text in wrong if not validate(schema, {"a": text})] == []
    assert validate(schema, {"a": 5}) == ()


def test_faults_are_told_up_to_a_number() -> None:
    faults = validate(fields(a={"items": {"type": "integer"}}), {"a": ["x"] * 1_000})
    assert len(faults) == 50


MESSAGES = [
    ({"type": "integer"}, 49.5, "Must be a whole number; 49.5 is not."),
    ({"type": ["string", "null"]}, 4, "Must be text or null; 4 is not."),
    ({"enum": ["eur", "usd", 3]}, "gbp", 'Must be "eur", "usd" or 3; "gbp" is not.'),
    ({"maximum": 10_000}, 10_001, "Must be at most 10000; 10001 is not."),
    ({"maxLength": 3}, "abcd", "Must have at most 3 characters (code points)."),
    ({"format": "date"}, "soon", 'Must be a date such as 2026-11-30; "soon" is not.'),
    ({"const": "a"}, "b\u202e\n", 'Must be "a"; "b\\u202e\\n" is not.'),
    ({"type": "object"}, [1, 2], "Must be an object."),
    ({"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]}, 3, "Must be text or null."),
    ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, 3, "Has more than one of the forms of which it must have one."),
    ({"enum": list(range(15))}, 99, "Must be 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 or one of 3 more; 99 is not."),
]


@pytest.mark.parametrize(("schema", "value", "message"), MESSAGES)
def test_a_message_says_what_is_wrong_and_what_would_be_right(schema: Any, value: Any, message: str) -> None:
    """IN-E55: lengths are in code points, and the message says so."""
    assert validate(fields(a=schema), {"a": value}) == (Fault("/a", next(iter(schema)), message),)


def test_a_hidden_character_in_a_name_is_shown() -> None:
    """IN-E9."""
    (fault,) = validate(fields(amount={}), {"am\u200bount": 1})
    assert fault.message == 'There is no field called "am\\u200bount" here.'


SECRET = "hunter2"
SECRETS = [
    fields(a={"type": "integer", "writeOnly": True}),
    fields(a={"type": "integer", "x-secret": True}),
    fields(a={"format": "password", "pattern": "^x"}),
    fields(a={"writeOnly": True, "anyOf": [{"type": "integer"}, {"const": "x"}]}),
    fields(a={"$ref": "#/$defs/s"}) | {"$defs": {"s": {"writeOnly": True, "enum": ["x"]}}},
    fields(password={"type": "integer"}),
    fields(api_key={"type": "integer"}),
    fields(a={"x-secret": True, "properties": {"b": {"type": "integer"}}}),
]


BRANCH = fields(a={"enum": ["x"]})
HIDDEN = fields(a={"x-secret": True})
BRANCHES: list[dict[str, Any]] = [
    HIDDEN | {"if": {"properties": {"b": False}}, "then": BRANCH},
    {"allOf": [BRANCH, {"if": {"required": ["z"]}, "then": HIDDEN}]},
    fields(a={"type": "array", "x-secret": True}) | {"allOf": [fields(a={"items": {"enum": ["x"]}})]},
    {"anyOf": [{"$ref": "#/$defs/s", "required": ["z"]}, BRANCH], "$defs": {"s": HIDDEN}},
    {"patternProperties": {"^a": {"writeOnly": True}}, "dependentSchemas": {"a": BRANCH}},
]


@pytest.mark.parametrize("schema", BRANCHES)
def test_a_message_repeats_no_secret_of_another_branch(schema: Any) -> None:
    """JS-6: whoever edits what decides on the branch has not seen the value."""
    faults = [fault for value in (SECRET, [SECRET]) for fault in validate(schema, {"a": value})]
    assert faults
    assert SECRET not in repr(faults)


@pytest.mark.parametrize("schema", SECRETS)
def test_a_message_never_repeats_a_secret(schema: Any) -> None:
    """JS-6: marked by the schema on any level above, or by its name."""
    name = next(iter(schema["properties"]))
    value = {"b": SECRET} if "properties" in schema["properties"][name] else SECRET
    faults = validate(schema, {name: value})
    assert faults
    assert SECRET not in repr(faults)


@pytest.mark.parametrize("text", ["[]", '"{}"', "null", "1", ""])
def test_arguments_are_an_object(text: str) -> None:
    """IN-E54, JS-14."""
    with pytest.raises(Unrepresentable):
        read_arguments(text)


def test_arguments_are_read_strictly() -> None:
    """JS-5, BD-10."""
    assert read_arguments(b'{"amount": 42.0}') == {"amount": 42}
    for text in ('{"a": NaN}', '{"a": 1, "a": 1}', '{"a": "\\ud800"}', '{"a": 9007199254740993}'):
        with pytest.raises(Unrepresentable):
            read_arguments(text)


def test_a_pattern_that_is_not_checked_can_be_told() -> None:
    assert schemas.runs_pattern("^[a-z]+$")
    assert not schemas.runs_pattern("^(?!a)")
