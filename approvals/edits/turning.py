"""A change that is not saved yet, taken from the form to JSON text and back: nothing of it is lost on the way.

Each way is tried and read back: where what comes out is not what went in there is no way, and the change stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from approvals.edits import money, reading, view
from approvals.edits.field import Field
from approvals.edits.kept import KEPT
from approvals.edits.places import ABSENT, at, below
from approvals.edits.posted import ABSENT_STATE, RAW
from approvals.edits.reading import Edited
from approvals.edits.shapes import same, written
from approvals.edits.texts import pretty
from approvals.edits.view import Tool, View
from approvals.ledger import canonical

Name = tuple[str, str]


def to_text(edited: Edited, tool: Tool, base: Any, *, editable: Collection[str] | None = None) -> Edited | None:
    """The same change as JSON text; None if something is to be mended first, or if a secret was replaced or moved:
    no text shows it."""
    if edited.faults or any(not _is_kept(one, edited.value, base) for one in view.secrets(edited.value, tool)):
        return None
    text = _text(view.root(tool, edited.value), base)
    read = reading.read_raw(text, tool, base, editable=editable, save=False)
    return read if _means(read, edited.value) else None


def to_form(
    edited: Edited, tool: Tool, base: Any, *, editable: Collection[str] | None, rule: str, before: str
) -> Edited | None:
    """The same change in the form; None if something is to be mended first, or if the form cannot hold it."""
    if edited.faults:
        return None
    drawn = reading.fields(tool, base, editable=editable)
    fields = {one.pointer: one for one in drawn.root.walk()}
    sent = {name: [text] for name, text in _names(view.root(tool, edited.value), base, fields)}
    read = reading.read({**sent, "do": ["check"]}, tool, base, editable=editable, rule=rule, before=before)
    return read if _means(read, edited.value) else None


def _means(read: Edited, value: Any) -> bool:
    return not read.faults and same(read.value, value)


def _is_kept(pointer: str, value: Any, base: Any) -> bool:
    """Whether a secret stands where it stood, and is what it was."""
    before = at(base, pointer)
    return before is not ABSENT and same(before, at(value, pointer))


def _text(place: View, base: Any) -> str:
    """The JSON text of a place, each secret that is as it was as a mark that keeps it."""

    def cover(inner: View) -> str | None:
        if inner.secret and same(at(base, inner.pointer), inner.value):
            return canonical.encode({KEPT: inner.pointer}).decode()
        return None

    return pretty(place, cover)


def _names(place: View, base: Any, fields: dict[str, Field]) -> Iterator[Name]:
    """What a browser would send had somebody made the change in the form, for every place that it touches."""
    before = at(base, place.pointer)
    if before is not ABSENT and same(before, place.value):
        return
    if isinstance(before, dict) and isinstance(place.value, dict):
        for name in before:
            if name not in place.value:
                yield f"s:{below(place.pointer, name)}", ABSENT_STATE
        for child in place.children():
            yield from _names(child, base, fields)
    elif (text := _typed(fields.get(place.pointer), place.value)) is not None:
        yield f"f:{place.pointer}", text
    else:
        yield f"s:{place.pointer}", RAW
        yield f"f:{place.pointer}", _text(place, base)


def _typed(one: Field | None, value: Any) -> str | None:
    """What somebody would type into the field for this value; None where it is no field for such a value."""
    if one is None or isinstance(value, dict | list) or value is None:
        return None
    match one.control:
        case "text" | "lines":
            return value if isinstance(value, str) else None
        case "number":
            return written(value) if type(value) in (int, float) else None
        case "money":
            return money.figures(value, one.code) if type(value) is int else None
        case "choice":
            return written(value)
    return None
