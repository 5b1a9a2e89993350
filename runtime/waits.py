"""Waits: a call that may go, and not yet. It stays as it is, its run sleeps, and then everything is checked anew."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from approvals import rows
from approvals.ledger import entries
from runtime import leases
from runtime.calls import Call
from runtime.leases import Lease

LOOK: Final = timedelta(minutes=15)
"""The longest time until it is looked at again, so that a freeze that is lifted early is not sat out."""


class NotYet(Exception):
    """The call may not be sent before ``until``; the message says why."""

    def __init__(self, why: str, until: datetime) -> None:
        super().__init__(why)
        self.until = until


def put_off(lease: Lease, call: Call, wait: NotYet) -> None:
    """Write, in an open transaction, when the call is looked at again; the first time also into the ledger. Nothing
    where it is not as it was: somebody has stopped it. Raises LeaseLost or CancelWanted."""
    leases.prove(lease)
    as_it_was = Call.objects.filter(pk=call.pk, status=call.status, digest=call.digest, attempt_id=call.attempt_id)
    due = min(wait.until, rows.now() + LOOK)
    if as_it_was.update(due_at=due) and call.due_at is None:
        body: dict[str, Any] = {"subject": call.public_id, "reason": str(wait), "until": _instant(wait.until)}
        entries.append(lease.workspace_id, lease.public_id, "call.waits", body, by="system")


def _instant(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
