"""Arguments made up from a schema, to draw a form with something in every field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from approvals.edits import shapes
from approvals.edits.unfolding import alternatives

TEXTS = ["x", "two\r\nlines\r\n", "é\u200b </textarea>&amp;"]


def sample(root: Mapping[str, Any], node: Any, depth: int = 3, turn: int = 0) -> Any:
    """A value with every declared member down to a depth; ``turn`` picks another alternative and another text."""
    choices = alternatives(root, node)
    flat = choices[turn % len(choices)]
    match shapes.kind(flat):
        case "const":
            return flat["const"]
        case "enum":
            return flat["enum"][turn % len(flat["enum"])]
        case "text":
            return TEXTS[turn % len(TEXTS)]
        case "number":
            return turn + 1
        case "boolean":
            return turn % 2 == 0
        case "null":
            return None
        case "list":
            return (
                [sample(root, shapes.entry(flat, place), depth - 1, turn + place) for place in range(2)]
                if depth > 0
                else []
            )
        case "object":
            return _object(root, flat, depth, turn)
    return {"any": [1, None]} if flat.get("type") in (None, "object") else [1, "a"]


def _object(root: Mapping[str, Any], flat: Mapping[str, Any], depth: int, turn: int) -> dict[str, Any]:
    names = shapes.names(flat) if depth > 0 else sorted(shapes.required(flat)) if depth > -4 else []
    value = {name: sample(root, shapes.member(flat, name)[0], depth - 1, turn) for name in names}
    if shapes.is_map(flat):
        value["k/ey~"] = sample(root, flat["additionalProperties"], depth - 1, turn)
    return value
