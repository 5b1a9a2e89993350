"""The order in which a tool's author wrote the members of its objects. It is no part of what a definition says, nor of
its digest, and neither canonical bytes nor the database keep it; but people read and fill in forms in that order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from approvals.ledger import canonical
from approvals.schemas.nesting import inside

ORDER: Final = "x-placet-order"
"""Where a schema that is shown to people keeps the names of its members in their order."""
Order = dict[str, list[str]]


def order_of(schema: Any) -> Order:
    """The names of every object's members as they are written, by the pointer of the object's schema."""
    return {pointer: list(node["properties"]) for pointer, node in _objects(schema)}


def ordered(schema: dict[str, Any], order: Mapping[str, list[str]]) -> dict[str, Any]:
    """The schema, with the order told where there is one. Changes what it is given, which is nobody else's."""
    for pointer, node in list(_objects(schema)):
        if pointer in order:
            node[ORDER] = order[pointer]
    return schema


def names_in_order(node: Mapping[str, Any], names: list[str]) -> list[str]:
    """These names, those that an order is told for first."""
    told = node.get(ORDER)
    known = [name for name in told if isinstance(name, str) and name in names] if isinstance(told, list) else []
    return [*dict.fromkeys([*known, *names])]


def _objects(schema: Any, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("properties"), dict) and len(schema["properties"]) > 1:
        yield pointer, schema
    for _, parts, child in inside(schema, alone=False):
        yield from _objects(child, pointer + canonical.join(parts))
