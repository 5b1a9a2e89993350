"""What will run, row by row: every argument in full, typed, with its note. Nothing is left out and nothing is cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from approvals.edits import marks, view
from approvals.edits.difference import Change, difference, inline_view
from approvals.edits.display import Shown
from approvals.edits.marks import Segment
from approvals.edits.view import Tool, View

LOOK_ALIKE = "Another name here looks the same."


@dataclass(frozen=True)
class Argument:
    """One row of the table. ``depth`` is its indent; ``known`` is false for a field that the schema does not name.

    ``change`` is what became of it since the revision it is compared with; a removed argument has a row of its own.
    """

    pointer: str
    name: tuple[Segment, ...]
    depth: int
    shown: Shown
    title: str = ""
    known: bool = True
    warnings: tuple[str, ...] = ()
    change: Change | None = None

    @property
    def removed(self) -> bool:
        return self.change is not None and self.change.kind == "removed"

    @property
    def container(self) -> bool:
        """Whether rows of its members follow."""
        return self.shown.kind in ("object", "list") and self.shown.segments[:1] != (Segment("["),)


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
    return sum(1 for row in rows if row.shown.secret)


class _Changes:
    """Changes by the place that shows them."""

    def __init__(self, changes: list[Change]) -> None:
        self.at = {change.pointer: change for change in changes if change.kind != "removed"}
        self.gone: dict[str, list[Change]] = {}
        for change in changes:
            self.gone.setdefault(change.under, []).extend([change] if change.kind == "removed" else [])


def _rows(place: View, depth: int, changes: _Changes, *warnings: str) -> Iterator[Argument]:
    in_one = None if place.pointer in changes.gone else inline_view(place)
    shown = in_one or place.shown
    if depth >= 0:
        yield _row(place, shown, depth, changes.at.get(place.pointer), warnings)
    if in_one or place.secret:
        return
    twins = view.look_alikes(place.value) if isinstance(place.value, dict) else ()
    for child in place.children():
        yield from _rows(child, depth + 1, changes, *([LOOK_ALIKE] if child.name in twins else []))
    for gone in changes.gone.get(place.pointer, ()):
        yield _gone(gone, depth + 1)


def _gone(change: Change, depth: int) -> Argument:
    """The row of something that was removed."""
    name = change.name.rpartition(" › ")[2]
    shown = change.before or Shown("null", ())
    return Argument(change.pointer, marks.segments(name), depth, shown, change=change)


def _row(place: View, shown: Shown, depth: int, change: Change | None, warnings: tuple[str, ...]) -> Argument:
    title = place.flat.get("title")
    return Argument(
        pointer=place.pointer,
        name=marks.segments(place.called),
        depth=depth,
        shown=shown,
        title=title if isinstance(title, str) else "",
        known=place.known,
        warnings=warnings,
        change=change,
    )
