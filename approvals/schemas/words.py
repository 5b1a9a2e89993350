"""What is wrong with a value, and what would be right, in words for the person who can change it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from jsonschema.exceptions import ValidationError

from approvals.ledger import canonical
from approvals.schemas import formats

_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_LONGEST = 60
_MOST = 12


def value_shown(value: Any) -> str:
    """A value as JSON on one line, cut where it is long."""
    text = canonical.plain(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def any_of(choices: list[str]) -> str:
    """ "a, b or c"; a long list ends in how many more there are."""
    if len(choices) > _MOST:
        return ", ".join(choices[:_MOST]) + f" or one of {len(choices) - _MOST} more"
    return " or ".join([", ".join(choices[:-1]), choices[-1]] if len(choices) > 1 else choices)


def message(error: ValidationError, *, secret: bool) -> str:
    """The sentence about one fault. The value itself is told only if it is short, plain and not secret."""
    say = _SENTENCES.get(str(error.validator), _unknown)
    text = say(error)
    if secret or error.validator not in _TELLING or isinstance(error.instance, dict | list):
        return text + "."
    return f"{text}; {value_shown(error.instance)} is not."


def _type(error: ValidationError) -> str:
    return "Must be " + any_of([_TYPES.get(name, name) for name in _named(error)])


def _named(error: ValidationError) -> list[str]:
    types: Any = error.validator_value
    return [types] if isinstance(types, str) else list(types)


def _format(error: ValidationError) -> str:
    check = formats.CHECKS.get(str(error.validator_value))
    return f"Must be {check[1]}" if check else "Does not have the format that is asked for"


def _enum(error: ValidationError) -> str:
    choices: Any = error.validator_value
    return "Must be " + any_of([value_shown(each) for each in choices])


def _count(least: str, things: str) -> Callable[[ValidationError], str]:
    return lambda error: f"Must have {least} {error.validator_value:,} {things}"


def _bound(words: str) -> Callable[[ValidationError], str]:
    return lambda error: f"Must be {words} {value_shown(error.validator_value)}"


def _forms(error: ValidationError) -> str:
    """A choice among types is told as one; any other as a choice."""
    inner = [each for each in error.context or () if each.validator == "type" and not each.relative_path]
    branches = {each.relative_schema_path[0] for each in error.context or ()}
    if not inner or {each.relative_schema_path[0] for each in inner} != branches:
        return "Has none of the forms that are allowed here"
    types = [name for each in inner for name in _named(each)]
    return "Must be " + any_of([_TYPES.get(name, name) for name in dict.fromkeys(types)])


def _unknown(error: ValidationError) -> str:
    return (
        "Is not allowed here"
        if error.validator is None
        else f"Does not meet the rule {canonical.plain(str(error.validator))}"
    )


_SENTENCES: dict[str, Callable[[ValidationError], str]] = {
    "type": _type,
    "format": _format,
    "enum": _enum,
    "const": lambda error: f"Must be {value_shown(error.validator_value)}",
    "required": lambda error: "This field is missing",
    "dependentRequired": lambda error: "This field is missing, and another one that is given needs it",
    "dependencies": lambda error: "This field is missing, and another one that is given needs it",
    "additionalProperties": lambda error: f"There is no field called {value_shown(str(error.path[-1]))} here",
    "unevaluatedProperties": lambda error: f"There is no field called {value_shown(str(error.path[-1]))} here",
    "propertyNames": lambda error: "This name of a field is not allowed here",
    "minimum": _bound("at least"),
    "maximum": _bound("at most"),
    "exclusiveMinimum": _bound("more than"),
    "exclusiveMaximum": _bound("less than"),
    "multipleOf": _bound("a multiple of"),
    "minLength": _count("at least", "characters (code points)"),
    "maxLength": _count("at most", "characters (code points)"),
    "minItems": _count("at least", "items"),
    "maxItems": _count("at most", "items"),
    "minProperties": _count("at least", "fields"),
    "maxProperties": _count("at most", "fields"),
    "uniqueItems": lambda error: "No two items may be the same",
    "pattern": lambda error: f"Must match the pattern {value_shown(error.validator_value)}",
    "contentEncoding": lambda error: "Must be base64 (RFC 4648)",
    "contains": lambda error: "No item is of the kind that is asked for",
    "minContains": lambda error: "Too few items are of the kind that is asked for",
    "maxContains": lambda error: "Too many items are of one kind",
    "items": lambda error: "There are more items than allowed",
    "additionalItems": lambda error: "There are more items than allowed",
    "unevaluatedItems": lambda error: "There are more items than allowed",
    "anyOf": _forms,
    "oneOf": lambda error: (
        _forms(error) if error.context else "Has more than one of the forms of which it must have one"
    ),
    "not": lambda error: "Has a form that is forbidden here",
}
_TELLING = frozenset(
    {
        "type",
        "format",
        "enum",
        "const",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "pattern",
    }
)
