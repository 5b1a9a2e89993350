"""A value as the lines of a tree, or two as one tree with their difference: bounded, and nothing left out unsaid.

What is not on the page is a line that says how much it is and leads there. Secrets are masked as everywhere, and said
to have changed, never how.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from approvals.edits import marks, view
from approvals.edits.display import Shown, counted, joined
from approvals.edits.marks import Segment
from approvals.edits.places import ABSENT, is_index
from approvals.edits.sides import (
    ADDED,
    REMOVED,
    Pair,
    are_branches,
    entries_of,
    grown,
    here,
    is_branch,
    name_of,
    same,
    sign_of,
    size_of,
    values_up_to,
    was_at,
    where_they_part,
)
from approvals.edits.view import Tool, View
from approvals.ledger import canonical

LINES_MAX: Final = 400
"""So many lines are unfolded on one page; behind them a branch is one line that leads to it."""
ENTRIES_MAX: Final = 100
"""So many entries of one object or list stand on a page; the next page goes on behind them."""
BRANCH_MAX: Final = 60
"""A branch that nothing happened to is folded on the page with at most so many values in it, else leads to its own."""
QUIET_MAX: Final = 3
"""More unchanged entries than this in a row are one line that counts them."""
TEXT_MAX: Final = 2_000
"""So many characters of a text stand in its line."""
PART: Final = 20_000
"""So many characters of a text stand on the page that is about it alone."""

Kind = Literal["value", "branch", "end", "same", "rest"]


@dataclass(frozen=True)
class Line:
    """One line. ``sign`` is + or − for what only one side has; ``size`` is a branch's, as ``{3}`` or ``[14]``.

    A ``branch`` begins what ends with an ``end``, unless it ``leads``: then what is in it stands on a page of its own,
    ``pointer`` (and ``was`` before) being its address there. ``same`` counts entries that are unchanged, ``rest`` those
    behind ``after`` on the next page.
    """

    kind: Kind
    pointer: str = ""
    was: str = ""
    depth: int = 0
    name: tuple[Segment, ...] = ()
    sign: str = ""
    size: str = ""
    shown: Shown | None = None
    note: str = ""
    open: bool = False
    leads: bool = False
    after: int = 0


@dataclass(frozen=True)
class Tree:
    """The lines of a page, and how many places differ on it. ``where`` is the way to the place that it is about."""

    lines: list[Line]
    where: list[tuple[str, tuple[Segment, ...]]]
    changed: int


def grow(before: Any, after: Any, *, at: str = "", was: str | None = None, skip: int = 0) -> Tree | None:
    """What differs between two values at a place (in the older one at ``was``), from the entry or the character
    ``skip`` on. ``before`` is ABSENT where the newer one is to be shown by itself. None where nothing is there."""
    old = None if before is ABSENT else _down(before, at if was is None else was)
    new = _down(after, at)
    if old is None and new is None:
        return None
    walk = _Walk(compare=before is not ABSENT)
    walk.place((old, new), max(skip, 0))
    return Tree(walk.lines, _where(at), walk.changed)


def _down(value: Any, pointer: str) -> View | None:
    """A place of a value, or None where there is none, or where it lies inside of a secret."""
    place = view.root(Tool({}), value)
    try:
        parts = canonical.split(pointer)
    except ValueError:
        return None
    for part in parts:
        if place.secret:
            return None
        if isinstance(place.value, dict) and part in place.value:
            place = place.member(place.flat, part)
        elif isinstance(place.value, list) and is_index(part) and int(part) < len(place.value):
            place = place.entry(place.flat, int(part))
        else:
            return None
    return place


def _where(pointer: str) -> list[tuple[str, tuple[Segment, ...]]]:
    parts = canonical.split(pointer)
    return [(canonical.join(parts[: end + 1]), marks.segments(part)) for end, part in enumerate(parts)]


class _Walk:
    """Collects the lines of one page. A ``sign`` of None is still to be found out, by which sides a place has."""

    def __init__(self, *, compare: bool) -> None:
        self.compare, self.lines, self.changed = compare, list[Line](), 0

    def place(self, pair: Pair, skip: int) -> None:
        """What the page is about: its entries, or its text from a character on."""
        if are_branches(pair):
            self._entries(pair, 0, None if self.compare else "", skip)
        else:
            self._differing(pair, 0, PART, skip)

    def _entries(self, pair: Pair, depth: int, sign: str | None, skip: int = 0) -> None:
        """The entries of a branch, a bounded number of them; the unchanged ones are counted where there are many."""
        listed, quiet, shown, end = list(entries_of(*pair)), list[Pair](), 0, skip
        for each in listed[skip:]:
            if shown >= ENTRIES_MAX:
                break
            end += 1
            if sign is None and same(*each):
                quiet.append(each)
                continue
            shown += self._quiet(quiet, depth, pair) + 1
            quiet = []
            self._one(each, depth, sign)
        self._quiet(quiet, depth, pair)
        if end < len(listed):
            told = counted(len(listed) - end, "more entry", "more entries")
            self.lines.append(Line("rest", here(pair).pointer, was_at(pair), depth, note=told, after=end))

    def _quiet(self, quiet: list[Pair], depth: int, pair: Pair) -> int:
        """Entries in a row that are the same on both sides; how many lines they took."""
        if len(quiet) <= QUIET_MAX:
            for each in quiet:
                self._whole(here(each), depth, "", "unchanged")
            return len(quiet)
        told = f"{counted(len(quiet), 'entry', 'entries')} unchanged"
        self.lines.append(Line("same", here(pair).pointer, was_at(pair), depth, note=told))
        return 1

    def _one(self, pair: Pair, depth: int, sign: str | None) -> None:
        if None not in pair and are_branches(pair):
            self._branch(pair, depth, fits=len(self.lines) < LINES_MAX)
        elif None not in pair:
            self._differing(pair, depth, TEXT_MAX)
        else:
            self.changed += sign is None
            self._whole(here(pair), depth, sign_of(pair) if sign is None else sign)

    def _branch(self, pair: Pair, depth: int, *, fits: bool) -> None:
        """A branch that both sides have, with what differs in it."""
        place = here(pair)
        head = Line("branch", place.pointer, was_at(pair), depth, name_of(place), size=size_of(place), note=grown(pair))
        self.lines.append(replace(head, open=True, leads=not fits))
        if fits:
            self._entries(pair, depth + 1, None)
            self.lines.append(Line("end"))
        else:
            self.changed += 1

    def _whole(self, place: View, depth: int, sign: str, note: str = "") -> None:
        """A place of one side, or one that is the same on both: a branch is open if it is news, and not too large."""
        if not is_branch(place):
            self.lines.append(_value(place, depth, sign))
            return
        room = LINES_MAX - len(self.lines)
        most = room if sign else min(BRANCH_MAX, room)
        head = Line("branch", place.pointer, "", depth, name_of(place), sign, size_of(place), note=note, open=not note)
        if not place.value:
            self.lines.append(replace(head, kind="value", note="empty"))
        elif values_up_to(place.value, most) > most:
            self.lines.append(replace(head, leads=True))
        else:
            self.lines.append(head)
            self._entries((place, None) if sign == REMOVED else (None, place), depth + 1, sign)
            self.lines.append(Line("end"))

    def _differing(self, pair: Pair, depth: int, most: int, start: int = 0) -> None:
        """A value that is not the same on both sides, or all that the page is about."""
        old, new = pair
        both = old is not None and new is not None
        if both and same(old, new):
            old = None
        elif self.compare:
            self.changed += 1
        start = start or where_they_part(old, new, most)
        for place, sign in ((old, REMOVED), (new, ADDED)):
            if place is not None and is_branch(place):
                self._whole(place, depth, sign if self.compare else "")
            elif place is not None:
                told = sign if self.compare and not (both and old is None) else ""
                self.lines.append(_value(place, depth, told, most, start))


def _value(place: View, depth: int, sign: str, most: int = TEXT_MAX, start: int = 0) -> Line:
    """A value on a line; of a long text a part, and where it goes on."""
    line = Line("value", place.pointer, "", depth, name_of(place), sign, shown=place.shown, note=place.shown.note)
    if place.secret:
        return replace(line, note=f"{place.shown.note}: {place.secret}")
    if not isinstance(place.value, str) or (not start and len(place.value) <= most):
        return line
    end = start + most
    left = max(len(place.value) - end, 0)
    told = joined(f"{start:,} characters before" if start else "", f"{counted(left, 'character')} more" if left else "")
    shown = replace(replace(place, value=place.value[start:end]).shown, note="", prose=True)
    return replace(line, shown=shown, note=told, leads=True, after=end if left else 0)
