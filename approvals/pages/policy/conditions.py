"""The condition of a rule in words. It is a JSON Schema: what has words here is said in them, all else literally."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from approvals.ledger import canonical
from approvals.pages.ruled import joined

Schema = Mapping[str, Any]


def words(when: Schema) -> list[str]:
    """What a condition asks of each argument: ``amount of at most 5,000``."""
    return [f"{name} {told}" for name, told in _arguments(when, "")]


def remarks(when: Schema) -> list[str]:
    """What the words leave open: of which type an argument is, which may be left out, and, where a part of the
    condition has no words, the whole of it as it is written."""
    found = [*_types(when, ""), *_left_out(when, "")]
    if not _is_told(when):
        found.append(f"The whole condition: {canonical.encode(dict(when)).decode()}")
    return found


def _arguments(when: Schema, at: str) -> Iterator[tuple[str, str]]:
    inner = _properties(when)
    for name in when.get("required", ()) if isinstance(when.get("required"), list) else ():
        if name not in inner:
            yield f"{at}{name}", "given"
    for name, schema in inner.items():
        said = [tell(schema[word]) for word, tell in _TOLD.items() if word in schema]
        if said:
            yield f"{at}{name}", " and ".join(said)
        elif name in when.get("required", ()) and not _properties(schema):
            yield f"{at}{name}", "given"
        yield from _arguments(schema, f"{at}{name}.")


def _types(when: Schema, at: str) -> Iterator[str]:
    for name, schema in _properties(when).items():
        if "type" in schema:
            kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            yield f"{at}{name} is {joined([_KINDS.get(kind, str(kind)) for kind in kinds], last='or')}"
        yield from _types(schema, f"{at}{name}.")


def _left_out(when: Schema, at: str) -> Iterator[str]:
    required = when.get("required", ())
    free = [f"{at}{name}" for name in _properties(when) if name not in required]
    if free:
        yield f"also where {joined(free, last='or')} {'is' if len(free) == 1 else 'are'} left out"
    for name, schema in _properties(when).items():
        yield from _left_out(schema, f"{at}{name}.")


def _properties(schema: Any) -> Mapping[str, Any]:
    inner = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
    return {name: each for name, each in inner.items() if isinstance(each, Mapping)}


def _is_told(schema: Schema) -> bool:
    """Whether every part of it has words."""
    inner = schema.get("properties", {})
    plain = schema.keys() <= {"required", "properties", "type", *_TOLD}
    return plain and all(isinstance(each, Mapping) and _is_told(each) for each in inner.values())


def literal(value: Any) -> str:
    """A value of JSON as people read it: whole numbers in groups, texts in quotation marks."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"“{value}”" if isinstance(value, str) else canonical.encode(value).decode()


_KINDS: Final = {
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_TOLD: Final[dict[str, Callable[[Any], str]]] = {
    "const": literal,
    "enum": lambda values: joined([literal(value) for value in values], last="or"),
    "minimum": lambda value: f"of at least {literal(value)}",
    "exclusiveMinimum": lambda value: f"above {literal(value)}",
    "maximum": lambda value: f"of at most {literal(value)}",
    "exclusiveMaximum": lambda value: f"below {literal(value)}",
    "multipleOf": lambda value: f"in steps of {literal(value)}",
    "minLength": lambda value: f"of at least {literal(value)} characters",
    "maxLength": lambda value: f"of at most {literal(value)} characters",
    "pattern": lambda value: f"that fits {value}",
    "format": lambda value: f"in the form of {value}",
    "minItems": lambda value: f"of at least {literal(value)} entries",
    "maxItems": lambda value: f"of at most {literal(value)} entries",
    "uniqueItems": lambda value: "without repetition" if value else "with or without repetition",
}
