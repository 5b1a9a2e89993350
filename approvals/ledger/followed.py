"""Followed: what the entries of a workspace's own chain add up to, remembered by a process and verified as it grows.

What was verified once is not read again: each question reads the entries that were added since, and they have to follow
the last one that is known. Whoever changes an older entry afterwards changes nothing here; `ledger verify` names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

from approvals.ledger.about import Broken
from approvals.ledger.entries import genesis
from approvals.ledger.verify import Walk, lines_behind

T = TypeVar("T")
CHAIN: Final = "workspace"


@dataclass(frozen=True)
class _Known(Generic[T]):
    """How far a chain was verified, and what was made of it."""

    walk: Walk
    value: T


class Followed(Generic[T]):
    """``fold`` makes a new value of the last one and of the entries of these ``kinds`` that came since, in their order;
    it leaves the last one as it is.

    In a transaction that adds entries itself they count once it is committed.
    """

    def __init__(self, kinds: Iterable[str], begin: T, fold: Callable[[T, list[dict[str, Any]]], T]) -> None:
        self._kinds = frozenset(kinds)
        self._begin = begin
        self._fold = fold

    def of(self, workspace_id: UUID) -> T:
        """The value now. Raises Broken where the chain is not as it was written, or ends before what was known of
        it."""
        known = KNOWN.get((self, workspace_id)) or _Known(Walk(genesis(workspace_id, CHAIN)), self._begin)
        lines = lines_behind(workspace_id, CHAIN, known.walk.seq)
        if not lines and known.walk.seq == 0:
            return known.value
        if not lines:
            raise Broken(f"The workspace’s ledger is gone; {known.walk.seq} entries of it are known.")
        walk = replace(known.walk, findings=[])
        told = [entry for entry in walk.along(lines) if entry["kind"] in self._kinds]
        known = _Known(walk, self._fold(known.value, told) if told else known.value)
        KNOWN[self, workspace_id] = known
        return known.value


KNOWN: Final[dict[tuple[Followed[Any], UUID], _Known[Any]]] = {}
"""What this process knows of each workspace, by who follows it."""
