"""One drawing of a form: what it is about, what was sent back, and what was found wrong."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from approvals.edits import money, shapes
from approvals.edits.places import reaches, within
from approvals.edits.posted import Posted
from approvals.edits.shapes import Node
from approvals.edits.view import Tool, View

FIELDS_MAX = 400
"""A list or an object with more values than are left of this is drawn as raw JSON."""
DEPTH_MAX = 8
"""What is nested deeper is drawn as raw JSON."""
READ_ONLY = "The tool says that this field is read-only."
KEPT_BY_RULE = "The rule keeps this field as proposed."


@dataclass
class Sheet:
    """One drawing of a form: the tool, the revision being edited, what its rule opens, and what was sent back.

    ``strict`` also finds fault with fields that were only just drawn and are still empty.
    """

    tool: Tool
    base: Any
    editable: Collection[str] | None = None
    rule: str = KEPT_BY_RULE
    posted: Posted = field(default_factory=lambda: Posted({}))
    strict: bool = True
    room: int = FIELDS_MAX
    fields: int = 0
    faults: list[tuple[str, str, str]] = field(default_factory=list)

    def opens(self, pointer: str) -> bool:
        """Whether the rule lets everything at this place be changed."""
        return self.editable is None or within(pointer, self.editable)

    def lock(self, view: View) -> str:
        """Why this place cannot be changed, or nothing."""
        if shapes.marked(view.node, view.choices, "readOnly"):
            return READ_ONLY
        if self.editable is None or self.opens(view.pointer) or reaches(view.pointer, self.editable):
            return ""
        return self.rule

    def refuse(self, pointer: str, rule: str, message: str) -> None:
        self.faults.append((pointer, rule, message))

    def code(self, pointer: str) -> str:
        """The currency of an amount: as it was sent, else as in the revision being edited; empty if it has none."""
        place = self.tool.money.get(pointer)
        if place is None:
            return ""
        sent = self.posted.sent.get(f"f:{place}", [""])[-1].strip('"')
        return money.currency(sent) or money.currency(money.code_at(self.base, place)) or ""


@dataclass(frozen=True)
class Slot:
    """A place for a field: where it stands, where its value comes from, and whether it may be left out."""

    pointer: str
    origin: str | None
    name: str
    node: Node | bool
    known: bool = True
    wanted: bool = True
    removable: bool = False
    index: int | None = None
    fresh: bool = False
