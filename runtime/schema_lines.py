"""A JSON Schema as lines that people read: each argument with what it may be, nested ones below the one they are in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from approvals.ledger import canonical

DEEPEST: Final = 8
MOST: Final = 400
"""So many lines are drawn; what is beyond stands in the definition itself."""
KINDS: Final = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "yes or no",
    "object": "group",
    "array": "list",
    "null": "nothing",
}
_LIMITS: Final = (
    ("minimum", "at least {}"),
    ("exclusiveMinimum", "more than {}"),
    ("maximum", "at most {}"),
    ("exclusiveMaximum", "less than {}"),
    ("multipleOf", "a multiple of {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minItems", "at least {} entries"),
    ("maxItems", "at most {} entries"),
    ("format", "written as {}"),
    ("pattern", "fits {}"),
)


@dataclass(frozen=True)
class Line:
    """One argument. ``pointer`` is its place, with ``*`` for each entry of a list; ``hidden`` says why its value is not
    shown, or nothing."""

    pointer: str
    depth: int
    name: str
    kind: str
    limits: str
    required: bool
    about: str
    hidden: str


def lines(schema: Mapping[str, Any], masked: tuple[str, ...] = ()) -> list[Line]:
    """The lines of a tool's arguments, as its author ordered them; ``masked`` are the places that policy hides."""
    walk = _Walk(schema, masked)
    found: list[Line] = []
    for line in walk.inside(schema, "", 0, frozenset()):
        if len(found) == MOST:
            break
        found.append(line)
    return found


def is_open(schema: Mapping[str, Any]) -> bool:
    """Whether arguments are accepted that the schema does not name."""
    return schema.get("additionalProperties", True) is not False


@dataclass(frozen=True)
class _Walk:
    root: Mapping[str, Any]
    masked: tuple[str, ...]

    def inside(self, schema: Any, at: str, depth: int, seen: frozenset[str]) -> Iterator[Line]:
        """The lines below one place; a schema that holds itself is followed once."""
        schema, seen = self.resolved(schema, seen)
        if depth >= DEEPEST or not isinstance(schema, dict):
            return
        properties, required = schema.get("properties"), schema.get("required")
        wanted = set(required) if isinstance(required, list) else set()
        for name, inner in properties.items() if isinstance(properties, dict) else ():
            place = f"{at}{canonical.join([name])}"
            yield self.line(place, depth, name, inner, name in wanted, seen)
            yield from self.inside(inner, place, depth + 1, seen)
        items = schema.get("items")
        if isinstance(items, dict) and _kinds(self.resolved(items, seen)[0]) & {"object", "array"}:
            yield from self.inside(items, f"{at}/*", depth, seen)

    def resolved(self, schema: Any, seen: frozenset[str]) -> tuple[Any, frozenset[str]]:
        """A schema in the place of a reference to it within the document; nothing for one that leads in a circle."""
        while isinstance(schema, dict) and isinstance(where := schema.get("$ref"), str):
            if where in seen or not where.startswith("#"):
                return {}, seen
            seen, schema = seen | {where}, self._at(where[1:])
        return schema, seen

    def _at(self, pointer: str) -> Any:
        found: Any = self.root
        for part in canonical.split(pointer):
            found = found.get(part) if isinstance(found, dict) else None
        return found

    def line(self, at: str, depth: int, name: str, given: Any, required: bool, seen: frozenset[str]) -> Line:
        schema, seen = self.resolved(given, seen)
        known = schema if isinstance(schema, dict) else {}
        about = (given.get("description") if isinstance(given, dict) else None) or known.get("description") or ""
        hidden = "Policy hides it." if self._is_masked(at) else "A secret." if known.get("writeOnly") else ""
        return Line(at, depth, name, self.kind(known, seen), _limits(known), required, str(about), hidden)

    def _is_masked(self, at: str) -> bool:
        return any(not place or at == place or at.startswith(f"{place}/") for place in self.masked)

    def kind(self, schema: Mapping[str, Any], seen: frozenset[str]) -> str:
        """What a value may be, in words."""
        if "const" in schema:
            return f"always {_shown(schema['const'])}"
        if isinstance(values := schema.get("enum"), list) and values:
            return f"one of {', '.join(map(_shown, values[:12]))}{' …' if len(values) > 12 else ''}"
        for word in ("anyOf", "oneOf"):
            if isinstance(ways := schema.get(word), list) and ways:
                each = (self.resolved(way, seen)[0] for way in ways)
                told = [self.kind(way, seen) if isinstance(way, dict) else "anything" for way in each]
                return " or ".join(dict.fromkeys(told))
        kinds = [KINDS[kind] for kind in KINDS if kind in _kinds(schema)] or ["anything"]
        return " or ".join(self._of_items(schema, seen) if kind == "list" else kind for kind in kinds)

    def _of_items(self, schema: Mapping[str, Any], seen: frozenset[str]) -> str:
        items, seen = self.resolved(schema.get("items"), seen)
        return f"list of {self.kind(items, seen)}" if isinstance(items, dict) and items else "list"


def _kinds(schema: Any) -> set[str]:
    if not isinstance(schema, dict):
        return set()
    said = schema.get("type")
    named = {said} if isinstance(said, str) else {each for each in said or () if isinstance(each, str)}
    return named or ({"object"} if "properties" in schema else set()) | ({"array"} if "items" in schema else set())


def _limits(schema: Mapping[str, Any]) -> str:
    told = [text.format(_shown(schema[word])) for word, text in _LIMITS if word in schema]
    told += ["no entry twice"] if schema.get("uniqueItems") is True else []
    told += [f"{_shown(schema['default'])} if nothing is said"] if "default" in schema else []
    return ", ".join(told)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:80]}…"
