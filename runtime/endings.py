"""Endings: how a worker gives a run up for good, or because it cannot go on: failed, parked, cancelled, given back."""

from __future__ import annotations

import logging
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db import IntegrityError, connection
from django.db.models import F

from approvals import gate, rows
from approvals.ledger import canonical, entries, keys, sealing
from runtime import calls, failures, leases, outcomes, runs
from runtime.agents.agent import plain
from runtime.leases import Lease
from runtime.runs import Run

log = logging.getLogger(__name__)


def give_up(lease: Lease, error: Exception) -> None:
    """The database went away in the middle: give the run back as soon as it is there again, if the lease still holds
    then.

    The claim still counts as one that came to nothing, so that a run which always ends like this is parked one day.
    """
    log.warning("%s is given back: %s", lease.public_id, type(error).__name__)
    connection.close()

    def write() -> None:
        with rows.within(lease.workspace_id):
            leases.release(lease, to="ready", wake_at=rows.Now(), attempts=F("attempts"))

    try:
        leases.durably(lease, write, lambda: Run.objects.filter(pk=lease.run_id).exclude(fence=lease.fence).exists())
    except leases.LeaseLost:
        log.warning("%s: its lease ran out meanwhile.", lease.public_id)


def overtaken(lease: Lease, why: Exception) -> None:
    """The lease is lost: somebody else has the run, or it was deleted, so that rows of it are not found any more.
    Raises ``why`` where a row is missing of a run that is there."""
    with rows.within(lease.workspace_id):
        if isinstance(why, ObjectDoesNotExist) and Run.objects.filter(pk=lease.run_id).exists():
            raise why
    lease.lost = True
    log.warning("%s: fence %d was overtaken. %s", lease.public_id, lease.fence, why)


def fail_step(lease: Lease, fault: Exception) -> None:
    """Fail the run because its agent's step cannot be kept. What is said of it may quote what an agent wrote, and is
    kept sealed; what of it cannot be kept at all is shown as other characters."""
    words = plain(str(fault))
    kept = failures.sealed(lease.workspace_id, lease.run_id, words)
    commit = failures.commitment(words)
    stop(lease, to="failed", code=failures.CODE, reason=failures.SAID, commit=commit, reason_words=kept)


def stop(lease: Lease, *, to: str, code: str, reason: str, commit: str = "", **sets: Any) -> None:
    """Fail or park the run, loudly. Nothing that was committed is lost, and an operator may let it go on. The reason
    stands in the clear for ever; ``commit`` names the words that are kept beside it. ``sets`` is written to the run's
    row by the same commit."""
    reason = plain(reason)
    log.error("%s is %s (%s): %s", lease.public_id, to, code, reason)
    ended: dict[str, Any] = {"reason_code": code, "reason": reason, "ended_at": rows.Now(), "wake_at": None}
    ended |= sets
    try:
        with rows.within(lease.workspace_id):
            leases.release(lease, to=to, **ended)
            body = {"code": code, "reason": reason} | ({"reason_commit": commit} if commit else {})
            entries.append(lease.workspace_id, lease.public_id, f"run.{to}", body, by="system")
    except IntegrityError:
        log.error("The ledger of %s takes no entry: its head is not where its entries end", lease.public_id)
        with rows.within(lease.workspace_id):
            leases.release(lease, to=to, **ended)


def _why_cancelled(run: Run) -> tuple[str, str]:
    """What was said by whoever wants it cancelled, and a sentence of ours. The wish counts though its words cannot be
    proved: ending a run lets nothing happen, and one that cannot be ended would be taken up for ever."""
    try:
        told = runs.cancel_reason_of(run)
    except (sealing.Tampered, keys.UnknownKey) as fault:
        log.error("Why %s was cancelled cannot be read: %s", run.public_id, fault)
        return "", "It was cancelled; what was said of it is not as it was written."
    return told, "It was cancelled." if told else "A deadline passed, and the rule ends the run then."


def end_cancelled(lease: Lease) -> None:
    """Carry out the wish to cancel. This worker has the run, so no new approval can open while the open ones are
    withdrawn. Raises LeaseLost."""
    with rows.within(lease.workspace_id):
        run = Run.objects.filter(pk=lease.run_id).first()
        if run is None:
            raise leases.LeaseLost(f"{lease.public_id} was deleted.")
        waiting = calls.unconsumed(lease.run_id)
    told, reason = _why_cancelled(run)
    gate.withdraw(lease.workspace_id, lease.public_id, by=run.cancel_by, reason=told or reason)
    for call in waiting:
        if call.status == "executing":
            outcomes.give_up(lease, call)
    ended: dict[str, Any] = {"ended_at": rows.Now(), "wake_at": None, "budget_question": "", "budget_for": []}
    with rows.within(lease.workspace_id):
        leases.release(lease, to="cancelled", reason_code="cancelled", reason=reason, **ended)
        calls.cancel_rest(lease.run_id)
        body = {"reason_digest": canonical.sha256_hex(told.encode())}
        entries.append(lease.workspace_id, lease.public_id, "run.cancelled", body, by=run.cancel_by)
