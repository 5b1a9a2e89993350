"""The sweep: reads what is due straight from PostgreSQL and hints it. It needs no broker and no elected leader.

Any number of sweeps may run. What it finds was lost by somebody: a hint that never arrived, a worker that died, a
deadline that passed with nobody looking.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from typing import Any, Final
from uuid import UUID

import redis
from django.db.models import Exists, OuterRef

from approvals import gate, rows
from approvals.ledger import anchors, keys
from approvals.rows import wire
from runtime import budgets, calls, hints, processes, resolutions
from runtime.breakpoints import Breakpoint
from runtime.calls import Call
from runtime.runs import Run

EVERY: Final = 2.0
"""Seconds between two sweeps."""
REPAIR_EVERY: Final = 60.0
"""Seconds between two looks for what can only be there by a fault of ours."""
AGAIN: Final = 3
"""Seconds after which a run that nobody came for is hinted once more."""
QUEUE_LIMIT: Final = 500
"""The most hints that the sweep lets wait in the broker: with no worker at hand they would only pile up."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Swept:
    """What one sweep found: runs it hinted, approvals that ended at their deadline, and how often people were told of
    one that still waits."""

    hinted: int
    expired: int
    told: int = 0


def sweep() -> Swept:
    """Look once at everything that is due. Raises DatabaseError when the database cannot be asked."""
    processes.beat()
    wake_sleepers()
    told = gate.do_due()
    expired = gate.expire_due()
    for workspace_id, key in gate.verifications_due():
        hints.verify(workspace_id, key)
    gate.look_through()
    return Swept(hint_due(), expired, told)


# Due runs

ASLEEP: Final = """
    SELECT DISTINCT workspace_id FROM runtime_run WHERE status = 'sleeping' AND wake_at <= (SELECT placet_now())
"""
WAKE: Final = """
    UPDATE runtime_run SET status = 'ready', hinted_at = NULL
    WHERE status = 'sleeping' AND wake_at <= (SELECT placet_now()) AND workspace_id = %(workspace)s
"""
READY: Final = "status = 'ready' AND wake_at <= (SELECT placet_now())"
LEFT_BEHIND: Final = "status = 'in_progress' AND lease_until < (SELECT placet_now())"
DUE: Final = """
    SELECT workspace_id, id FROM runtime_run WHERE {due}
        AND (hinted_at IS NULL OR hinted_at < (SELECT placet_now()) - make_interval(secs => %(again)s))
    ORDER BY {since} LIMIT %(limit)s
"""
HINTED: Final = """
    UPDATE runtime_run SET hinted_at = placet_now() WHERE id IN (
        SELECT id FROM runtime_run WHERE id = ANY(%(runs)s) AND workspace_id = %(workspace)s AND {due}
            AND (hinted_at IS NULL OR hinted_at < (SELECT placet_now()) - make_interval(secs => %(again)s))
        ORDER BY {since} FOR UPDATE SKIP LOCKED)
    RETURNING id
"""


def wake_sleepers() -> int:
    """Make ready what slept until now; returns how many runs."""
    woken = 0
    for (workspace_id,) in wire.rows(ASLEEP, ()):
        with rows.within(workspace_id):
            woken += wire.run([(WAKE, {"workspace": workspace_id})])
    return woken


def hint_due() -> int:
    """Hint the runs that are ready and those whose worker is gone; returns how many. Nothing while the broker is
    down."""
    try:
        room = QUEUE_LIMIT - hints.queued()
    except redis.RedisError as error:
        log.warning("The broker cannot be asked (%s); what is due waits for the next sweep.", type(error).__name__)
        return 0
    hinted = 0
    for due, since in ((LEFT_BEHIND, "lease_until"), (READY, "wake_at")):
        for workspace_id, run_id in _due(due, since, max(room - hinted, 0)):
            hinted += hints.hint(workspace_id, run_id)
    return hinted


def _due(due: str, since: str, limit: int) -> list[tuple[UUID, UUID]]:
    """Runs that are due, of all workspaces, and marked as hinted: each workspace's in a transaction of its own, since
    the sweep's role reads all rows and writes those of one."""
    found = wire.rows(DUE.format(due=due, since=since), {"again": AGAIN, "limit": limit})
    of_each: dict[UUID, list[UUID]] = defaultdict(list)
    for workspace_id, run_id in found:
        of_each[workspace_id].append(run_id)
    marked: set[UUID] = set()
    for workspace_id, runs in of_each.items():
        with rows.within(workspace_id):
            values = {"again": AGAIN, "runs": runs, "workspace": workspace_id}
            marked |= {key for (key,) in wire.rows(HINTED.format(due=due, since=since), values)}
    return [(workspace_id, run_id) for workspace_id, run_id in found if run_id in marked]


# What must not be


@dataclass(frozen=True)
class Held:
    """A call, a question or a breakpoint that people are asked about."""

    workspace_id: UUID
    subject: str
    run_id: UUID


