"""Renewals: a clearance that lapsed before its call was sent is asked for once more, not refused.

A vote whose giver lost the right, a policy that asks others now, an approval that ran out while nobody could send: the
call goes back to people with the very bytes that were approved. Only where policy now denies it is it refused. One that
was sent and reached nothing is as one that never was.
"""

from __future__ import annotations

from typing import Any, Final

from django.db.models import Q

from approvals import gate, rows
from approvals.ledger import entries
from runtime import calls, definitions, leases, outcomes, runs, targets, tools
from runtime.calls import Call
from runtime.leases import Lease
from runtime.targets import Sight

_FRESH: Final[dict[str, Any]] = {"due_at": None, "retries": 0, "lookups": 0}


class Denied(Exception):
    """Policy denies the call now; the message says why."""


def renew(lease: Lease, call: Call, why: str, sight: Sight | None = None) -> None:
    """Judge the call anew, in an open transaction: it is held for a new approval that names the old one, or cleared
    under a new ruling where policy allows it outright now. ``sight`` is what it points to, where its tool says how that
    is found out. Raises Denied, LeaseLost or CancelWanted."""
    judgement = gate.judge(_proposal(lease, call, sight))
    if judgement.verdict == "deny":
        raise Denied(judgement.reason or why)
    leases.prove(lease)
    held = gate.hold(judgement, by="system")
    same = Q(digest=call.digest) & (Q(attempt_id=call.attempt_id) if call.attempt_id else Q())
    if call.status == Call.Status.EXECUTING:
        _nothing_came(lease, call)
    if held.verdict == "require_approval":
        taken = rows.move(
            Call, call.pk, frm=str(call.status), to="held", where=same, approval=held.approval_id, **_FRESH
        )
    elif held.verdict == "allow":
        cleared = Call.objects.filter(same, pk=call.pk, status=call.status)
        taken = cleared.update(digest=held.digest, args_digest=held.args_digest, **_FRESH) == 1
    else:
        raise leases.LeaseLost(f"Policy changed while {call.public_id} was judged anew.")
    if not taken:
        raise leases.LeaseLost(f"{call.public_id} was taken by somebody else.")
    body: dict[str, Any] = {"subject": call.public_id, "reason": why, "approval": held.approval_id or ""}
    entries.append(lease.workspace_id, lease.public_id, "call.asked_again", body, by="system")


def _nothing_came(lease: Lease, call: Call) -> None:
    """Write down that the last sending did nothing, where only a lookup says so."""
    last = outcomes.counting(call)
    if not last.did_nothing:
        told = "It was looked up, and is not there."
        outcomes.end_attempt(lease, last, tools.Answer(tools.FAILED_BEFORE, message=told, note=told))


def _proposal(lease: Lease, call: Call, sight: Sight | None) -> gate.Proposal:
    """The call as it was approved, in the words that people were shown with it. Raises Denied."""
    lapsed = gate.lapsed(lease.workspace_id, call.public_id, call.digest)
    assert call.tool is not None, "a call without a tool is never cleared"
    own = {
        "reason": calls.reason_of(call),
        "messages": [],
        "title": runs.unseal_title(lease.workspace_id, lease.run_id, lease.title),
    }
    return gate.Proposal(
        workspace_id=lease.workspace_id,
        subject=call.public_id,
        chain=lease.public_id,
        agent=lease.agent,
        requester_id=lease.requester_id,
        tool=definitions.facts(call.tool),
        args=lapsed.args,
        context=lapsed.context or own,
        asks_again=lapsed.approval_id,
        rehearsal=lease.rehearsal,
        pinned=_pinned(sight),
    )


def _pinned(sight: Sight | None) -> gate.Pin | None:
    try:
        return sight.pinned() if sight else None
    except targets.Unread as problem:
        raise Denied(str(problem)) from problem
