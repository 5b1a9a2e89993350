"""The fields of a form, grown from what the arguments hold and what a browser sent back; never from a schema alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from approvals.edits import kept, money, shapes
from approvals.edits.field import Control, Field, Option
from approvals.edits.places import ABSENT, at, below, is_index, size
from approvals.edits.posted import ABSENT_STATE, NEW, RAW
from approvals.edits.shapes import Node
from approvals.edits.sheet import DEPTH_MAX, Sheet, Slot
from approvals.edits.view import View

ONE_LINE_MAX = 80
"""Texts that a schema limits to so many characters, or whose form it says, are drawn in one line."""


def grow(sheet: Sheet, slot: Slot) -> Field | None:
    """The field of a place with all fields below it; None for a locked place where there is nothing."""
    base = at(sheet.base, slot.origin)
    view = View(sheet.tool, sheet.base, slot.pointer, slot.name, slot.node, base, slot.known, slot.wanted, slot.index)
    locked = sheet.lock(view)
    if locked and base is ABSENT:
        return None
    sheet.fields += 1
    sheet.room -= 1
    if locked:
        return Field(
            slot.pointer,
            slot.origin,
            "locked",
            view,
            view.flat,
            "",
            sheet.fields,
            locked=locked,
            entry=slot.index is not None,
        )
    return _grown(sheet, slot, view)


def base_text(one: Field) -> str | None:
    """The text of the control if nobody touches it; None where the value it began with is of another alternative."""
    if not began_here(one):
        return None
    value = one.view.value
    match one.control:
        case "text" | "lines":
            return str(value).replace("\r\n", "\n").replace("\r", "\n")
        case "money":
            return money.figures(value, one.code) if isinstance(value, int) else shapes.written(value)
        case "number" | "choice":
            return shapes.written(value)
        case "raw":
            return kept.text(one.view, one.origin or "")
    return ""


def began_here(one: Field) -> bool:
    """Whether the value that the field began with is of the alternative that is drawn now."""
    if one.view.value is ABSENT:
        return False
    return one.state == RAW or (one.view.fit is not None and one.state == str(one.view.fit))


def _grown(sheet: Sheet, slot: Slot, view: View) -> Field:
    state = _state(sheet, slot, view)
    flat = view.choices[int(state)] if state.isdigit() else view.flat
    control = "absent" if state == ABSENT_STATE else _control(sheet, view, flat, state)
    one = Field(slot.pointer, slot.origin, control, view, flat, state, sheet.fields, entry=slot.index is not None)
    one.removable = slot.removable
    if control == "absent":
        return one
    one.choices = _choices(view, state) if sheet.opens(slot.pointer) else ()
    _GROW.get(control, _grow_text)(sheet, one)
    return one


def _state(sheet: Sheet, slot: Slot, view: View) -> str:
    drawn = sheet.posted.take("d", slot.pointer)
    sent = sheet.posted.take("s", slot.pointer)
    if sent is None:
        return _first_state(sheet, slot, view)
    if drawn is not None and drawn != sent:
        sheet.posted.spend(slot.pointer)
    if not sheet.opens(slot.pointer) and sent != _first_state(sheet, slot, view):
        sheet.refuse(slot.pointer, "locked", sheet.rule)
        return _first_state(sheet, slot, view)
    if sent == NEW:
        return str(view.preferred) if shapes.kind(view.choices[view.preferred]) != "raw" else RAW
    if sent == RAW or (sent == ABSENT_STATE and slot.removable):
        return sent
    if is_index(sent) and int(sent) < len(view.choices):
        return sent
    sheet.refuse(slot.pointer, "form", "The form asks for something this field cannot be. Load the page again.")
    return _first_state(sheet, slot, view)


def _first_state(sheet: Sheet, slot: Slot, view: View) -> str:
    if view.value is ABSENT:
        if slot.index is not None or (slot.fresh and slot.wanted):
            return str(view.preferred) if _depth(slot.pointer) <= DEPTH_MAX else RAW
        return ABSENT_STATE
    if view.fit is None or shapes.kind(view.flat) == "raw":
        return RAW
    if isinstance(view.value, dict | list) and slot.pointer:
        return RAW if _depth(slot.pointer) > DEPTH_MAX or size(view.value) > sheet.room else str(view.fit)
    return str(view.fit)


def _depth(pointer: str) -> int:
    return pointer.count("/")


def _control(sheet: Sheet, view: View, flat: Node, state: str) -> Control:
    kind = shapes.kind(flat) if state != RAW else "raw"
    if kind == "null":
        return "null"
    if view.covered or view.secret:
        return "secret" if kind not in ("list", "object") or view.covered else "object"
    match kind:
        case "text":
            return "text" if _one_line(flat, view.value) else "lines"
        case "number":
            return "money" if sheet.code(view.pointer) and flat.get("type") == "integer" else "number"
        case "boolean" | "enum":
            return "choice"
        case "const":
            return "fixed"
        case "list":
            return "list"
        case "object":
            return "object"
    return "raw"


def _one_line(flat: Node, value: Any) -> bool:
    limit = flat.get("maxLength")
    said = "format" in flat or "pattern" in flat or (isinstance(limit, int) and limit <= ONE_LINE_MAX)
    return said and not (isinstance(value, str) and ("\n" in value or "\r" in value))


def _choices(view: View, state: str) -> tuple[Option, ...]:
    """The alternatives to choose from; a form that fell back to raw JSON offers the ones it can draw as well."""
    options = [Option(str(index), shapes.label(flat), state == str(index)) for index, flat in enumerate(view.choices)]
    if state == RAW:
        drawable = [one for one, flat in zip(options, view.choices, strict=True) if shapes.kind(flat) != "raw"]
        options = [Option(RAW, "JSON", True), *drawable] if drawable else []
    return tuple(options) if len(options) > 1 else ()


def _grow_text(sheet: Sheet, one: Field) -> None:
    one.code = sheet.code(one.pointer) if one.control == "money" else ""
    sent = sheet.posted.take("f", one.pointer)
    one.posted = sent is not None
    one.text = sent if sent is not None else base_text(one) or ""
    if one.control == "choice":
        one.options = _options(one)


def _options(one: Field) -> tuple[Option, ...]:
    values = one.flat["enum"] if isinstance(one.flat.get("enum"), list) else [True, False]
    texts = [shapes.written(value) for value in values]
    options = [Option(text, _word(value), text == one.text) for text, value in zip(texts, values, strict=True)]
    if one.text and one.text not in texts:
        options.insert(0, Option(one.text, f"{one.text} (not one of the options)", True))
    return tuple(options if any(option.chosen for option in options) else [Option("", "Choose one", True), *options])


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "Yes" if value else "No"
    return shapes.plain(value)


def _grow_secret(sheet: Sheet, one: Field) -> None:
    replaced = sheet.posted.take("t", one.pointer) is not None
    if replaced or not began_here(one):
        sent = sheet.posted.take("f", one.pointer)
        one.posted, one.text = True, sent or ""


def _grow_nothing(sheet: Sheet, one: Field) -> None:
    """Null and a fixed value have no control of their own."""


def _grow_list(sheet: Sheet, one: Field) -> None:
    base = one.view.value if isinstance(one.view.value, list) and began_here(one) else []
    free = sheet.opens(one.pointer)
    one.grows = "entry" if free else ""
    sent = sheet.posted.entries(one.pointer) if free else None
    tokens = [str(index) for index in range(len(base))] if sent is None else sent
    for place, token in enumerate(tokens):
        origin = below(one.origin or "", token) if is_index(token) and int(token) < len(base) else None
        if origin is None and token != "+":
            sheet.refuse(one.pointer, "form", "The form names an entry that was not there. Load the page again.")
        node = shapes.entry(one.flat, place)
        slot = Slot(below(one.pointer, place), origin, one.view.name, node, index=place, fresh=origin is None)
        if child := grow(sheet, slot):
            child.removable = free
            one.children.append(child)


def _grow_object(sheet: Sheet, one: Field) -> None:
    base = _members_before(sheet, one)
    free = sheet.opens(one.pointer)
    one.grows = "member" if free and shapes.is_open(one.flat) else ""
    one.new_name = sheet.posted.take("k", one.pointer) or ""
    for name in _names(sheet, one, base):
        node, known = shapes.member(one.flat, name)
        wanted = name in shapes.required(one.flat)
        origin = below(one.origin or "", name) if name in base else None
        fresh = one.view.value is ABSENT or not began_here(one)
        place = below(one.pointer, name)
        removable = not wanted and sheet.opens(place)
        slot = Slot(place, origin, name, node, known, wanted, removable, fresh=fresh)
        if child := grow(sheet, slot):
            (one.absent if _is_gap(child) else one.children).append(child)


def _members_before(sheet: Sheet, one: Field) -> Mapping[str, Any]:
    """What the object's members begin with; of another alternative those that both know and that fit here too."""
    before = one.view.value
    if not isinstance(before, dict) or began_here(one):
        return before if isinstance(before, dict) else {}
    shared = [one.view.member(one.flat, name) for name in shapes.names(one.flat) if name in before]
    return {member.name: member.value for member in shared if member.fit is not None}


def _is_gap(child: Field) -> bool:
    """Whether the field was not there and is not there; one that was removed keeps its row."""
    return child.control == "absent" and child.origin is None


def _names(sheet: Sheet, one: Field, base: Mapping[str, Any]) -> Iterator[str]:
    declared = dict.fromkeys([*shapes.names(one.flat), *sorted(base)])
    yield from declared
    for name in sheet.posted.members(one.pointer):
        pattern_known = shapes.member(one.flat, name)[1] and bool(one.flat.get("patternProperties"))
        if name not in declared and (shapes.is_open(one.flat) or pattern_known):
            yield name


_GROW: dict[str, Callable[[Sheet, Field], None]] = {
    "list": _grow_list,
    "object": _grow_object,
    "secret": _grow_secret,
    "null": _grow_nothing,
    "fixed": _grow_nothing,
}
