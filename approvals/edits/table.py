"""What will run, row by row: every argument in full, typed, with its note. Nothing is left out and nothing is cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from approvals.edits import marks, view
from approvals.edits.difference import Change, difference, inline_view
from approvals.edits.display import Shown, joined
from approvals.edits.marks import Segment
from approvals.edits.places import size, within
from approvals.edits.texts import masked_text
from approvals.edits.view import Tool, View

ROWS_MAX = 2_000
"""A list or an object that would take more rows than are left of this is shown in one, as its JSON text in full."""
LOOK_ALIKE = "Another name here looks the same."


@dataclass(frozen=True)
class Argument:
    """One row of the table. ``depth`` is its indent; ``known`` is false for a field that the schema does not name.

    ``change`` is what became of it since the revision it is compared with; a removed argument has a row of its own.
    ``masked`` is how many secrets it covers.
    """

    pointer: str
    name: tuple[Segment, ...]
    depth: int
    shown: Shown
    title: str = ""
    known: bool = True
    warnings: tuple[str, ...] = ()
    change: Change | None = None
    masked: int = 0

    @property
    def removed(self) -> bool:
        return self.change is not None and self.change.kind == "removed"

    @property
    def container(self) -> bool:
        """Whether rows of its members follow."""
        inside = self.shown.segments[:1] == (Segment("["),) or self.shown.prose
        return self.shown.kind in ("object", "list") and not inside


def table(args: Any, tool: Tool, *, before: Any = None) -> list[Argument]:
    """The rows of these arguments, in the schema's order, the required first, unknown ones last.

    With ``before`` (the arguments they are compared with) rows carry their changes, and what was removed has its row
    after the rest of what it stood in.
    """
    changes = difference(before, args, tool) if before is not None else []
    return list(_rows(view.root(tool, args), -1, _Changes(changes)))


def below(place: View) -> list[Argument]:
    """The rows of what stands inside a list or an object; none for anything else."""
    return [row for child in place.children() for row in _rows(child, 0, _Changes([]))] if not place.secret else []


def masked_count(rows: list[Argument]) -> int:
    """How many of the rows hide a secret."""
    return sum(row.masked for row in rows)


class _Changes:
    """Changes by the place that shows them, and how many rows there is still room for."""

    def __init__(self, changes: list[Change]) -> None:
        self.room = ROWS_MAX
        self.at = {change.pointer: change for change in changes if change.kind != "removed"}
        self.gone: dict[str, list[Change]] = {}
        for change in changes:
            self.gone.setdefault(change.under, []).extend([change] if change.kind == "removed" else [])


def _rows(place: View, depth: int, changes: _Changes, *warnings: str) -> Iterator[Argument]:
    in_one = None if place.pointer in changes.gone else inline_view(place)
    if in_one is None and _is_too_much(place, changes):
        in_one = _as_json(place)
    shown = in_one or place.shown
    changes.room -= 1
    if depth >= 0:
        yield _row(place, shown, depth, changes.at.get(place.pointer), warnings)
    if in_one or place.secret:
        return
    twins = view.look_alikes(place.value) if isinstance(place.value, dict) else ()
    for child in place.children():
        yield from _rows(child, depth + 1, changes, *([LOOK_ALIKE] if child.name in twins else []))
    for gone in changes.gone.get(place.pointer, ()):
        yield _gone(gone, depth + 1)


def _is_too_much(place: View, changes: _Changes) -> bool:
    """Whether the rows of a list or an object would be too many. What changed inside of it is shown by rows anyway."""
    if not isinstance(place.value, list | dict) or place.secret or size(place.value) <= changes.room:
        return False
    return bool(place.pointer) and not any(within(under, (place.pointer,)) for under in changes.gone)


def _as_json(place: View) -> Shown:
    """A list or an object with everything in it as one text."""
    kind = "list" if isinstance(place.value, list) else "object"
    note = joined(f"{kind} of {len(place.value):,}", "as JSON")
    return Shown(kind, marks.segments(masked_text(place)), note, prose=True)


def _gone(change: Change, depth: int) -> Argument:
    """The row of something that was removed."""
    name = change.name.rpartition(" › ")[2]
    shown = change.before or Shown("null", ())
    return Argument(change.pointer, marks.segments(name), depth, shown, change=change)


def _row(place: View, shown: Shown, depth: int, change: Change | None, warnings: tuple[str, ...]) -> Argument:
    title = place.flat.get("title")
    whole = shown.prose and isinstance(place.value, list | dict)
    return Argument(
        pointer=place.pointer,
        name=marks.segments(place.called),
        depth=depth,
        shown=shown,
        title=title if isinstance(title, str) else "",
        known=place.known,
        warnings=warnings,
        change=change,
        masked=len(list(view.hidden(place))) if whole or shown.secret else 0,
    )
