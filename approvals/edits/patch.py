"""An edit as JSON Patch (RFC 6902): the operations that lead from the arguments before to those after.

Only what changed is in it: a secret that nobody touched is nowhere in the patch. The path of whatever is added or
replaced is also where it stands in the arguments after, since lists are gone through from their start.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from approvals.edits import view
from approvals.edits.difference import aligned
from approvals.edits.kept import KEPT, text
from approvals.edits.places import at, below, is_index
from approvals.edits.shapes import same
from approvals.edits.view import Tool, View
from approvals.ledger import canonical

Operation = dict[str, Any]
_DEPTH = canonical.MAX_DEPTH + 8
"""A value may be as deep as arguments are, within its operation."""
_TIMES = 8
"""A patch may have so many times the bytes and values of arguments: each change brings a path of its own."""


class Unfitting(ValueError):
    """An operation that is none of ours, or whose place is not there."""


def made(before: Any, after: Any) -> list[Operation]:
    """The operations from one JSON value to another, in the order in which they apply; none for equal values."""
    return list(_steps(before, after, ""))


def _steps(old: Any, new: Any, pointer: str) -> Iterator[Operation]:
    if same(old, new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _members(old, new, pointer)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _entries(old, new, pointer)
    else:
        yield {"op": "replace", "path": pointer, "value": new}


def _members(old: dict[str, Any], new: dict[str, Any], pointer: str) -> Iterator[Operation]:
    for name in old:
        if name not in new:
            yield {"op": "remove", "path": below(pointer, name)}
    for name, value in new.items():
        if name in old:
            yield from _steps(old[name], value, below(pointer, name))
        else:
            yield {"op": "add", "path": below(pointer, name), "value": value}


def _entries(old: list[Any], new: list[Any], pointer: str) -> Iterator[Operation]:
    index = 0
    for one, other in aligned(old, new):
        place = below(pointer, index)
        if other is None:
            yield {"op": "remove", "path": place}
            continue
        if one is None:
            yield {"op": "add", "path": place, "value": new[other]}
        else:
            yield from _steps(old[one], new[other], place)
        index += 1


def applied(patch: list[Operation], value: Any) -> Any:
    """What the operations make of a JSON value, which stays as it is. Raises Unfitting."""
    whole = {"": deepcopy(value)}
    for step in patch:
        _apply(step, whole)
    return whole[""]


def _apply(step: Operation, whole: dict[str, Any]) -> None:
    op, path = str(step.get("op")), step.get("path")
    known = op in {"add", "remove", "replace"} and (op == "remove") is ("value" not in step)
    if not known or not isinstance(path, str) or (op == "remove" and not path):
        raise Unfitting(f"{op} is no operation of ours, or not a whole one.")
    try:
        parts = ["", *canonical.split(path)]
    except ValueError as fault:
        raise Unfitting(f"{path} is no JSON pointer.") from fault
    parent = at(whole, canonical.join(parts[:-1]))
    if isinstance(parent, dict):
        _in_object(op, parent, parts[-1], step)
    elif isinstance(parent, list) and is_index(parts[-1]) and int(parts[-1]) < len(parent) + (op == "add"):
        _in_list(op, parent, int(parts[-1]), step)
    else:
        raise Unfitting(f"There is no place {path}.")


def _in_object(op: str, parent: dict[str, Any], name: str, step: Operation) -> None:
    if op != "add" and name not in parent:
        raise Unfitting(f"There is no place {step['path']}.")
    if op == "remove":
        del parent[name]
    else:
        parent[name] = deepcopy(step["value"])


def _in_list(op: str, parent: list[Any], index: int, step: Operation) -> None:
    if op == "add":
        parent.insert(index, deepcopy(step["value"]))
    elif op == "replace":
        parent[index] = deepcopy(step["value"])
    else:
        del parent[index]


# As it is kept and shown


def encode(patch: list[Operation]) -> bytes:
    """The patch as canonical bytes."""
    return canonical.encode(patch, max_depth=_DEPTH)


def parse(data: bytes) -> list[Operation]:
    """A patch from bytes that `encode` gave."""
    most, nodes = _TIMES * canonical.MAX_BYTES, _TIMES * canonical.MAX_NODES
    patch: list[Operation] = canonical.parse(data, max_depth=_DEPTH, max_bytes=most, max_nodes=nodes)
    return patch


def covered(patch: list[Operation], after: Any, tool: Tool) -> list[Operation]:
    """The patch as every surface may show it: a secret stands as the mark that keeps it in the arguments after, and
    of what happened inside of one only that it changed."""
    shown: list[Operation] = []
    for step in patch:
        one = _shown(step, view.root(tool, after))
        shown += [] if one in shown[-1:] else [one]
    return shown


def _shown(step: Operation, place: View) -> Operation:
    parts = canonical.split(step["path"])
    for part in parts if "value" in step else parts[:-1]:
        if place.pointer and place.secret:
            break
        place = place.entry(place.flat, int(part)) if isinstance(place.value, list) else place.member(place.flat, part)
    if place.pointer and place.secret and place.pointer != step["path"]:
        return {"op": "replace", "path": place.pointer, "value": {KEPT: place.pointer}}
    if "value" not in step:
        return step
    return step | {"value": canonical.parse(text(place, place.pointer), max_bytes=4 * canonical.MAX_BYTES)}
