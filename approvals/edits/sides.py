"""A place of two values side by side: which sides have it, whether they are the same, and what is in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from os import path
from typing import Any, Final

from approvals.edits import marks, view
from approvals.edits.difference import aligned
from approvals.edits.marks import Segment
from approvals.edits.places import ABSENT
from approvals.edits.view import View

ADDED: Final = "+"
REMOVED: Final = "−"
Pair = tuple[View | None, View | None]


def where_they_part(old: View | None, new: View | None, most: int) -> int:
    """Where to begin with two long texts: a little before they differ."""
    texts = [each.value for each in (old, new) if each and isinstance(each.value, str) and not each.secret]
    if len(texts) < 2 or max(map(len, texts)) <= most:
        return 0
    common = path.commonprefix(texts)  # noqa: RUF071 - by characters, which is what is wanted
    return max(len(common) - 100, 0)


def here(pair: Pair) -> View:
    """The newer side of a place that has one."""
    place = pair[1] or pair[0]
    assert place is not None
    return place


def sign_of(pair: Pair) -> str:
    return ADDED if pair[0] is None else REMOVED


def are_branches(pair: Pair) -> bool:
    """Whether every side that there is has entries, and both the same kind."""
    sides = [each for each in pair if each is not None]
    return all(map(is_branch, sides)) and len({type(each.value) for each in sides}) == 1


def is_branch(place: View) -> bool:
    return isinstance(place.value, dict | list) and not place.secret


def entries_of(old: View | None, new: View | None) -> Iterator[Pair]:
    """The entries of one place on both sides: those of an object by name, those of a list by what they hold."""
    if old is None or new is None:
        place = old or new
        assert place is not None
        yield from ((each, None) if new is None else (None, each) for each in place.children())
    elif isinstance(new.value, dict):
        for name in view.ordered({}, {**old.value, **new.value}):
            sides = (each.member(each.flat, name) for each in (old, new))
            one, other = (None if each.value is ABSENT else each for each in sides)
            yield one, other
    else:
        for before, after in aligned(old.value, new.value):
            yield (
                None if before is None else old.entry(old.flat, before),
                None if after is None else new.entry(new.flat, after),
            )


def same(old: View | None, new: View | None) -> bool:
    """Whether both sides hold the same: quick where they do not, and exact where Python takes true for 1."""
    if old is None or new is None or old.value != new.value:
        return False
    one, other = (json.dumps(each.value, sort_keys=True) for each in (old, new))
    return one == other


def size_of(place: View) -> str:
    """How many entries it has, as JSON brackets them."""
    return f"{{{len(place.value):,}}}" if isinstance(place.value, dict) else f"[{len(place.value):,}]"


def values_up_to(value: Any, most: int) -> int:
    """How many values there are; one more than ``most`` where there are more."""
    waiting, found = [value], 0
    while waiting and found <= most:
        inner = waiting.pop()
        found += 1
        if isinstance(inner, dict | list):
            waiting.extend(islice(inner.values() if isinstance(inner, dict) else inner, most + 1))
    return found


def grown(pair: Pair) -> str:
    """How a list grew."""
    old, new = pair
    if old is None or new is None or not isinstance(new.value, list):
        return ""
    more = len(new.value) - len(old.value)
    return f"{more:,} new" if more > 0 and old.value == new.value[: len(old.value)] else ""


def was_at(pair: Pair) -> str:
    """Where it stood before, if that was elsewhere."""
    old, new = pair
    return old.pointer if old and new and old.pointer != new.pointer else ""


def name_of(place: View) -> tuple[Segment, ...]:
    return marks.segments(place.name if place.index is None else f"{place.index + 1}")
