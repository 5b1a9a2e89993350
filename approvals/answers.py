"""Answers: what people say where yes and no are not the question: a response of their own, or one of the options.

Where more than one person is needed, only answers that say the same count together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from approvals import approvals, schemas
from approvals.approvals import Approval
from approvals.ledger import canonical
from approvals.said import Attempt, write
from approvals.schemas import Fault
from approvals.votes import Ballot, Refused


@dataclass(frozen=True)
class Decided:
    """The verdict was taken: where the approval stands now. ``status`` is still pending while more people are
    needed."""

    status: str
    revision: int
    votes: int
    required: int


def respond(vote: Ballot, attempt: Attempt) -> Decided | Refused:
    """Take an answer in the asker's own terms: for a call it stands in the place of the tool's result."""
    try:
        given = canonical.parse(attempt.response or b"")
    except canonical.Unrepresentable as fault:
        return _invalid((Fault(fault.pointer, fault.rule, fault.message),))
    faults = schemas.validate(vote.approval.response_schema, given)
    if faults:
        return _invalid(faults)
    return _count(vote, replace(attempt, response=canonical.encode(given)))


def _invalid(faults: tuple[Fault, ...]) -> Refused:
    first = faults[0]
    return Refused("invalid_response", f"{first.pointer or 'the answer'}: {first.message}", faults, first.pointer)


def choose(vote: Ballot, attempt: Attempt) -> Decided | Refused:
    """Take one of the options that were given."""
    options = vote.rule.get("options", [])
    if attempt.choice not in options:
        return Refused("unknown_choice", f"Choose one of {', '.join(options)}.", pointer="/choice")
    return _count(vote, attempt)


def _count(vote: Ballot, attempt: Attempt) -> Decided | Refused:
    approval = vote.approval
    if _said_so_already(vote, attempt):
        return Refused("already_voted", "You gave this very answer already.")
    said = write(vote, attempt, attempt.verdict)
    others = [one for one in vote.answers if one.person_id != attempt.by.pk]
    vote = replace(vote, yeses=[one for one in vote.yeses if one.person_id != attempt.by.pk], answers=[*others, said])
    filled = vote.filled_by(vote.agreeing(said))
    if filled == vote.needed:
        approvals.settle(approval, Approval.Status.ANSWERED, voted_on=vote.revision, **_ended(attempt))
    return Decided(approval.status, vote.revision.number, filled, vote.needed)


def _ended(attempt: Attempt) -> dict[str, Any]:
    told = {"message": attempt.message, "response": attempt.response, "choice": attempt.choice}
    return {"by": attempt.by.public_id, "person": attempt.by, **told}


def _said_so_already(vote: Ballot, attempt: Attempt) -> bool:
    digest = "" if attempt.response is None else canonical.sha256_hex(attempt.response)
    own = [one for one in vote.answers if one.person_id == attempt.by.pk]
    return any(
        (one.verdict, one.response_digest, one.choice) == (attempt.verdict, digest, attempt.choice) for one in own
    )
