"""Witness: before a call is sent, what its rows say of it is held against what the ledger says.

Whoever writes the database can set a status, but the application's role cannot take an entry out of the ledger. A call
that was sent and settled is so never sent again by a row that was set back, and no call goes out under another key.
"""

from __future__ import annotations

from typing import Any, Final

from approvals.ledger import entries
from runtime import calls
from runtime.attempts import Attempt
from runtime.calls import Call
from runtime.checkpoints import Unreadable
from runtime.leases import Lease
from runtime.unknowns import AGAIN

KINDS: Final = ("call.intended", "outcome.reported", "call.settled")


def check(lease: Lease, call: Call) -> None:
    """That this call may have another sending, by the ledger of its run. Raises Unreadable, which parks the run."""
    told = entries.about(lease.workspace_id, lease.public_id, call.public_id, KINDS)
    for fault in faults(call, Attempt.objects.filter(call=call).count(), told):
        raise Unreadable(f"{call.public_id} {fault}")
    if _settled(told):
        raise Unreadable(f"{call.public_id} is to be sent, and by the ledger it was settled.")


def faults(call: Call, attempts: int, told: list[dict[str, Any]]) -> list[str]:
    """What of a call's rows does not agree with the entries about it, oldest first, as ends of sentences."""
    intended = [each for each in told if each["kind"] == "call.intended"]
    found = []
    if call.key != calls.idempotency_key(call.run_id, call.step, call.idx):
        found.append("has a key that is not its own.")
    elif any(each["key"] != call.key for each in intended):
        found.append("was sent under another key.")
    if attempts != len(intended) or (call.attempt_id is None) is bool(intended):
        found.append(f"has {attempts} attempts, and by the ledger {len(intended)}.")
    return found


def _settled(told: list[dict[str, Any]]) -> bool:
    """Whether the last word on it is an outcome, and nobody chose to have it sent again since."""
    for each in reversed(told):
        if each["kind"] == "call.settled":
            return bool(each["choice"] != AGAIN)
        if each["kind"] == "outcome.reported":
            return True
    return False
