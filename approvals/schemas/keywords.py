"""Our own reading of single keywords, in jsonschema's shape: validator, the keyword's value, the value, the schema."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from jsonschema.exceptions import ValidationError

from approvals.ledger import canonical
from approvals.schemas import formats, patterns
from approvals.schemas.budgets import spend

_BYTES_OF_A_STEP = 20

Errors = Iterator[ValidationError]


def _form(value: Any) -> bytes:
    """What two equal values share: 1 and 1.0 are equal, 1 and true are not."""
    form = canonical.encode(value, max_depth=128)
    spend(1 + len(form) // _BYTES_OF_A_STEP)
    return form


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict | list):
        return type(one) is type(other) and _form(one) == _form(other)
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def enum(validator: Any, choices: Any, instance: Any, schema: Any) -> Errors:
    spend(len(choices) // _BYTES_OF_A_STEP)
    if not any(_same(choice, instance) for choice in choices):
        yield ValidationError("enum")


def const(validator: Any, value: Any, instance: Any, schema: Any) -> Errors:
    if not _same(value, instance):
        yield ValidationError("const")


def unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Errors:
    if wanted and isinstance(instance, list) and len({_form(item) for item in instance}) != len(instance):
        yield ValidationError("uniqueItems")


def multiple_of(validator: Any, divisor: Any, instance: Any, schema: Any) -> Errors:
    """In decimals as people write them: 19.99 is a multiple of 0.01, though their binary forms are not."""
    if validator.is_type(instance, "number") and Fraction(str(instance)) % Fraction(str(divisor)):
        yield ValidationError("multipleOf")


def pattern(validator: Any, wanted: Any, instance: Any, schema: Any) -> Errors:
    if isinstance(instance, str) and patterns.found(wanted, instance) is False:
        yield ValidationError("pattern")


def format_(validator: Any, name: Any, instance: Any, schema: Any) -> Errors:
    check = formats.CHECKS.get(name) if isinstance(name, str) else None
    if check and isinstance(instance, str):
        spend(len(instance) // (_BYTES_OF_A_STEP * 5))
        if not check[0](instance):
            yield ValidationError("format")


def content_encoding(validator: Any, name: Any, instance: Any, schema: Any) -> Errors:
    if name == "base64" and isinstance(instance, str) and not formats.is_base64(instance):
        yield ValidationError("contentEncoding")


def required(validator: Any, names: Any, instance: Any, schema: Any) -> Errors:
    if isinstance(instance, dict):
        for name in names:
            if name not in instance:
                yield ValidationError("required", path=[name])


def dependent_required(validator: Any, dependents: Any, instance: Any, schema: Any) -> Errors:
    if isinstance(instance, dict):
        for name, needs in dependents.items():
            if name in instance:
                yield from required(validator, needs, instance, schema)


def dependencies(validator: Any, dependents: Any, instance: Any, schema: Any) -> Errors:
    """Draft 7 and older: a list of names that are needed too, or a schema."""
    if not isinstance(instance, dict):
        return
    for name, needs in dependents.items():
        if name in instance and isinstance(needs, list):
            yield from required(validator, needs, instance, schema)
        elif name in instance:
            yield from validator.descend(instance, needs, schema_path=name)


def pattern_properties(validator: Any, patterned: Any, instance: Any, schema: Any) -> Errors:
    if isinstance(instance, dict):
        for wanted, subschema in patterned.items():
            for name, value in instance.items():
                if patterns.found(wanted, name):
                    yield from validator.descend(value, subschema, path=name, schema_path=wanted)


def additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Errors:
    if not isinstance(instance, dict):
        return
    for name in [name for name in instance if not _described(name, schema)]:
        if allowed is False:
            yield ValidationError("additionalProperties", path=[name])
        else:
            yield from validator.descend(instance[name], allowed, path=name)


def _described(name: str, schema: Any) -> bool:
    """Whether the schema has a place for the name. A pattern that is not checked here may be that place."""
    return name in schema.get("properties", {}) or any(
        patterns.found(wanted, name) is not False for wanted in schema.get("patternProperties", {})
    )


def property_names(validator: Any, wanted: Any, instance: Any, schema: Any) -> Errors:
    if isinstance(instance, dict):
        for name in instance:
            if next(validator.descend(instance=name, schema=wanted), None):
                yield ValidationError("propertyNames", path=[name])


def unevaluated_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Errors:
    if not isinstance(instance, dict):
        return
    known = _evaluated(
        validator, instance, {name: value for name, value in schema.items() if name != "unevaluatedProperties"}
    )
    for name, value in instance.items():
        if name not in known and next(validator.descend(value, allowed), None):
            yield ValidationError("unevaluatedProperties", path=[name])


def _evaluated(validator: Any, instance: dict[str, Any], schema: Any) -> set[str]:
    """The names that a schema, or one applied in the same place with success, looked at."""
    spend(1)
    if not isinstance(schema, dict):
        return set()
    names = {name for name in instance if _described(name, schema)}
    names |= set(instance) if {"additionalProperties", "unevaluatedProperties"} & schema.keys() else set()
    for applied, subschema in _applied(validator, instance, schema):
        if next(applied.descend(instance, subschema), None) is None:
            names |= _evaluated(applied, instance, subschema)
    return names


def _applied(validator: Any, instance: dict[str, Any], schema: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """The schemas that this one applies to the same value, each with the validator that resolves its references."""
    for reference in ("$ref", "$dynamicRef"):
        if reference in schema and reference in validator.VALIDATORS:
            spend(4)
            resolved = validator._resolver.lookup(schema[reference])
            yield validator.evolve(schema=resolved.contents, _resolver=resolved.resolver), resolved.contents
    for name in ("allOf", "anyOf", "oneOf"):
        yield from ((validator, subschema) for subschema in schema.get(name, []))
    if "if" in schema:
        holds = next(validator.descend(instance, schema["if"]), None) is None
        yield validator, schema["if"]
        yield validator, schema.get("then" if holds else "else", True)
    yield from (
        (validator, subschema) for name, subschema in schema.get("dependentSchemas", {}).items() if name in instance
    )


REPLACED: dict[str, Any] = {
    "enum": enum,
    "const": const,
    "uniqueItems": unique_items,
    "multipleOf": multiple_of,
    "pattern": pattern,
    "format": format_,
    "required": required,
    "dependentRequired": dependent_required,
    "dependencies": dependencies,
    "patternProperties": pattern_properties,
    "additionalProperties": additional_properties,
    "propertyNames": property_names,
    "unevaluatedProperties": unevaluated_properties,
}
