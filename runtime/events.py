"""Run events: everything that happened in a run, as one ordered view over its checkpoints and its chain of the ledger.

Nothing is written for it. Checkpoints and entries are each numbered without a gap, in the order of their commits, so a
cursor is a pair of numbers: what lies behind it never changes, and nothing is told twice. Between the two the clock of
the database decides. A commit under way might still bring an earlier time than one that is already there; who follows a
run therefore waits, for a moment and behind the locks that every writer takes, until nothing is under way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from django.db import OperationalError, connection
from django.utils.dateparse import parse_datetime
from psycopg.errors import LockNotAvailable

from approvals import rows
from approvals.ledger import entries
from runtime.checkpoints import Checkpoint
from runtime.runs import Run

MOST: Final = 500
"""The most events that one page holds."""
BEGINNING: Final = "0-0"
COMMITTED: Final = {"input": "input.committed", "step": "step.committed", "result": "result.committed"}
ENDED: Final = frozenset(
    f"approval.{end}" for end in ("approved", "answered", "rejected", "expired", "cancelled", "superseded")
)
_OWN: Final = frozenset({"at", "by", "chain", "id", "kind", "seq", "v", "workspace"})


@dataclass(frozen=True)
class Event:
    """One thing that happened. ``cursor`` is where to go on after it; ``entry`` and ``checkpoint`` are what it was read
    from, and neither for the run's own waits and its end, which follow from them."""

    at: datetime
    kind: str
    by: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    cursor: str = ""
    entry: dict[str, Any] | None = None
    checkpoint: Checkpoint | None = None

    def out(self) -> dict[str, Any]:
        """As JSON tells it."""
        at = self.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return {"cursor": self.cursor, "at": at, "kind": self.kind, "by": self.by, "facts": self.facts}


# Questions


def events(run: Run, *, bodies: bool = False) -> list[Event]:
    """All of it, in order, as it is committed at this moment; the checkpoints with their bodies, if they are wanted."""
    return list(_told(run, _written(run, 0, bodies), _said(run, 0), 0, 0))


def follow(run: Run, *, after: str = "", limit: int = MOST) -> list[Event]:
    """At most ``limit`` events (a few more where several belong together) behind a cursor, in an order that no later
    commit changes. Empty if there is nothing new, or if a commit under way takes longer than the lock's time-out.
    Raises ValueError for a cursor that is none of ours."""
    found = re.fullmatch(r"([0-9a-f]{1,15})-([0-9a-f]{1,15})", after or BEGINNING)
    if found is None:
        raise ValueError("This is no cursor of this run's events.")
    told: list[Event] = []
    try:
        with rows.within(run.workspace_id):
            for event in _behind(run, int(found[1], 16), int(found[2], 16)):
                if len(told) >= max(1, min(limit, MOST)) and event.cursor != told[-1].cursor:
                    break
                told.append(event)
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable):
            raise
    return told


_LOCKS: Final = (
    "SELECT FROM runtime_run WHERE id = %(run)s FOR SHARE",
    "SELECT FROM approvals_chain WHERE workspace_id = %(workspace)s AND name = %(chain)s FOR SHARE",
)


def _settled(run: Run) -> datetime:
    """A time before which nothing of this run can be committed any more. Every writer reads the clock behind one of the
    two locks; both are taken here in the one order of locks, and given back with the transaction."""
    with connection.cursor() as cursor:
        for lock in _LOCKS:
            cursor.execute(lock, {"run": run.pk, "workspace": run.workspace_id, "chain": run.public_id})
    run.refresh_from_db()
    return rows.now()


def _behind(run: Run, seq: int, place: int) -> Iterator[Event]:
    before = _settled(run)
    written = [each for each in _written(run, seq, limit=MOST + 1) if each.created_at < before]
    said = [(at, entry) for at, entry in _said(run, place, limit=MOST + 1) if at < before]
    return _told(run, written, said, seq, place)


def _told(
    run: Run, written: list[Checkpoint], said: list[tuple[datetime, dict[str, Any]]], seq: int, place: int
) -> Iterator[Event]:
    """The two sequences behind their numbers as one: where both have more, the earlier comes first."""
    waiting = _open(run, place)
    written, said = written[::-1], said[::-1]
    while written or said:
        if written and (not said or written[-1].created_at <= said[-1][0]):
            checkpoint = written.pop()
            yield from _of_checkpoint(run, checkpoint, f"{checkpoint.seq:x}-{place:x}")
            seq = checkpoint.seq
        else:
            at, entry = said.pop()
            place = int(entry["seq"])
            event = Event(at, _kind(entry), entry["by"], _facts(entry), f"{seq:x}-{place:x}", entry=entry)
            yield event
            change = (entry["kind"] == "approval.opened") - (entry["kind"] in ENDED)
            if change > 0 and not waiting:
                yield Event(at, "run.suspended", cursor=event.cursor)
            if change < 0 and waiting:
                yield Event(at, "run.resumed", cursor=event.cursor)
            waiting = max(0, waiting + change)


def _written(run: Run, seq: int, bodies: bool = False, *, limit: int | None = None) -> list[Checkpoint]:
    found = Checkpoint.objects.filter(run=run, seq__gt=seq).order_by("seq")
    return list((found if bodies else found.defer("body"))[:limit])


def _said(run: Run, place: int, *, limit: int | None = None) -> list[tuple[datetime, dict[str, Any]]]:
    told = entries.read(run.workspace_id, run.public_id, after=place, limit=limit)
    return [(_time(entry), entry) for entry in told]


def _open(run: Run, place: int) -> int:
    """How many approvals were open after an entry."""
    kinds = entries.kinds(run.workspace_id, run.public_id, up_to=place) if place else {}
    return kinds.get("approval.opened", 0) - sum(kinds.get(kind, 0) for kind in ENDED)


def _time(entry: dict[str, Any]) -> datetime:
    at = parse_datetime(entry["at"])
    assert at is not None, "the ledger writes every time in one form"
    return at


def _of_checkpoint(run: Run, checkpoint: Checkpoint, cursor: str) -> Iterator[Event]:
    facts = {"seq": checkpoint.seq, "node": checkpoint.node, "goto": checkpoint.next_node}
    kind = COMMITTED.get(str(checkpoint.kind), f"{checkpoint.kind}.committed")
    yield Event(checkpoint.created_at, kind, facts=facts, cursor=cursor, checkpoint=checkpoint)
    if run.status == Run.Status.COMPLETED and checkpoint.seq == run.head_seq:
        yield Event(checkpoint.created_at, "run.completed", cursor=cursor)


def _kind(entry: dict[str, Any]) -> str:
    """The entry's own kind; what became of a call is told as the call's."""
    if entry["kind"] == "outcome.reported":
        return f"call.{entry['outcome']}"
    return str(entry["kind"])


def _facts(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: fact for name, fact in entry.items() if name not in _OWN}
