"""Resolutions: what people settled reaches the run that waits for it, by the same commit.

Each kind of approval has its own way in here, found by the subject it was asked with. The approval is locked by then;
the run's row comes next, and the call or whatever else waits last: the one order of locks.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from approvals import gate, rows
from runtime import calls, runs
from runtime.attempts import NOTHING_HAPPENED, Attempt
from runtime.breakpoints import Breakpoint
from runtime.calls import Call
from runtime.runs import Run

log = logging.getLogger(__name__)

_ENDS: Final = {
    "approved": "cleared",
    "answered": "answered",
    "rejected": "refused",
    "expired": "expired",
    "cancelled": "cancelled",
}


def resolved(resolution: gate.Resolution) -> bool:
    """People have decided, or nobody did in time: move what waits for it and wake its run, by the same commit.

    Called by approvals inside the deciding transaction, while the approval is locked. An approval that was superseded
    moves nothing: another one asks. False where it comes too late: a call that is to be stopped has been sent. Raises
    LookupError for a subject or chain that is none of ours: an answer never goes nowhere.
    """
    if resolution.status == "superseded":
        return True
    run_id, settle = rows.parse_id(Run.PREFIX, resolution.chain), _WAYS.get(resolution.kind)
    if run_id is None or settle is None:
        raise LookupError(f"No run of this workspace waits for {resolution.approval_id}.")
    return settle(resolution, run_id) is not False


def waits(subject: str) -> bool:
    """Whether anything still waits for what people were asked under this subject. For the sweep's repair."""
    call_id = rows.parse_id(Call.PREFIX, subject)
    if call_id is not None:
        return Call.objects.filter(pk=call_id, status="held").exists()
    run, kind, seq, *idx = subject.split(":")
    run_id = rows.parse_id(Run.PREFIX, run)
    if run_id is None:
        return False
    if kind == "question":
        return Call.objects.filter(run_id=run_id, step=seq, idx=idx[0], status="held").exists()
    return Breakpoint.objects.filter(run_id=run_id, seq=seq, status="open").exists()


def wake(resolution: gate.Resolution, run_id: UUID, *, ends: bool = False) -> None:
    """Lock the run and wake it, if it waits for people; with ``ends`` it is to end, for the reason that was given.
    Raises LookupError if there is no such run."""
    how: dict[str, Any] = {}
    if ends:
        reason = runs.sealed_reason(resolution.workspace_id, run_id, resolution.message if resolution.person else "")
        how = {"cancel_by": resolution.person or "system", "cancel_reason": reason}
    if not calls.poke(resolution.workspace_id, run_id, **how):
        raise LookupError(f"No run of this workspace waits for {resolution.approval_id}.")


# A call, and a question, which stands among the calls


def _call(resolution: gate.Resolution, run_id: UUID) -> bool | None:
    call_id = rows.parse_id(Call.PREFIX, resolution.subject)
    if call_id is None:
        raise LookupError(f"{resolution.subject} is no call.")
    if resolution.status == "stopped":
        return _stop(resolution, run_id, call_id)
    _settle_call(resolution, run_id, call_id)
    return True


def _stop(resolution: gate.Resolution, run_id: UUID, call_id: UUID) -> bool:
    """Refuse a call that people had approved, if it was never sent, or nothing came of that. Its row, which is cleared,
    and its sendings are the judges."""
    wake(resolution, run_id)
    said = f"{resolution.decided_by} stopped it before it was sent. {resolution.message}".strip()
    sets = {"message": calls.sealed(resolution.workspace_id, call_id, "message", said.encode()), "due_at": None}
    ours = Q(run_id=run_id, digest=resolution.digest)
    where = ours & (Q(attempt_id__isnull=True) | Q(~Exists(_HAPPENED)))
    if not rows.move(Call, call_id, frm="cleared", to="refused", where=where, ended_at=rows.Now(), **sets):
        return False
    mac = bytes(Run.objects.values_list("head_mac", flat=True).get(pk=run_id)).hex()
    matter = (resolution.workspace_id, resolution.chain, resolution.subject)
    gate.report(*matter, "failed", note=f"It was not sent. {said}", checkpoint_mac=mac)
    return True


# Of a tool that can be looked up, the last sending tells what came of those before it.
_HAPPENED: Final = (
    Attempt.objects.filter(call=OuterRef("pk"))
    .exclude(outcome__in=NOTHING_HAPPENED)
    .exclude(~Q(pk=OuterRef("attempt_id")), Q(call__effect="lookup"))
)


def _question(resolution: gate.Resolution, run_id: UUID) -> None:
    *_, step, idx = resolution.subject.split(":")
    asked = Call.objects.filter(run_id=run_id, step=int(step), idx=int(idx), kind=Call.Kind.QUESTION)
    _settle_call(resolution, run_id, asked.values_list("pk", flat=True).get())


def _settle_call(resolution: gate.Resolution, run_id: UUID, call_id: UUID) -> None:
    wake(resolution, run_id, ends=_ends_run(resolution))
    sets, ours = _told(resolution, call_id), Q(run_id=run_id)
    if not rows.move(Call, call_id, frm="held", to=_ENDS[resolution.status], where=ours, **sets):
        log.error("%s ended as %s, and %s no longer waits for it", resolution.approval_id, resolution.status, call_id)


# A breakpoint


def _breakpoint(resolution: gate.Resolution, run_id: UUID) -> None:
    """A rejection ends the run, for the reason that was given: who stops at a breakpoint and says no means the run."""
    wake(resolution, run_id, ends=resolution.status == "rejected" or _ends_run(resolution))
    stops = Breakpoint.objects.filter(run_id=run_id, approval=resolution.approval_id).values_list("pk", flat=True)
    to = {"approved": "passed"}.get(resolution.status, resolution.status)
    sets: dict[str, Any] = {"digest": resolution.digest or "", "ended_at": rows.Now()}
    if not rows.move(Breakpoint, stops.get(), frm="open", to=to, **sets):
        log.error("%s ended as %s, and its run does not wait for it", resolution.approval_id, resolution.status)


def _ends_run(resolution: gate.Resolution) -> bool:
    return resolution.status == "expired" and resolution.on_deadline == "cancel_run"


def _told(resolution: gate.Resolution, call_id: UUID) -> dict[str, Any]:
    sets: dict[str, Any] = {}
    if resolution.message:
        sets["message"] = calls.sealed(resolution.workspace_id, call_id, "message", resolution.message.encode())
    if resolution.status == "approved":
        return sets | {"digest": resolution.digest, "args_digest": resolution.args_digest}
    return sets | {"ended_at": rows.Now()}


# A call of unknown outcome


def _outcome(resolution: gate.Resolution, run_id: UUID) -> None:
    """Only the wake: what was chosen takes effect when a worker has proved it (`runtime.unknowns`)."""
    wake(resolution, run_id, ends=_ends_run(resolution))


# A budget


def _budget(resolution: gate.Resolution, run_id: UUID) -> None:
    """Only the wake: the cap is raised when a worker has proved who raised it (`runtime.spending`)."""
    wake(resolution, run_id, ends=_ends_run(resolution))


_WAYS: Final[dict[str, Callable[[gate.Resolution, UUID], bool | None]]] = {
    "call": _call,
    "outcome": _outcome,
    "budget": _budget,
    "question": _question,
    "breakpoint": _breakpoint,
}
