"""What an edit changed: by place, in both forms, word by word in prose. Secrets are said to have changed, never how."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal

from approvals.edits import marks, view
from approvals.edits.alignment import Block, blocks, ends
from approvals.edits.display import Shown, inline
from approvals.edits.marks import Segment
from approvals.edits.places import ABSENT
from approvals.edits.shapes import Node, same
from approvals.edits.texts import masked_text
from approvals.edits.view import Tool, View
from approvals.ledger import canonical

ALIKE = 0.5
"""Two entries of a list that share so much are one entry that was changed, else one was removed and one added."""
PAIRS_MAX = 10_000
"""Stretches of lists that make more pairs than this are compared place by place, so that time stays linear."""
HEAD = 200
"""So much of a text, in characters, says whether it is like another."""
FOLD_FROM = 240

_WORD = re.compile(r"\w+[^\S\n]*|[^\w\s][^\S\n]*|\s+")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class Piece:
    """A stretch of a text: ``same`` in both, ``del`` in the old one only, ``ins`` in the new one only."""

    kind: Literal["same", "del", "ins"]
    text: str

    @property
    def segments(self) -> tuple[Segment, ...]:
        return marks.segments(self.text)

    @property
    def folded(self) -> tuple[Segment, ...]:
        """As ``segments``, but the middle of a long unchanged stretch is only counted."""
        left_out = len(self.text) - FOLD_FROM // 2
        if self.kind != "same" or len(self.text) <= FOLD_FROM:
            return self.segments
        edge = FOLD_FROM // 4
        middle = Segment(f"{left_out:,} unchanged characters", "gap")
        return (*marks.segments(self.text[:edge]), middle, *marks.segments(self.text[-edge:]))


@dataclass(frozen=True)
class Change:
    """One change at a place of the new arguments (of the old ones, if it was removed).

    ``was`` is where it stood before, ``under`` the pointer of what holds it in the new arguments; ``pieces`` are given
    for prose. Either side is None where there was nothing.
    """

    pointer: str
    was: str | None
    under: str
    name: str
    kind: Literal["added", "removed", "changed"]
    before: Shown | None
    after: Shown | None
    pieces: tuple[Piece, ...] = ()

    @property
    def label(self) -> tuple[Segment, ...]:
        """The place in words: ``items › 2 › quantity``; entries are counted from 1."""
        return marks.segments(self.name)


def difference(before: Any, after: Any, tool: Tool) -> list[Change]:
    """The changes from one JSON value to another, in reading order; none for equal values, however written."""
    if same(before, after):
        return []
    return list(_compare(view.root(tool, before), view.root(tool, after), ""))


def words(before: str, after: str) -> tuple[Piece, ...]:
    """Two texts as one, word by word; by lines where they have little in common. Every character of both is there."""
    for taken in (_WORD.findall, _LINE.findall):
        olds, news = taken(before), taken(after)
        if found := blocks(olds, news):
            break
    else:
        found = ends(olds, news)
    return tuple(_pieces(found, olds, news))


def _pieces(found: list[Block], olds: Sequence[str], news: Sequence[str]) -> Iterator[Piece]:
    for equal, a, b, c, d in found:
        if equal:
            yield Piece("same", "".join(olds[a:b]))
            continue
        if b > a:
            yield Piece("del", "".join(olds[a:b]))
        if d > c:
            yield Piece("ins", "".join(news[c:d]))


def aligned(before: Sequence[Any], after: Sequence[Any]) -> Iterator[tuple[int | None, int | None]]:
    """Which entries of two lists belong together, changed or not: pairs of indexes, None for those of one list only."""
    olds, news = ([canonical.encode(entry) for entry in entries] for entries in (before, after))
    for equal, a, b, c, d in blocks(olds, news) or ends(olds, news):
        if equal:
            yield from zip(range(a, b), range(c, d), strict=True)
        else:
            yield from _paired(before, after, range(a, b), range(c, d))


def _paired(
    before: Sequence[Any], after: Sequence[Any], olds: range, news: range
) -> Iterator[tuple[int | None, int | None]]:
    """Entries within a changed stretch: each old one with the most alike of the new ones that follow, if any is."""
    if len(olds) == len(news) or len(olds) * len(news) > PAIRS_MAX:
        common = min(len(olds), len(news))
        yield from zip(olds[:common], news[:common], strict=True)
        yield from ((old, None) for old in olds[common:])
        yield from ((None, new) for new in news[common:])
        return
    left, parts = news.start, {new: _parts(after[new]) for new in news}
    for old in olds:
        likeness = partial(_likeness, _parts(before[old]))
        new = max(range(left, news.stop), key=lambda index: likeness(parts[index]), default=None)
        if new is None or likeness(parts[new]) < ALIKE:
            yield old, None
            continue
        yield from ((None, added) for added in range(left, new))
        yield old, new
        left = new + 1
    yield from ((None, added) for added in range(left, news.stop))


Parts = tuple[type, frozenset[Any]]
"""What is compared of an entry: its type, and the members of an object, or each two characters that follow another in a
text. Set beside set, a long list of long texts takes no longer than its length squared."""


def _parts(value: Any) -> Parts:
    if isinstance(value, dict):
        return dict, frozenset((name, canonical.encode(inner)) for name, inner in value.items())
    if isinstance(value, str):
        head = value[:HEAD]
        return str, frozenset(map("".join, pairwise(head))) or frozenset({head})
    return type(value), frozenset({canonical.encode(value)})


def _likeness(old: Parts, new: Parts) -> float:
    """From 0 to 1; an object by its larger side, since one that has much more is another."""
    (kind, ours), (other, theirs) = old, new
    if kind is not other:
        return 0.0
    whole = max(len(ours), len(theirs)) if kind is dict else (len(ours) + len(theirs)) / 2
    return len(ours & theirs) / max(whole, 1)


def _compare(old: View, new: View, name: str, under: str = "") -> Iterator[Change]:
    if same(old.value, new.value):
        return
    if not (old.covered or new.covered):
        if isinstance(old.value, dict) and isinstance(new.value, dict):
            yield from _members(old, new, name)
            return
        if isinstance(old.value, list) and isinstance(new.value, list):
            yield from _entries(old, new, name)
            return
    yield _changed(old, new, name, under)


def _members(old: View, new: View, name: str) -> Iterator[Change]:
    flats = old.flat, new.flat
    for key in view.ordered(flats[1], {**old.value, **new.value}):
        pair = old.member(flats[0], key), new.member(flats[1], key)
        yield from _one(pair[0], pair[1], _named(name, key), new.pointer)


def _entries(old: View, new: View, name: str) -> Iterator[Change]:
    flats = old.flat, new.flat
    for one, other in aligned(old.value, new.value):
        place = _named(name, str((one or 0 if other is None else other) + 1))
        yield from _one(_entry(old, flats[0], one), _entry(new, flats[1], other), place, new.pointer)


def _entry(of: View, flat: Node, index: int | None) -> View | None:
    return None if index is None else of.entry(flat, index)


def _one(old: View | None, new: View | None, name: str, under: str) -> Iterator[Change]:
    if old is None or old.value is ABSENT:
        if new is not None:
            yield Change(new.pointer, None, under, name, "added", None, whole(new))
    elif new is None or new.value is ABSENT:
        yield Change(old.pointer, old.pointer, under, name, "removed", whole(old), None)
    else:
        yield from _compare(old, new, name, under)


def _named(name: str, part: str) -> str:
    return f"{name} › {part}" if name else part


def _changed(old: View, new: View, name: str, under: str) -> Change:
    before, after = whole(old), whole(new)
    pieces: tuple[Piece, ...] = ()
    if isinstance(old.value, str) and isinstance(new.value, str) and not (before.secret or after.secret):
        pieces = words(old.value, new.value) if before.prose or after.prose else ()
    return Change(new.pointer, old.pointer, under, name, "changed", before, after, pieces)


def whole(place: View) -> Shown:
    """A value in one piece: a container as its JSON text, with secrets masked."""
    if place.secret or not isinstance(place.value, list | dict) or not place.value:
        return place.shown
    return inline_view(place) or replace(place.shown, segments=marks.segments(masked_text(place)), prose=True)


def inline_view(place: View) -> Shown | None:
    """The place as a list in one row, unless it is too long for that or has a secret in it."""
    return None if any(child.secret for child in place.children()) else inline(place.value)
