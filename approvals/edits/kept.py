"""Raw JSON with secrets in it: each stands as a mark that names its place, and comes back as the value it stands for.

The mark is ``{"$kept": "/pointer"}``, the pointer being that of the value in the revision being edited. It is taken
only where the value is masked again, in the same field: no edit can carry a secret to a place that shows it, or that
means another thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from approvals.edits import shapes, view
from approvals.edits.places import ABSENT, at, below, is_index
from approvals.edits.texts import pretty
from approvals.edits.view import View
from approvals.ledger import canonical

KEPT = "$kept"


class Misplaced(ValueError):
    """A mark that names nothing, or that stands where its secret would be seen."""

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(message)
        self.pointer, self.message = pointer, message


def text(place: View, origin: str) -> str:
    """The value as JSON text for editing. ``origin`` is where it stands in the revision being edited."""
    start = len(place.pointer)

    def cover(inner: View) -> str | None:
        if inner.secret or _is_mark(inner.value):
            return canonical.encode({KEPT: origin + inner.pointer[start:]}).decode()
        return None

    return pretty(place, cover)


def restored(value: Any, base: Any, place: View) -> Any:
    """The value with each mark replaced by what it stands for.

    ``base`` are the arguments being edited and ``place`` where the value shall stand. Raises Misplaced.
    """
    used: dict[str, str] = {}
    new = _restored(value, base, place.pointer, used)
    whole = _with(place.whole, canonical.split(place.pointer), new)
    _hold_covered(View(place.tool, whole, place.pointer, place.name, place.node, new, place.known), used, base)
    return new


def _with(whole: Any, way: Sequence[str], new: Any) -> Any:
    """All arguments with another value at the end of this way, as far as they lead there."""
    if not way:
        return new
    first, rest = way[0], way[1:]
    if isinstance(whole, dict):
        return whole | {first: _with(whole.get(first), rest, new)}
    if isinstance(whole, list) and is_index(first) and int(first) <= len(whole):
        index = int(first)
        return [*whole[:index], _with(whole[index] if index < len(whole) else None, rest, new), *whole[index + 1 :]]
    return whole


def _field(root: View, pointer: str) -> tuple[str | int | None, ...]:
    """The field at a pointer: names of members, None for whichever entry of a list, and the number of an entry that has
    a schema of its own. Only a list tells which of the two a number is. Raises ValueError where the value has no such
    place."""
    way: list[str | int | None] = []
    for part in canonical.split(pointer):
        if isinstance(root.value, list) and is_index(part) and int(part) < len(root.value):
            way.append(int(part) if int(part) < shapes.firsts(root.flat) else None)
            root = root.entry(root.flat, int(part))
        elif isinstance(root.value, dict) and part in root.value:
            way.append(part)
            root = root.member(root.flat, part)
        else:
            raise ValueError(pointer)
    return tuple(way)


def _same_field(place: View, origin: str, base: Any) -> bool:
    """Whether the origin in what is edited is the field that stands at this place now."""
    try:
        return _field(view.root(place.tool, base), origin) == _field(view.root(place.tool, place.whole), place.pointer)
    except ValueError:
        return False


def _is_mark(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {KEPT} and isinstance(value[KEPT], str)


def _restored(value: Any, base: Any, pointer: str, used: dict[str, str]) -> Any:
    if _is_mark(value):
        try:
            original = at(base, value[KEPT])
        except ValueError:
            original = ABSENT
        if original is ABSENT:
            raise Misplaced(pointer, f"{KEPT} names no value of the revision that you edit.")
        used[pointer] = value[KEPT]
        return original
    if isinstance(value, dict):
        return {name: _restored(inner, base, below(pointer, name), used) for name, inner in value.items()}
    if isinstance(value, list):
        return [_restored(inner, base, below(pointer, index), used) for index, inner in enumerate(value)]
    return value


def _hold_covered(place: View, used: dict[str, str], base: Any) -> None:
    """Refuse a mark at a place that does not mask it, unless what it stands for only has the form of a mark."""
    if place.pointer in used:
        origin = used[place.pointer]
        same_field = bool(place.secret) and _same_field(place, origin, base)
        if not same_field and not _is_mark(at(base, origin)):
            raise Misplaced(place.pointer, f"A kept secret stays in its own field; {KEPT} does not belong here.")
        return
    for child in place.children():
        _hold_covered(child, used, base)
