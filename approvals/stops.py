"""Stops: taking back the leave that an approved call has, as long as it was not sent. Anyone may who may decide it."""

from __future__ import annotations

from dataclasses import replace

from approvals import approvals, resolutions
from approvals.answers import Decided
from approvals.approvals import Approval
from approvals.said import Attempt, write
from approvals.votes import Ballot, Refused

STOPPED = "stopped"
"""What the machine is told. The approval stays approved: people said yes, and then somebody stopped the call."""


def stop(vote: Ballot, attempt: Attempt) -> Decided | Refused:
    """Stop the call. The machine says whether it was in time: the row of the call is the one judge, and is moved by the
    same commit."""
    approval = vote.approval
    ended = resolutions.of(approval, message=attempt.message, person=attempt.by, voted_on=vote.revision)
    if not resolutions.tell(replace(ended, status=STOPPED)):
        return Refused("too_late", "It was on its way already, or has ended.")
    write(vote, attempt, "stop")
    approvals.record(approval, "approval.stopped", {"digest": vote.revision.digest}, by=attempt.by.public_id)
    return Decided(str(Approval.Status.APPROVED), vote.revision.number, vote.filled, vote.needed)
