"""What a change would put in force, as stretches: what differs from what is in force stands open, the rest folded.

Whether something differs is asked of the values themselves: a stretch folds only where the very same stands in force.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from approvals.approvals import Approval
from approvals.edits.places import ABSENT
from approvals.edits.table import Argument
from approvals.ledger import canonical

if TYPE_CHECKING:
    from approvals.pages.told import Told


@dataclass
class Fold:
    """Rows that belong together. ``same`` names what in them is as it was; rows that differ have no names."""

    rows: list[Argument]
    same: list[str] = field(default_factory=list)


def folds(asked: Told) -> list[Fold]:
    """All rows of a change, in their order; nothing for any other kind."""
    if asked.approval.kind != Approval.Kind.CHANGE:
        return []
    found: list[Fold] = []
    for fold in _parts(asked.last_args, asked.before, asked.arguments):
        if found and bool(found[-1].same) == bool(fold.same):
            found[-1].rows += fold.rows
            found[-1].same += fold.same
        else:
            found.append(fold)
    return found


def _parts(document: Any, before: Any, rows: list[Argument]) -> Iterator[Fold]:
    for (path, removed), group in groupby(rows, key=lambda row: (canonical.split(row.pointer)[:2], row.removed)):
        part = list(group)
        if removed or len(path) < 2 or any(row.change for row in part):
            yield Fold(part)
            continue
        holder = document[path[0]]
        value = holder[int(path[1])] if isinstance(holder, list) else holder[path[1]]
        yield Fold(part, [_name(value, path[1])] if _stands(before, path, value) else [])


def _stands(before: Any, path: list[str], value: Any) -> bool:
    """Whether just this is in force there. An entry of a list may have changed its place, which is told apart."""
    holder = before.get(path[0]) if isinstance(before, dict) else None
    were = holder if isinstance(holder, list) else [holder.get(path[1], ABSENT)] if isinstance(holder, dict) else []
    encoded = canonical.encode(value)
    return any(was is not ABSENT and canonical.encode(was) == encoded for was in were)


def _name(value: Any, key: str) -> str:
    """What a stretch is called: a rule by its id, a person by their name, anything else by where it stands."""
    called = (value.get("id") or value.get("name")) if isinstance(value, dict) else None
    return called if isinstance(called, str) else f"entry {int(key) + 1}" if key.isdecimal() else key
