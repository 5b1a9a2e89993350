"""What is loose in a schema and admitted all the same: each place gets a sentence that its approvers can read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from referencing.exceptions import Unresolvable

from approvals.ledger import canonical
from approvals.schemas import formats, patterns
from approvals.schemas.dialects import ANNOTATIONS, DIALECTS, NEWEST, REF_STANDS_ALONE, uri_of

_UNCHECKED = frozenset({"content", "dialect", "format", "keyword", "pattern", "sibling"})
_SAY_TYPE = frozenset(
    {"type", "const", "enum", "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not"}
)
_OF_ONE_TYPE = frozenset(
    {"properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties"}
    | {"maxProperties", "items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "pattern", "format"}
    | {"minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
)
_SPEAKS_OF_ITSELF = frozenset(
    {"$ref", "$comment", "$defs", "definitions", "title", "description", "examples", "default"}
)


@dataclass(frozen=True)
class Warning_:
    """Something loose that was admitted: where (JSON pointer into the definition), a sentence, and the rule."""

    pointer: str
    text: str
    rule: str = ""

    @property
    def unchecked(self) -> bool:
        """Whether a part of the schema is not checked at all, rather than checked and lenient."""
        return self.rule in _UNCHECKED


def says_type(schema: dict[str, Any]) -> bool:
    return bool(_SAY_TYPE & schema.keys())


def of_root(schema: dict[str, Any], pointer: str) -> list[Warning_]:
    """What is loose about a whole schema."""
    found = []
    if uri_of(schema) is None:
        text = "This dialect of JSON Schema is not known here: the schema is read as 2020-12."
        found.append(Warning_(f"{pointer}/$schema", text, "dialect"))
    if not says_type(schema):
        found.append(Warning_(pointer, "The schema does not say that it is about an object: it is read so.", "root"))
    closing = {"additionalProperties", "unevaluatedProperties"} & set(DIALECTS[uri_of(schema) or NEWEST].VALIDATORS)
    if not (closing | {"$ref", "allOf"}) & schema.keys():
        text = "The schema does not say whether other fields may be given: those that an agent gives are shown."
        found.append(Warning_(pointer, text, "open"))
    return found


def of(schema: dict[str, Any], pointer: str, validator: Any, uri: str, *, typed: bool) -> Iterator[Warning_]:
    """What is loose about one schema by itself."""
    yield from _keywords(schema, pointer, validator, uri)
    yield from _values(schema, pointer)
    yield from _patterned(schema, pointer)
    if not typed and not says_type(schema) and _OF_ONE_TYPE & schema.keys():
        yield Warning_(pointer, "No type is given: a value of another kind passes.", "untyped")
    if "default" in schema and not _fits(validator, schema["default"]):
        text = "The default does not fit its own field: it is never filled in."
        yield Warning_(f"{pointer}/default", text, "default")


def _keywords(schema: dict[str, Any], pointer: str, validator: Any, uri: str) -> Iterator[Warning_]:
    for name in schema:
        if name not in validator.VALIDATORS and name not in ANNOTATIONS and not (name == "id" and "draft-04" in uri):
            yield _at(
                pointer, name, f"The keyword {canonical.plain(name)} is not known here and checks nothing.", "keyword"
            )
        elif name == "$ref" and uri in REF_STANDS_ALONE and schema.keys() - _SPEAKS_OF_ITSELF:
            yield _at(pointer, name, "In this draft what stands beside $ref is ignored.", "sibling")
        elif name == "$schema" and schema[name] != "" and uri_of(schema) not in (uri, None):
            yield _at(pointer, name, "A schema inside is read in the dialect of the whole.", "dialect")


def _values(schema: dict[str, Any], pointer: str) -> Iterator[Warning_]:
    name = schema.get("format")
    if isinstance(name, str) and name not in formats.CHECKS and name not in formats.NO_CHECK_NEEDED:
        yield _at(pointer, "format", f"The format {canonical.plain(name)} is not checked here.", "format")
    if isinstance(schema.get("pattern"), str) and not patterns.runs(schema["pattern"]):
        yield _at(
            pointer, "pattern", "This pattern is not checked here: only the value as proposed may stand.", "pattern"
        )
    if schema.get("contentEncoding", "base64") != "base64":
        yield _at(pointer, "contentEncoding", "This encoding is not checked here.", "content")
    if "contentMediaType" in schema or "contentSchema" in schema:
        name = "contentSchema" if "contentSchema" in schema else "contentMediaType"
        yield _at(pointer, name, "What is inside the text is not checked here.", "content")


def _patterned(schema: dict[str, Any], pointer: str) -> Iterator[Warning_]:
    patterned = schema.get("patternProperties")
    for pattern in patterned if isinstance(patterned, dict) else ():
        at = canonical.join(["patternProperties", pattern])
        if not patterns.runs(pattern):
            yield Warning_(pointer + at, "This pattern of names is not checked here.", "pattern")
        elif not (pattern.startswith("^") and pattern.endswith("$")):
            yield Warning_(
                pointer + at, "This pattern is found anywhere in a name, not only as the whole name.", "anchor"
            )


def _at(pointer: str, name: str, text: str, rule: str) -> Warning_:
    return Warning_(pointer + canonical.join([name]), text, rule)


def _fits(validator: Any, value: Any) -> bool:
    try:
        return next(validator.iter_errors(value), None) is None
    except (Unresolvable, canonical.Unrepresentable):
        return True