def repair() -> int:
    """Find what only a fault of ours can leave behind, say so in the log, and put it right. Returns how many were
    found."""
    processes.forget_the_dead()
    gate.forget_settled()
    # Runs first: one that suspends between the two reads then has its calls among those held. The two lists are
    # compared here and not joined by the database, which right after a burst of runs joins ten thousand by ten
    # thousand rows.
    suspended = set(Run.objects.filter(status="suspended_approval", budget_question="").values_list("pk", flat=True))
    held = list(_held())
    unknown = Call.objects.filter(status="unknown", consumed_seq=None).values_list("run_id", flat=True)
    stuck = suspended - {each.run_id for each in held} - set(unknown)
    return _wake(stuck) + _hear_what_was_decided(held) + _withdraw_for_ended_runs(held) + _end_budget_questions()


def _held() -> Iterator[Held]:
    calls_held = Call.objects.filter(status="held").only("workspace_id", "run_id", "kind", "step", "idx")
    stops = Breakpoint.objects.filter(status="open").only("workspace_id", "run_id", "seq")
    waiting: Iterator[Call | Breakpoint] = chain(calls_held.iterator(), stops.iterator())
    for each in waiting:
        yield Held(each.workspace_id, each.subject, each.run_id)


def _wake(stuck: set[UUID]) -> int:
    """Wake runs that wait for nothing."""
    waiting = Call.objects.filter(run_id=OuterRef("pk"), consumed_seq=None, status__in=["held", "unknown"])
    stops = Breakpoint.objects.filter(run_id=OuterRef("pk"), status="open")
    asleep = Run.objects.filter(pk__in=list(stuck)[:1000], status="suspended_approval")
    found = list(asleep.filter(~Exists(waiting), ~Exists(stops)))
    for run in found:
        log.error("%s waits for people, and nothing of it is open: it is woken", run.public_id)
        with rows.within(run.workspace_id):
            calls.poke(run.workspace_id, run.pk)
    return len(found)


def _hear_what_was_decided(held: list[Held]) -> int:
    subjects: dict[UUID, list[str]] = defaultdict(list)
    for each in held:
        subjects[each.workspace_id].append(each.subject)
    return sum(_hear(workspace_id, named) for workspace_id, named in subjects.items())


def _hear(workspace_id: UUID, subjects: list[str]) -> int:
    asked: set[str] = set()
    for batch in _batches(subjects):
        asked |= gate.open_among(workspace_id, batch)
    return sum(_resolve_again(workspace_id, subject) for subject in subjects if subject not in asked)


def _batches(items: list[Any]) -> Iterator[list[Any]]:
    return (items[start : start + 1000] for start in range(0, len(items), 1000))


def _resolve_again(workspace_id: UUID, subject: str) -> bool:
    if not resolutions.waits(subject):
        return False
    resolution = gate.resolution(workspace_id, subject)
    if resolution is None:
        log.error("%s is held, and nobody is asked about it", subject)
        return True
    log.error("%s ended as %s, and %s was not told: it is told now", resolution.approval_id, resolution.status, subject)
    with rows.within(workspace_id):
        resolutions.resolved(resolution)
    return True


def _withdraw_for_ended_runs(held: list[Held]) -> int:
    ended: list[Run] = []
    for batch in _batches(list({each.run_id for each in held})):
        ended += Run.objects.filter(pk__in=batch, status__in=["completed", "failed", "cancelled"])
    for run in ended:
        log.error("%s has ended, and people are still asked about it: they are not any more", run.public_id)
        gate.withdraw(run.workspace_id, run.public_id, by="system", reason="Its run has ended.")
    return len(ended)


def _end_budget_questions() -> int:
    """A run that ended asks for no more budget, and one that waits for an answer to that has been asked."""
    asking = Run.objects.exclude(budget_question="").filter(status__in=["suspended_approval", *_ENDED]).order_by("pk")
    return sum(_end_budget_question(run) for run in asking.iterator())


def _end_budget_question(run: Run) -> bool:
    subject = budgets.question_of(run)
    is_open, ended = bool(gate.open_among(run.workspace_id, [subject])), run.status in _ENDED
    same = Run.objects.filter(pk=run.pk, status=run.status, budget_question=run.budget_question)
    if is_open is not ended or not same.exists():
        return False
    log.error("%s is %s, and its question about the budget is %s", run.public_id, run.status, _OPEN[is_open])
    with rows.within(run.workspace_id):
        if ended:
            told = "Its run has ended."
            gate.withdraw(run.workspace_id, run.public_id, by="system", reason=told, subject=subject)
            same.update(budget_question="", budget_for=[])
        else:
            calls.poke(run.workspace_id, run.pk)
    return True


_ENDED: Final = ("completed", "failed", "cancelled")
_OPEN: Final = {True: "open", False: "closed"}


def watch() -> int:
    """Tell those who answer for a policy what stands out in how people decide; returns in how many workspaces."""
    return gate.look_around()


def file() -> None:
    """Put what was entered into the ledger where its pages find it."""
    gate.file_all()


# What leaves the database


def anchor() -> None:
    """Sign the heads of all chains and put them where whoever writes the database does not reach."""
    try:
        anchors.anchor(every=timedelta(seconds=REPAIR_EVERY * 0.8))
    except (OSError, keys.UnknownKey) as error:
        log.error("The heads are not anchored: %s", error)


class Clock:
    """When the next repair and the next anchor are due, by this process's own clock; the first one comes at once."""

    def __init__(self) -> None:
        self._next = time.monotonic()

    def due(self) -> bool:
        """Whether it is time now; if so, the next time is a while later."""
        if time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + REPAIR_EVERY
        return True
