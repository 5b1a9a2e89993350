"""Which of a node's alternatives a value is an example of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from approvals.edits.shapes import Node, entry, has_type, member, required, same

Apart = Callable[[Node | bool], tuple[Node, ...]]
"""Takes a node of the schema apart into its alternatives."""
DEPTH = 3
"""So many levels of a value are looked at to tell alternatives apart; where there is one, only the value itself."""


def fit(apart: Apart, choices: tuple[Node, ...], value: Any) -> int | None:
    """The alternative that the value is an example of, the one it shares most with if there are several; else None."""
    depth = DEPTH if len(choices) > 1 else 0
    scores = [_likeness(apart, flat, value, depth) for flat in choices]
    best = max(scores, default=-1)
    return scores.index(best) if best >= 0 else None


def _likeness(apart: Apart, flat: Node, value: Any, depth: int) -> int:
    """-1 if the value is no example of this alternative, else how much of it the alternative names."""
    if not has_type(value, flat.get("type")):
        return -1
    if "const" in flat and not same(flat["const"], value):
        return -1
    if isinstance(flat.get("enum"), list) and not any(same(option, value) for option in flat["enum"]):
        return -1
    if isinstance(value, dict) and depth:
        return _object_likeness(apart, flat, value, depth)
    if isinstance(value, list) and depth and value:
        choices = apart(entry(flat, 0))
        return max(_likeness(apart, choice, value[0], depth - 1) for choice in choices)
    return 1 if "const" in flat or "enum" in flat or "type" in flat else 0


def _object_likeness(apart: Apart, flat: Node, value: dict[str, Any], depth: int) -> int:
    if not required(flat) <= value.keys():
        return -1
    score = 0
    for name, inner in value.items():
        node, known = member(flat, name)
        if not known and flat.get("additionalProperties") is False:
            return -1
        likeness = max(_likeness(apart, choice, inner, depth - 1) for choice in apart(node))
        if likeness < 0:
            return -1
        score += 1 + likeness if known else 0
    return score
