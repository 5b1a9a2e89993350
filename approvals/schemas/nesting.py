"""Which schemas stand inside a schema, and by which keyword."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

IN_PLACE = ("allOf", "anyOf", "oneOf", "if", "then", "else", "not", "dependentSchemas", "dependencies")
"""What is under these applies to the same value."""
_BELOW = (
    *("$defs", "definitions", "properties", "patternProperties", "additionalProperties", "unevaluatedProperties"),
    *("propertyNames", "items", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "contentSchema"),
)
_MAPS = frozenset({"$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies"})


def inside(schema: dict[str, Any], *, alone: bool) -> Iterator[tuple[str, list[str | int], Any]]:
    """The schemas right inside a schema: by which keyword, by which path. Whatever is under no such keyword is data."""
    for keyword in (*IN_PLACE, *_BELOW):
        value = schema.get(keyword)
        if alone and "$ref" in schema and keyword not in ("$defs", "definitions"):
            continue
        if isinstance(value, dict) and keyword in _MAPS:
            for name, child in value.items():
                yield keyword, [keyword, name], child
        elif isinstance(value, list):
            for index, child in enumerate(value):
                yield keyword, [keyword, index], child
        elif isinstance(value, dict):
            yield keyword, [keyword], value
