"""What will run, row by row: every argument in full, typed, with its note. Nothing is left out and nothing is cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from approvals.edits import marks, view
from approvals.edits.difference import Change, difference, inline_view
from approvals.edits.display import Shown
from approvals.edits.marks import Segment
from approvals.edits.places import within
from approvals.edits.view import Tool, View
from approvals.ledger import canonical

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

    With ``before`` (the arguments they are compared with) rows carry their changes, and what was removed has its row.
    """
    changes = difference(before, args, tool) if before is not None else []
    rows = list(_rows(view.root(tool, args), -1, changes))
    for change in (change for change in changes if change.kind == "removed"):
        _insert(rows, change)
    return rows


def below(place: View) -> list[Argument]:
    """The rows of what stands inside a list or an object; none for anything else."""
    return [row for child in place.children() for row in _rows(child, 0, [])] if not place.secret else []


def masked_count(rows: list[Argument]) -> int:
    """How many of the rows hide a secret."""
    return sum(1 for row in rows if row.shown.secret)


def _rows(place: View, depth: int, changes: list[Change], *warnings: str) -> Iterator[Argument]:
    in_one = None if any(change.under == place.pointer for change in changes) else inline_view(place)
    shown = in_one or place.shown
    if depth >= 0:
        yield _row(place, shown, depth, changes, warnings)
    if in_one or place.secret:
        return
    twins = view.look_alikes(place.value) if isinstance(place.value, dict) else ()
    for child in place.children():
        yield from _rows(child, depth + 1, changes, *([LOOK_ALIKE] if child.name in twins else []))


def _row(place: View, shown: Shown, depth: int, changes: list[Change], warnings: tuple[str, ...]) -> Argument:
    change = next((one for one in changes if one.pointer == place.pointer and one.kind != "removed"), None)
    title = place.flat.get("title")
    return Argument(
        pointer=place.pointer,
        name=marks.segments(_name(place.pointer, place.name)),
        depth=depth,
        shown=shown,
        title=title if isinstance(title, str) else "",
        known=place.known,
        warnings=warnings,
        change=change,
    )


def _name(pointer: str, name: str) -> str:
    """What a row is called: a member by its name, an entry of a list by its number, counted from 1."""
    last = canonical.split(pointer)[-1]
    return name if last == name else f"entry {int(last) + 1}"


def _insert(rows: list[Argument], change: Change) -> None:
    """Put the row of a removed argument after the last row of what it stood in."""
    inside = [index for index, row in enumerate(rows) if within(row.pointer, (change.under,))]
    depth = next((row.depth + 1 for row in rows if row.pointer == change.under), 0)
    shown = change.before
    if shown is not None:
        name = marks.segments(change.name.rpartition(" › ")[2])
        removed = Argument(change.pointer, name, depth, shown, change=change)
        rows.insert(inside[-1] + 1 if inside else len(rows), removed)
