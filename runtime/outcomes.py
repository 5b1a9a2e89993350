"""Outcomes: recording what came of a call that was sent, also when nobody knows, and when the answer comes too late."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar
from uuid import UUID

from django.db import DatabaseError, connection
from django.db.models import Model, Q

from approvals import gate, rows
from approvals.ledger import canonical, entries
from runtime import attempts, budgets, calls, checkpoints, leases, tools
from runtime.attempts import Attempt
from runtime.calls import Call
from runtime.crashpoints import reach
from runtime.leases import Lease
from runtime.runs import Run

log = logging.getLogger(__name__)

T = TypeVar("T", bound=Model)


_BECOMES: Final = {
    tools.EXECUTED: "executed",
    tools.FAILED_BEFORE: "failed",
    tools.FAILED_AFTER: "failed",
    tools.NOT_SENT: "failed",
}


def counting(call: Call) -> Attempt:
    """The attempt that counts: the last one, as the database has it now."""
    return Attempt.objects.get(call=call, pk__in=Call.objects.filter(pk=call.pk).values("attempt_id"))


def settle(lease: Lease, call: Call, attempt: Attempt, effect: str, answer: tools.Answer) -> None:
    """Commit what came of it; as evidence where somebody else has the run by now. A tool that is out of reach says
    nothing about an earlier sending, which may have arrived."""
    unreached = answer.outcome == tools.NOT_SENT or answer.passing
    repeated = unreached and effect in attempts.REPEATED_UNASKED and _another_is_unanswered(attempt)
    if repeated or (answer.outcome == tools.LOST and effect != "pure"):
        _unknown(lease, call, answer.note)
    else:
        record(lease, call, attempt, answer)


def _another_is_unanswered(attempt: Attempt) -> bool:
    others = Attempt.objects.filter(call_id=attempt.call_id).exclude(pk=attempt.pk)
    return not all(each.did_nothing for each in others)


def record(
    lease: Lease, call: Call, attempt: Attempt, answer: tools.Answer, also: Callable[[], None] = lambda: None
) -> None:
    """Commit the end of a call, with its checkpoint; ``also`` writes more in the same transaction."""
    reach("result.before")
    result = _result(lease, call, attempt, answer)
    landed = partial(checkpoints.committed, lease.run_id, result.seq, result.attempt_id)
    try:
        leases.durably(lease, partial(_commit_result, lease, call, attempt, answer, result, also), landed)
    except leases.LeaseLost:
        _keep_evidence(lease, call, attempt, answer)
        raise
    leases.moved(lease, result)
    reach("result.after")


def _result(lease: Lease, call: Call, attempt: Attempt, answer: tools.Answer) -> checkpoints.Checkpoint:
    attempt.answer = attempts.sealed_answer(attempt, answer.value, answer.message)
    body = {"call": call.public_id, "attempt": attempt.number, "outcome": answer.outcome}
    body |= {"answer": canonical.sha256_hex(bytes(attempt.answer)), "args": attempt.args_digest}
    return leases.next_checkpoint(lease, kind="result", body=body)


def _commit_result(
    lease: Lease,
    call: Call,
    attempt: Attempt,
    answer: tools.Answer,
    result: checkpoints.Checkpoint,
    also: Callable[[], None],
) -> None:
    to = _BECOMES.get(answer.outcome, "failed")
    with rows.within(lease.workspace_id):
        # Approval before run before call: the one order of locks.
        report(lease, call, to, answer.note, bytes(result.mac).hex())
        leases.move_head(lease, result, obey_cancel=False)
        ours = Q(attempt_id=attempt.pk)
        if not rows.move(Call, call.pk, frm={"executing", "unknown"}, to=to, where=ours, ended_at=rows.Now()):
            raise leases.LeaseLost(f"{call.public_id} was settled by somebody else.")
        end_attempt(lease, attempt, answer)
        also()


def report(lease: Lease, call: Call, outcome: str, note: str, checkpoint_mac: str = "") -> None:
    """Tell approvals what became of a call, in an open transaction and before the run is locked."""
    gate.report(lease.workspace_id, lease.public_id, call.public_id, outcome, note=note, checkpoint_mac=checkpoint_mac)


def end_attempt(lease: Lease, attempt: Attempt, answer: tools.Answer, *, late: bool = False) -> None:
    """Write how a sending ended and what it spent, in an open transaction."""
    if not attempt.answer:
        attempt.answer = attempts.sealed_answer(attempt, answer.value, answer.message)
    sets = {
        "outcome": answer.outcome,
        "end_mac": attempts.signed_end(attempt, answer.outcome),
        "note": answer.note,
        "answer": attempt.answer,
        "usage": dict(answer.usage) if answer.usage is not None else None,
        "late": late,
        "ended_at": rows.Now(),
    }
    Attempt.objects.filter(pk=attempt.pk).update(**sets)
    if lease.budget_id:
        budgets.settle(attempt.pk, answer.usage, nothing=answer.outcome in attempts.NOTHING_HAPPENED)


# Nobody knows


def _unknown(lease: Lease, call: Call, note: str) -> None:
    landed = partial(_is_unknown, call.pk)
    leases.durably(lease, partial(_commit_unknown, lease, call, note), landed)


def _is_unknown(call_id: UUID) -> bool:
    return Call.objects.filter(pk=call_id, status="unknown").exists()


def _commit_unknown(lease: Lease, call: Call, note: str) -> None:
    with rows.within(lease.workspace_id):
        write_unknown(lease, call, note)


def write_end(lease: Lease, call: Call, note: str) -> None:
    """End, in an open transaction, a call that was sent before and is not sent again: it failed if nothing can have
    happened, else nobody knows."""
    last = counting(call)
    if not attempts.nothing_happened(last, call.effect):
        write_unknown(lease, call, note)
        return
    report(lease, call, "failed", f"It was not sent again. {note}")
    leases.prove(lease, obey_cancel=False)
    rows.move(Call, call.pk, frm="executing", to="failed", where=Q(attempt_id=last.pk), ended_at=rows.Now())


def write_unknown(lease: Lease, call: Call, note: str) -> None:
    """Say, in an open transaction, that nobody knows what became of the call."""
    report(lease, call, "unknown", note)
    leases.prove(lease, obey_cancel=False)
    attempt_id = Call.objects.values_list("attempt_id", flat=True).get(pk=call.pk)
    # People are asked once nothing of it can arrive any more.
    quiet = attempts.quiet_at(call.pk)
    if rows.move(Call, call.pk, frm="executing", to="unknown", where=Q(attempt_id=attempt_id), due_at=quiet):
        Attempt.objects.filter(call=call, outcome="").update(outcome=tools.LOST, note=note, ended_at=rows.Now())
        if lease.budget_id:
            budgets.charge_lost(call.pk)


def give_up(lease: Lease, call: Call) -> None:
    """End a call that waits for its next try, or whose sender died, because its run is to end and sends nothing
    more."""

    def write() -> None:
        with rows.within(lease.workspace_id):
            write_end(lease, call, "Its run was cancelled before its outcome was known.")

    leases.durably(lease, write, lambda: not Call.objects.filter(pk=call.pk, status="executing").exists())


# Evidence


_PROVES: Final = {tools.EXECUTED: "executed", tools.FAILED_BEFORE: "failed"}


def _keep_evidence(lease: Lease, call: Call, attempt: Attempt, answer: tools.Answer) -> None:
    """An answer that comes after the lease was lost says nothing about the run; about this very attempt it is the
    truth."""
    for _ in range(60):
        try:
            _commit_evidence(lease, call, attempt, answer)
            return
        except DatabaseError as error:
            log.warning("%s: the answer of a lost attempt is kept later (%s)", call.public_id, type(error).__name__)
            connection.close()
            time.sleep(1)


class _OvertakenAttempt(Exception):
    """The answer settles nothing any more: the call has ended, or went with its run, which was deleted."""


class _AskedMeanwhile(Exception):
    """People were asked after the open questions had been looked for, and before the run was locked."""


def _commit_evidence(lease: Lease, call: Call, attempt: Attempt, answer: tools.Answer) -> None:
    try:
        while True:
            try:
                with rows.within(lease.workspace_id):
                    _settle_late(lease, call, attempt, answer)
                return
            except _AskedMeanwhile:
                continue
    except _OvertakenAttempt:
        with rows.within(lease.workspace_id):
            _end_late(lease, call, attempt, answer, counted=False)


def _settle_late(lease: Lease, call: Call, attempt: Attempt, answer: tools.Answer) -> None:
    to = _PROVES.get(answer.outcome)
    if to is None:
        raise _OvertakenAttempt
    report(lease, call, to, f"It was reported late. {answer.note}".strip())
    _withdraw_question(lease, call)
    withdrawn = _withdraw_budget_question(lease)
    calls.poke(lease.workspace_id, lease.run_id, parked_for="outcome_unknown")
    if _question_is_open(lease, call):
        raise _AskedMeanwhile
    if withdrawn:
        Run.objects.filter(pk=lease.run_id).update(budget_question="", budget_for=[])
    ours = Q(attempt_id=attempt.pk)
    if not rows.move(Call, call.pk, frm={"executing", "unknown"}, to=to, where=ours, ended_at=rows.Now()):
        raise _OvertakenAttempt
    _end_late(lease, call, attempt, answer, counted=True)


def _withdraw_question(lease: Lease, call: Call) -> None:
    """People need not say any more what became of it. Before the run is locked: the one order of locks."""
    subject = calls.question_of(_still(Call, call.pk))
    told = "The tool's own answer came, late."
    gate.withdraw(lease.workspace_id, lease.public_id, by="system", reason=told, subject=subject)


def _withdraw_budget_question(lease: Lease) -> int:
    """The cap may have been too low for just this call, sent once more. If it is too low for another, that is asked
    anew."""
    told = "A call that might have been sent again was answered, late."
    subject = budgets.question_of(_still(Run, lease.run_id))
    return gate.withdraw(lease.workspace_id, lease.public_id, by="system", reason=told, subject=subject)


def _question_is_open(lease: Lease, call: Call) -> bool:
    subjects = [calls.question_of(_still(Call, call.pk)), budgets.question_of(_still(Run, lease.run_id))]
    return bool(gate.open_among(lease.workspace_id, subjects))


def _still(model: type[T], key: UUID) -> T:
    """The row as it is now. Raises _OvertakenAttempt where its run was deleted meanwhile."""
    found = model._default_manager.filter(pk=key).first()
    if found is None:
        raise _OvertakenAttempt
    return found


def _end_late(lease: Lease, call: Call, attempt: Attempt, answer: tools.Answer, *, counted: bool) -> None:
    end_attempt(lease, attempt, answer, late=True)
    # Asked after the row was written: an erasure either waits for it, or is seen here.
    if Run.objects.filter(pk=lease.run_id, erased_at__isnull=False).exists():
        Attempt.objects.filter(pk=attempt.pk).update(answer=b"", note="")
    body = {
        "subject": call.public_id,
        "attempt": attempt.number,
        "outcome": answer.outcome,
        "counted": counted,
    }
    entries.append(lease.workspace_id, lease.public_id, "call.answered_late", body, by="system")
