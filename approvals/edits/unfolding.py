"""A schema node taken apart into *alternatives*: nodes without references and choices, of one type each.

Nothing is unfolded further than a value reaches, so schemas may refer to themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from approvals.edits.places import ABSENT, at
from approvals.edits.shapes import ANYTHING, LABEL, Node, options
from approvals.ledger import canonical
from approvals.schemas import order
from approvals.schemas.order import ORDER

ALTERNATIVES_MAX = 32
"""A node with more alternatives than this is edited as raw JSON."""
HOPS_MAX = 24
"""References and choices followed from one node to the next at one place."""
_CHOICES = ("anyOf", "oneOf")


class _TooWide(Exception):
    """The node has more alternatives, or a longer chain of references, than a person could choose from."""


def alternatives(root: Node, node: Node | bool, hops: int = 0) -> tuple[Node, ...]:
    """What may stand here, in the schema's order; just ``ANYTHING`` where that cannot be said in a few words."""
    try:
        return _alternatives(root, node, hops)
    except _TooWide:
        return (ANYTHING,)


def _alternatives(root: Node, node: Node | bool, hops: int) -> tuple[Node, ...]:
    if not isinstance(node, Mapping):
        return (ANYTHING,)
    if hops > HOPS_MAX:
        raise _TooWide
    node = _dereferenced(root, node)
    if "$ref" in node:
        return _alternatives(root, node, hops + 1)
    if isinstance(node.get("allOf"), list):
        return _alternatives(root, _united(root, node, hops), hops + 1)
    choice = [word for word in _CHOICES if isinstance(node.get(word), list) and node[word]]
    if not choice:
        return _by_type(node)
    base = {key: value for key, value in node.items() if key != choice[0]}
    found = [flat for branch in node[choice[0]] for flat in _branch(root, base, branch, hops)]
    if len(found) > ALTERNATIVES_MAX:
        raise _TooWide
    return _counted_out(base, found)


def _counted_out(base: Node, found: list[Node]) -> tuple[Node, ...]:
    """The alternatives; as one list of options if each of them stands for a handful of values."""
    few = [options(flat) for flat in found]
    if len(found) < 2 or not all(few):
        return tuple(found)
    distinct = {canonical.encode(option): option for some in few for option in some}
    return ({**base, "enum": list(distinct.values())},)


def _branch(root: Node, base: Node, branch: Node | bool, hops: int) -> list[Node]:
    flats = _alternatives(root, branch, hops + 1)
    titled = [{**flat, LABEL: flat.get(LABEL, flat.get("title", ""))} for flat in flats]
    return [flat for one in titled for flat in _alternatives(root, _merged(one, base), hops + 1)]


def _dereferenced(root: Node, node: Node) -> Node:
    """The node with its local reference replaced by what it names. In draft 7 a reference has no siblings."""
    reference = node.get("$ref")
    if not isinstance(reference, str):
        return {key: value for key, value in node.items() if key != "$ref"}
    target = _target(root, reference)
    if "draft-07" in str(root.get("$schema", "")):
        return target
    return {**target, **{key: value for key, value in node.items() if key != "$ref"}}


def _target(root: Node, reference: str) -> Node:
    try:
        place = at(root, reference[1:]) if reference.startswith("#") else ABSENT
    except ValueError:
        place = ABSENT
    return place if isinstance(place, Mapping) else ANYTHING


def _united(root: Node, node: Node, hops: int) -> Node:
    whole: Node = {key: value for key, value in node.items() if key != "allOf"}
    for part in node["allOf"]:
        flats = _alternatives(root, part, hops + 1)
        if len(flats) > 1:
            raise _TooWide
        whole = _merged(flats[0], whole)
    return whole


def _merged(inner: Node, outer: Node) -> dict[str, Any]:
    """Both nodes at once; where they name the same keyword the outer one speaks, but types and members are joined."""
    merged = {**inner, **outer}
    if "type" in inner and "type" in outer:
        merged["type"] = _common_type(inner["type"], outer["type"])
    if isinstance(inner.get("properties"), Mapping) and isinstance(outer.get("properties"), Mapping):
        merged["properties"] = {**inner["properties"], **outer["properties"]}
        merged[ORDER] = [
            *order.names_in_order(inner, list(inner["properties"])),
            *outer.get(ORDER, outer["properties"]),
        ]
    if inner.get("required") and outer.get("required"):
        merged["required"] = [*dict.fromkeys([*inner["required"], *outer["required"]])]
    return merged


def _common_type(inner: Any, outer: Any) -> Any:
    ours, theirs = ([one] if isinstance(one, str) else list(one) for one in (inner, outer))
    if "number" in theirs and "integer" in ours:
        theirs.append("integer")
    if "number" in ours and "integer" in theirs:
        ours.append("integer")
    common = [
        one for one in ours if one in theirs and not (one == "number" and "integer" in ours and "integer" in theirs)
    ]
    return common[0] if len(common) == 1 else common


def _by_type(node: Node) -> tuple[Node, ...]:
    declared = node.get("type")
    if "const" in node or isinstance(node.get("enum"), list):
        return (node,)
    if isinstance(declared, list):
        kinds = [one for one in declared if not (one == "integer" and "number" in declared)]
        base = {key: value for key, value in node.items() if key != "type"}
        return _counted_out(base, [{**node, "type": one} for one in kinds]) or (ANYTHING,)
    if declared is None and isinstance(node.get("properties"), Mapping):
        return ({**node, "type": "object"},)
    if declared is None and "items" in node:
        return ({**node, "type": "array"},)
    return (node,)
