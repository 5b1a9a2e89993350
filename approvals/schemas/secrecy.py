"""Whether a schema says anywhere that the value at a place is secret, in whichever branch, taken or not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from approvals.ledger import canonical
from approvals.schemas.dialects import NEWEST, REFERENCES, is_secret, uri_of
from approvals.schemas.nesting import IN_PLACE, inside

_BY_NAME = ("properties", "patternProperties", "additionalProperties", "unevaluatedProperties")
_BY_NUMBER = ("items", "prefixItems", "additionalItems", "unevaluatedItems", "contains")

_Nodes = list[tuple[dict[str, Any], Any]]
"""Schemas, each with what resolves its references."""


class Secrecy:
    """What one schema says of the places of a value; each place is looked up once."""

    def __init__(self, validator: Any) -> None:
        self._specification = specification_with(uri_of(validator.schema) or NEWEST)
        self._at: dict[tuple[str, ...], _Nodes] = {(): self._in_place([(validator.schema, validator._resolver)])}

    def covers(self, pointer: str) -> bool:
        """Whether the value at the pointer, or one that it is inside of, is secret by some branch."""
        parts = tuple(canonical.split(pointer))
        return any(is_secret(node) for end in range(len(parts) + 1) for node, _ in self._nodes(parts[:end]))

    def _nodes(self, parts: tuple[str, ...]) -> _Nodes:
        if parts not in self._at:
            above = self._nodes(parts[:-1])
            below = [(child, resolver) for node, resolver in above for child in _below(node, parts[-1])]
            self._at[parts] = self._in_place(below)
        return self._at[parts]

    def _in_place(self, waiting: list[tuple[Any, Any]]) -> _Nodes:
        """These schemas and all that apply to the same value with them, each once."""
        found: dict[int, tuple[dict[str, Any], Any]] = {}
        while waiting:
            node, resolver = waiting.pop()
            if not isinstance(node, dict) or id(node) in found:
                continue
            resolver = resolver.in_subresource(self._specification.create_resource(node))
            found[id(node)] = (node, resolver)
            waiting += [(child, resolver) for keyword, _, child in inside(node, alone=False) if keyword in IN_PLACE]
            waiting += _referred(node, resolver)
        return [*found.values()]


def _below(node: dict[str, Any], part: str) -> Iterator[Any]:
    """The schemas that may apply to a member or an entry of what this one is about."""
    for keyword, path, child in inside(node, alone=False):
        named = keyword != "properties" or path[-1] == part
        if (keyword in _BY_NAME and named) or (keyword in _BY_NUMBER and part.isdigit()):
            yield child


def _referred(node: dict[str, Any], resolver: Any) -> Iterator[tuple[Any, Any]]:
    for keyword in REFERENCES:
        if isinstance(node.get(keyword), str):
            try:
                found = resolver.lookup(node[keyword])
            except (Unresolvable, ValueError):
                continue  # leads nowhere, so it says nothing of any value
            yield found.contents, found.resolver
