"""Retries: what becomes of a call that was sent before, and whose outcome nobody has written down.

Its sender died, or hung, or was told nothing, or could not reach the tool. A call that waits for its next try keeps
its key and its place in ``executing``; its run sleeps without a worker, and everything needed to go on is in rows.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any, Final

from django.db.models import Min

from approvals import rows
from approvals.ledger import entries
from runtime import attempts, calls, definitions, leases, lookups, outcomes, tools
from runtime.attempts import Attempt
from runtime.calls import Call
from runtime.definitions import Tool
from runtime.leases import Lease

LOOKS: Final = 3
"""How often, for each try that a tool may have, its lookup may be asked before nobody knows."""

# Why a call that was sent before may be sent now.
UNSENT: Final = "unsent"
REPEATABLE: Final = "repeatable"
ABSENT: Final = "absent"
CHOSEN: Final = "chosen"


# Questions


def key_is_known(call: Call, tool: Tool) -> bool:
    """Whether the tool still knows the call's key when a sending that begins now ends at the latest."""
    promise = tool.promise
    first = Attempt.objects.filter(call=call).aggregate(first=Min("created_at"))["first"]
    if promise.effect != "keyed" or first is None:
        return True
    ends = rows.now() + timedelta(seconds=promise.seconds + attempts.GRACE)
    return bool(ends < first + timedelta(seconds=promise.key_seconds))


# Verbs


def why_now(lease: Lease, call: Call) -> str:
    """Why a call that was sent before may be sent now. Empty: it may not, and what becomes of it has been committed."""
    with rows.within(lease.workspace_id):
        last = outcomes.counting(call)
        tool = call.tool
        if attempts.nothing_happened(last, call.effect):
            return UNSENT
        if tool is None or not definitions.genuine(tool) or (tool.promise.safe and key_is_known(call, tool)):
            return REPEATABLE
        args = calls.args_of(call)
    if tool.promise.lookup is None:
        told = "Its sender died, or hung, after the call may have been sent, and the tool is not safe to repeat."
        outcomes.settle(lease, call, last, tool.effect, tools.Answer(tools.LOST, note=last.note or told))
        return ""
    return _after(lease, call, last, tool, lookups.look(tool, call, args))


def _after(lease: Lease, call: Call, last: Attempt, tool: Tool, seen: lookups.Sighting) -> str:
    """What a lookup leads to: it is recorded as executed, sent again, looked up again later, or nobody knows."""
    settle, promise = partial(outcomes.settle, lease, call, last, tool.effect), tool.promise
    if seen.verdict == lookups.FOUND:
        settle(tools.Answer(tools.EXECUTED, seen.value, note=seen.note))
        return ""
    if seen.verdict == lookups.ABSENT:
        with rows.within(lease.workspace_id):
            left = (attempts.quiet_at(call.pk) - rows.now()).total_seconds()
        if left > 0:
            put_off(lease, call, left, looked=True)
            return ""
        if call.retries < promise.tries:
            return ABSENT
        settle(tools.Answer(tools.FAILED_BEFORE, message=seen.note, note=seen.note))
    elif call.lookups < LOOKS * promise.tries:
        put_off(lease, call, promise.wait(call.lookups), looked=True)
    else:
        settle(tools.Answer(tools.LOST, note=seen.note))
    return ""


def put_off(
    lease: Lease,
    call: Call,
    seconds: float,
    *,
    looked: bool = False,
    attempt: Attempt | None = None,
    answer: tools.Answer | None = None,
) -> None:
    """Commit that the call is looked at again after so many seconds; with the end of the attempt that failed, if it is
    that. Raises LeaseLost."""
    counted = {"retries": call.retries + (not looked), "lookups": call.lookups + looked}
    current = attempt.pk if attempt else call.attempt_id
    # A try that ended is progress; a look is not, or a call that kills its senders would never be parked.
    progress: dict[str, Any] = {} if looked else {"attempts": 0}

    def write() -> None:
        with rows.within(lease.workspace_id):
            leases.prove(lease, obey_cancel=False, **progress)
            mine = Call.objects.filter(pk=call.pk, status="executing", attempt_id=current)
            if mine.update(due_at=leases.Later(seconds), **counted) != 1:
                raise leases.LeaseLost(f"{call.public_id} was settled by somebody else.")
            if attempt is not None and answer is not None:
                outcomes.end_attempt(lease, attempt, answer)
            body: dict[str, Any] = {"subject": call.public_id, "seconds": round(seconds), "looked": looked}
            entries.append(lease.workspace_id, lease.public_id, "call.put_off", body, by="system")

    leases.durably(lease, write, Call.objects.filter(pk=call.pk, **counted).exists)
