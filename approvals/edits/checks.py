"""Whether an edit is allowed: what is locked or read-only stays, no strange names come in, and the schema holds."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from approvals import schemas
from approvals.edits import marks, shapes, view
from approvals.edits.difference import aligned
from approvals.edits.places import ABSENT, below, within
from approvals.edits.shapes import same
from approvals.edits.view import Tool, View
from approvals.schemas import Fault

TRAPS = frozenset({"__proto__", "constructor", "prototype"})
"""Names with a meaning of their own in JavaScript: a tool that wants one declares it."""


def check(
    proposed: Any, edited: Any, schema: dict[str, Any], *, editable: Collection[str] | None = None
) -> tuple[Fault, ...]:
    """What keeps the edited arguments from taking the place of the proposed ones; nothing if they may.

    ``editable`` are the JSON pointers that the rule opens, with everything below them; None opens all. Both values are
    JSON as `canonical.parse` gives it.
    """
    tool = Tool(schema)
    places = {fault.pointer: fault for fault in _locked(proposed, edited, "", editable)}
    for fault in _strange(view.root(tool, proposed), view.root(tool, edited)):
        places.setdefault(fault.pointer, fault)
    rest = (fault for fault in schemas.validate(schema, edited) if fault.pointer not in places)
    return (*places.values(), *rest)


def _locked(old: Any, new: Any, pointer: str, editable: Collection[str] | None) -> Iterator[Fault]:
    """The smallest changed places outside of what is open. Entries keep their index: a closed list cannot shift."""
    if editable is None or within(pointer, editable) or (old is not ABSENT and new is not ABSENT and same(old, new)):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(name for name in new if name not in old)]:
            yield from _locked(old.get(name, ABSENT), new.get(name, ABSENT), below(pointer, name), editable)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _locked(one, other, below(pointer, index), editable)
    else:
        yield Fault(pointer, "locked", "The rule keeps this field as proposed.")


def _strange(old: View | None, new: View) -> Iterator[Fault]:
    """Read-only places that changed, and members that an edit may not bring in, compared place by place."""
    if old is not None and old.value is not ABSENT and same(old.value, new.value):
        return
    if new.pointer and shapes.marked(new.node, new.choices, "readOnly"):
        yield Fault(new.pointer, "readOnly", "The tool says that this field is read-only.")
        return
    if isinstance(new.value, dict):
        yield from _members(old, new)
    elif isinstance(new.value, list):
        before = old.value if old is not None and isinstance(old.value, list) else []
        for one, other in aligned(before, new.value):
            if other is not None:
                counterpart = old.entry(old.flat, one) if old is not None and one is not None else None
                yield from _strange(counterpart, new.entry(new.flat, other))


def _members(old: View | None, new: View) -> Iterator[Fault]:
    before = old if old is not None and isinstance(old.value, dict) else None
    flat = new.flat
    for child in new.children():
        counterpart = before.member(before.flat, child.name) if before and child.name in before.value else None
        if counterpart is None and (fault := _refused_name(flat, child)):
            yield fault
        else:
            yield from _strange(counterpart, child)
    for name in before.value if before else ():
        node = before.member(before.flat, name) if before else new
        if name not in new.value and shapes.marked(node.node, node.choices, "readOnly"):
            yield Fault(node.pointer, "readOnly", "The tool says that this field is read-only.")


def _refused_name(flat: shapes.Node, child: View) -> Fault | None:
    """Why a member that was not there before may not be added."""
    if child.name in shapes.names(flat):
        return None
    shown = marks.escaped(child.name)
    if marks.count(child.name):
        return Fault(child.pointer, "name", f"The name {shown} has an invisible character in it.")
    if child.name in TRAPS:
        return Fault(child.pointer, "name", f"The name {shown} is not accepted unless the tool declares it.")
    known = child.known and (child.pointer.count("/") > 1 or shapes.declares(flat))
    if not known and not shapes.is_open(flat):
        return Fault(child.pointer, "additionalProperties", f"The tool has no field {shown}: it cannot be added.")
    return None
