"""Resolutions: what people settled reaches the run that waits for it, by the same commit.

Each kind of approval has its own way in here, found by the subject it was asked with. The approval is locked by then;
the run's row comes next, and the call or whatever else waits last: the one order of locks.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from approvals import gate, rows
from runtime import calls
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


def resolved(resolution: gate.Resolution) -> None:
    """People have decided, or nobody did in time: move what waits for it and wake its run, by the same commit.

    Called by approvals inside the deciding transaction, while the approval is locked. An approval that was superseded
    moves nothing: another one asks. Raises LookupError for a subject or chain that is none of ours: an answer never
    goes nowhere.
    """
    if resolution.status == "superseded":
        return
    run_id, settle = rows.parse_id(Run.PREFIX, resolution.chain), _WAYS.get(resolution.kind)
    if run_id is None or settle is None:
        raise LookupError(f"No run of this workspace waits for {resolution.approval_id}.")
    settle(resolution, run_id)


def wake(resolution: gate.Resolution, run_id: UUID, **how: Any) -> None:
    """Lock the run and wake it, if it waits for people. Raises LookupError if there is no such run."""
    if not calls.poke(resolution.workspace_id, run_id, **how):
        raise LookupError(f"No run of this workspace waits for {resolution.approval_id}.")


# A call


def _call(resolution: gate.Resolution, run_id: UUID) -> None:
    call_id = rows.parse_id(Call.PREFIX, resolution.subject)
    if call_id is None:
        raise LookupError(f"{resolution.subject} is no call.")
    wake(resolution, run_id, cancel=_ends_run(resolution))
    moved = rows.move(
        Call,
        call_id,
        frm="held",
        to=_ENDS[resolution.status],
        where=Q(run_id=run_id),
        **_told(resolution, call_id),
    )
    if not moved:
        log.error("%s ended as %s, and %s no longer waits for it", resolution.approval_id, resolution.status, call_id)


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
    wake(resolution, run_id, cancel=_ends_run(resolution))


_WAYS: Final[dict[str, Callable[[gate.Resolution, UUID], None]]] = {"call": _call, "outcome": _outcome}
