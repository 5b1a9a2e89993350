"""The value that a form stands for. Nothing is coerced, trimmed or rounded; what nobody touched comes back as is."""

from __future__ import annotations

import re
from typing import Any

from approvals.edits import kept, money, shapes
from approvals.edits.field import Field
from approvals.edits.grow import base_text, began_here
from approvals.edits.places import ABSENT
from approvals.edits.sheet import Sheet
from approvals.ledger import canonical
from approvals.schemas import words

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


class Unfit(ValueError):
    """A text that is no value of its field: the rule, the sentence, and for raw JSON the place in it and the line."""

    def __init__(self, rule: str, message: str, pointer: str = "", line: int | None = None) -> None:
        super().__init__(message)
        self.rule, self.message, self.pointer, self.line = rule, message, pointer, line


def settle(sheet: Sheet, one: Field) -> Any:
    """The field's value, or ABSENT. Faults are noted in the sheet; a faulty field stands for what it was before."""
    one.value = _settled(sheet, one)
    old = one.view.value
    one.changed = (one.value is ABSENT) != (old is ABSENT) or (old is not ABSENT and not shapes.same(one.value, old))
    return one.value


def _settled(sheet: Sheet, one: Field) -> Any:
    match one.control:
        case "absent":
            return ABSENT
        case "locked":
            return one.view.value
        case "null":
            return None
        case "fixed":
            return one.flat["const"]
        case "list":
            return [value for child in one.children if (value := settle(sheet, child)) is not ABSENT]
        case "object":
            inner = {child.view.name: settle(sheet, child) for child in [*one.children, *one.absent]}
            return {name: value for name, value in inner.items() if value is not ABSENT}
    return _read(sheet, one)


def _read(sheet: Sheet, one: Field) -> Any:
    untouched = not one.posted or (one.control != "secret" and one.text == base_text(one))
    if untouched and began_here(one):
        return one.view.value
    try:
        return _parsed(sheet, one)
    except Unfit as unfit:
        if one.posted or sheet.strict:
            one.line = unfit.line
            sheet.refuse(one.pointer + unfit.pointer, unfit.rule, unfit.message)
        return one.view.value


def _parsed(sheet: Sheet, one: Field) -> Any:
    match one.control if one.control != "secret" else _secret_kind(one):
        case "text" | "lines":
            if "\x00" in one.text:
                raise Unfit("text", "A text cannot hold the character U+0000.")
            return _line_ends(one.text, one.view.value)
        case "money":
            return _money(one.text, one.code)
        case "number":
            return number(one.text, whole=one.whole)
        case "choice":
            return _choice(one)
    return raw(one.text, sheet, one)


def _secret_kind(one: Field) -> str:
    return {"text": "text", "number": "number"}.get(shapes.kind(one.flat) if one.state.isdigit() else "raw", "raw")


def number(text: str, *, whole: bool) -> int | float:
    """The number that a text stands for, by the grammar of JSON and nothing else. Raises Unfit."""
    if whole and not _INTEGER.fullmatch(text):
        raise Unfit("type", "Give a whole number in plain digits, such as 12." if text else "Give a whole number.")
    if not _NUMBER.fullmatch(text):
        raise Unfit("type", "Give a number in plain digits, such as 12 or 12.5." if text else "Give a number.")
    try:
        return canonical.parse(text)
    except canonical.Unrepresentable as fault:
        raise Unfit(fault.rule, fault.message) from None


def raw(text: str, sheet: Sheet, one: Field) -> Any:
    """The value of a JSON text, with the secrets that it keeps put back. Raises Unfit with the line."""
    if not text.strip():
        raise Unfit("syntax", "Give a JSON value.")
    try:
        return kept.restored(canonical.parse(text), sheet.base, one.view)
    except canonical.Unrepresentable as fault:
        place = f"Line {fault.line}: " if fault.line and "\n" in text else ""
        raise Unfit(fault.rule, f"{place}{fault.message}", fault.pointer, fault.line) from None
    except kept.Misplaced as fault:
        raise Unfit("masked", fault.message, fault.pointer.removeprefix(one.pointer)) from None


def _money(text: str, code: str) -> int:
    amount = money.minor(text, code)
    if amount is None:
        raise Unfit("type", f"Give an amount in {code} written out in full, such as {money.example(code)}.")
    return int(number(str(amount), whole=True))


def _choice(one: Field) -> Any:
    values = one.flat["enum"] if isinstance(one.flat.get("enum"), list) else [True, False]
    for value in values:
        if shapes.written(value) == one.text:
            return value
    if not one.text:
        raise Unfit("enum", "Choose one of the options.")
    raise Unfit("enum", f"Must be {words.any_of([shapes.plain(value) for value in values])}.")


def _line_ends(text: str, before: Any) -> str:
    """A browser knows one kind of line end: the text gets back the kind that the value had all through."""
    pairs = before.count("\r\n") if isinstance(before, str) else 0
    if pairs and isinstance(before, str) and pairs == before.count("\n") == before.count("\r"):
        return text.replace("\n", "\r\n")
    return text
