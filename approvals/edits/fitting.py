"""Which of a node's alternatives a value is an example of."""

from __future__ import annotations

from typing import Any

from approvals.edits.shapes import Node, entry, has_type, member, required, same
from approvals.edits.unfolding import alternatives


def fit(root: Node, choices: tuple[Node, ...], value: Any) -> int | None:
    """The alternative that the value is an example of, the one it shares most with if there are several; else None."""
    scores = [_likeness(root, flat, value, 3) for flat in choices]
    best = max(scores, default=-1)
    return scores.index(best) if best >= 0 else None


def resolve(root: Node, node: Node | bool, value: Any) -> Node:
    """The alternative that the value fits, or what all alternatives say in common."""
    choices = alternatives(root, node)
    chosen = fit(root, choices, value)
    return choices[chosen if chosen is not None else 0]


def _likeness(root: Node, flat: Node, value: Any, depth: int) -> int:
    """-1 if the value is no example of this alternative, else how much of it the alternative names."""
    if not has_type(value, flat.get("type")):
        return -1
    if "const" in flat and not same(flat["const"], value):
        return -1
    if isinstance(flat.get("enum"), list) and not any(same(option, value) for option in flat["enum"]):
        return -1
    if isinstance(value, dict) and depth:
        return _object_likeness(root, flat, value, depth)
    if isinstance(value, list) and depth and value:
        choices = alternatives(root, entry(flat, 0))
        return max(_likeness(root, choice, value[0], depth - 1) for choice in choices)
    return 1 if "const" in flat or "enum" in flat or "type" in flat else 0


def _object_likeness(root: Node, flat: Node, value: dict[str, Any], depth: int) -> int:
    if not required(flat) <= value.keys():
        return -1
    score = 0
    for name, inner in value.items():
        node, known = member(flat, name)
        if not known and flat.get("additionalProperties") is False:
            return -1
        likeness = max(_likeness(root, choice, inner, depth - 1) for choice in alternatives(root, node))
        if likeness < 0:
            return -1
        score += 1 + likeness if known else 0
    return score
