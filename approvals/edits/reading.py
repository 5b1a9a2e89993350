"""Forms drawn and read: the revision being edited in, edited arguments or faults at their fields out."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from approvals.edits import kept, posted, view
from approvals.edits.checks import check
from approvals.edits.difference import Change, difference
from approvals.edits.field import Field
from approvals.edits.form import Form
from approvals.edits.grow import grow
from approvals.edits.lines import line_of
from approvals.edits.places import within
from approvals.edits.posted import Posted
from approvals.edits.settle import Unfit, raw, settle
from approvals.edits.sheet import KEPT_BY_RULE, Sheet, Slot
from approvals.edits.view import Tool
from approvals.schemas import Fault

Wants = Literal["save", "check", "draw"]


@dataclass(frozen=True)
class Edited:
    """What a person sent: ``value`` are the new arguments, None while something is to be mended.

    ``wants`` is ``save`` for the button that saves, ``check`` for the return key, ``draw`` for any other.
    ``changes`` are the changes so far, those with something wrong left out. ``form`` is None for raw JSON.
    """

    value: Any
    faults: tuple[Fault, ...]
    changes: list[Change]
    wants: Wants
    form: Form | None = None
    text: str = ""
    lines: tuple[tuple[int, str], ...] = ()

    @property
    def saves(self) -> bool:
        """Whether there is something to hand to `decide`."""
        return self.wants == "save" and not self.faults


def fields(
    tool: Tool,
    value: Any,
    *,
    editable: Collection[str] | None = None,
    rule: str = KEPT_BY_RULE,
    before: str = "Proposed",
) -> Form:
    """The form for the arguments of a revision.

    ``editable`` are the pointers that the rule opens, None for all; ``rule`` is the sentence at a field that stays
    closed, ``before`` what the values are called that a change stands beside.
    """
    return Form(_root(Sheet(tool, value, editable, rule)), before=before)


def read(
    sent: Mapping[str, list[str]],
    tool: Tool,
    base: Any,
    *,
    editable: Collection[str] | None = None,
    rule: str = KEPT_BY_RULE,
    before: str = "Proposed",
) -> Edited:
    """The edited arguments out of a posted form; ``base`` are the arguments of the revision that it was drawn for.

    Every name that the form did not ask for is refused at its place, and so is one sent twice.
    """
    sent = posted.unwired(sent)
    do = (sent.get("do") or [""])[-1]
    wants: Wants = "save" if do == "save" else "check" if do == "check" else "draw"
    sheet = Sheet(tool, base, editable, rule, Posted(posted.act(sent, do)), strict=wants != "draw")
    root = _root(sheet)
    if refused := posted.fault_of(sent, do):
        sheet.refuse(refused[0], "name", refused[1])
    _refuse_strangers(sheet, root)
    value = settle(sheet, root)
    faults = tuple(Fault(*fault) for fault in sheet.faults)
    if not faults and sheet.strict:
        faults = check(base, value, dict(tool.schema), editable=editable)
    form = Form(root, _attached(root, faults), before)
    _focus(root, posted.target(posted.act(sent, do), do) if wants == "draw" else None)
    return Edited(None if faults else value, faults, _sound(difference(base, value, tool), faults), wants, form)


def raw_text(tool: Tool, value: Any) -> str:
    """All arguments as JSON text for editing, each secret as a mark that keeps it."""
    return kept.text(view.root(tool, value), "")


def read_raw(text: str, tool: Tool, base: Any, *, editable: Collection[str] | None = None, save: bool = True) -> Edited:
    """The edited arguments out of a JSON text, with the line of every fault."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    wants: Wants = "save" if save else "check"
    sheet = Sheet(tool, base, editable)
    try:
        value = base if text == raw_text(tool, base) else raw(text, sheet, _whole(tool, base))
    except Unfit as unfit:
        fault = Fault(unfit.pointer, unfit.rule, unfit.message)
        told = _at_line(text, fault, unfit.line)
        return Edited(None, (fault,), [], wants, None, text, (told,))
    faults = check(base, value, dict(tool.schema), editable=editable)
    lines = tuple(_at_line(text, fault) for fault in faults)
    changes = _sound(difference(base, value, tool), faults)
    return Edited(None if faults else value, faults, changes, wants, None, text, lines)


def _sound(changes: list[Change], faults: tuple[Fault, ...]) -> list[Change]:
    """The changes with which nothing is wrong."""
    amiss = {fault.pointer for fault in faults}
    return [change for change in changes if change.pointer not in amiss]


def _at_line(text: str, fault: Fault, line: int | None = None) -> tuple[int, str]:
    """The line of a fault and its sentence, which names the place: a field that is missing stands on no line."""
    message = re.sub(r"^Line \d+: ", "", fault.message)
    return line or line_of(text, fault.pointer), f"{fault.pointer}: {message}" if fault.pointer else message


def _root(sheet: Sheet) -> Field:
    root = grow(sheet, Slot("", "", "", sheet.tool.schema))
    if root is None:
        raise ValueError("There are no arguments to edit.")
    return root


def _whole(tool: Tool, base: Any) -> Field:
    place = view.root(tool, base)
    return Field("", "", "raw", place, place.flat, "raw", 0)


def _refuse_strangers(sheet: Sheet, root: Field) -> None:
    for name in sheet.posted.doubled():
        sheet.refuse(_pointer(name), "form", f"{name} was sent twice.")
    for name in sheet.posted.unknown():
        pointer = _pointer(name)
        locked = next((one.locked for one in root.walk() if one.locked and within(pointer, (one.pointer,))), "")
        sheet.refuse(pointer, "locked" if locked else "form", locked or f"The form has no field {pointer or name}.")


def _focus(root: Field, pointer: str | None) -> None:
    """Point to the first control of what a button brought into the form."""
    inside = (one for one in root.walk() if pointer is not None and one.pointer and within(one.pointer, (pointer,)))
    first = next((one for one in inside if one.labelled), None)
    if first is not None:
        first.focus = True


def _pointer(name: str) -> str:
    return name[2:] if name[:1] in posted.LETTERS and name[1:3] in (":", ":/") else ""


def _attached(root: Field, faults: tuple[Fault, ...]) -> list[tuple[str, str, str]]:
    """Each fault put at its field, or at the nearest one around it; those of no field are given back."""
    homeless = []
    drawn = [one for one in root.walk() if one.pointer]
    for fault in faults:
        around = [one for one in drawn if within(fault.pointer, (one.pointer,))]
        if around:
            nearest = max(around, key=lambda one: len(one.pointer))
            inner = fault.pointer[len(nearest.pointer) :]
            nearest.faults.append(f"{inner}: {fault.message}" if inner else fault.message)
        else:
            homeless.append((fault.pointer, fault.rule, fault.message))
    return homeless
