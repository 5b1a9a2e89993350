"""Followed: what the entries of a workspace's own chain add up to, remembered by a process and verified as it grows.

What was verified once is not read again: each question reads the entries that were added since, and they have to follow
the last one that is known. Whoever changes an older entry afterwards changes nothing here; `ledger verify` names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar, cast
from uuid import UUID

from approvals.ledger.about import Broken
from approvals.ledger.entries import genesis
from approvals.ledger.verify import Walk, lines_behind

T = TypeVar("T")
CHAIN: Final = "workspace"


@dataclass(frozen=True)
class _Known:
    """How far a chain was verified, and what each follower made of it."""

    walk: Walk
    values: Mapping[Followed[Any], Any]


class Followed(Generic[T]):
    """``fold`` makes a new value of the last one and of the entries of these ``kinds`` that came since, in their order;
    it leaves the last one as it is. A chain is verified once for all who follow it.

    In a transaction that adds entries itself they count once it is committed.
    """

    def __init__(self, kinds: Iterable[str], begin: T, fold: Callable[[T, list[dict[str, Any]]], T]) -> None:
        self.kinds = frozenset(kinds)
        self.begin = begin
        self.fold = fold
        _FOLLOWERS.append(self)

    def of(self, workspace_id: UUID) -> T:
        """The value now. Raises Broken where the chain is not as it was written, or ends before what was known of
        it."""
        known = KNOWN.get(workspace_id)
        read = _READ.get()
        if read is not None and workspace_id in read and known is not None and self in known.values:
            return cast("T", known.values[self])
        if known is None or self not in known.values:
            known = _Known(Walk(genesis(workspace_id, CHAIN)), {each: each.begin for each in _FOLLOWERS})
        lines = lines_behind(workspace_id, CHAIN, known.walk.seq)
        if not lines and known.walk.seq == 0:
            return self.begin
        if not lines:
            raise Broken(f"The workspace’s ledger is gone; {known.walk.seq} entries of it are known.")
        walk = replace(known.walk, findings=[])
        told = list(walk.along(lines))
        values = known.values
        if told:
            values = dict(_grown(values, told, asking=self))
        KNOWN[workspace_id] = _Known(walk, values)
        if read is not None:
            read.add(workspace_id)
        return cast("T", values[self])


@contextmanager
def once() -> Iterator[None]:
    """Within this block each chain is read once, however many questions it answers: all of them are answered as of the
    first.

    A row may be younger than that, and then it looks as if no entry explained it. So whoever is told no within the
    block asks once more without it.
    """
    token = _READ.set(set())
    try:
        yield
    finally:
        _READ.reset(token)


def _grown(
    values: Mapping[Followed[Any], Any], told: list[dict[str, Any]], *, asking: Followed[Any]
) -> Iterator[tuple[Followed[Any], Any]]:
    """The values with what was told since. Whoever cannot make anything of it has none, and begins anew when asked."""
    for each, value in values.items():
        if not (own := [entry for entry in told if entry["kind"] in each.kinds]):
            yield each, value
            continue
        try:
            yield each, each.fold(value, own)
        except (KeyError, TypeError, ValueError):
            if each is asking:
                raise


_READ: Final[ContextVar[set[UUID] | None]] = ContextVar("placet_chains_read", default=None)
"""The workspaces whose chains were read in the open block of `once`."""
_FOLLOWERS: Final[list[Followed[Any]]] = []
KNOWN: Final[dict[UUID, _Known]] = {}
"""What this process knows of each workspace."""
