"""Answered: what people said instead of yes or no, proved once more at the moment it takes effect."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from approvals import chronicle, clearance, requested, revisions, votes
from approvals.approvals import Approval
from approvals.clearance import NotCleared
from approvals.rulings import UNPROVEN


@dataclass(frozen=True)
class Answer:
    """What a person said instead of yes or no: a ``response`` as canonical JSON, or the option of their ``choice``."""

    response: bytes | None
    choice: str
    message: str
    by: str
    by_name: str

    @property
    def asks_changes(self) -> bool:
        """Whether the response says what the next proposal should have otherwise."""
        return self.choice == requested.REQUESTED


def answer(workspace_id: UUID, subject: str) -> Answer | NotCleared:
    """What the people who were asked about this subject answered, after the authentication codes, the rights of today
    and the bar were checked once more. For the moment at which the answer takes effect."""
    approval = Approval.objects.filter(workspace_id=workspace_id, subject=subject).order_by("-created_at").first()
    if approval is None or approval.status != Approval.Status.ANSWERED:
        return NotCleared("not_answered", "Nobody answered this.")
    try:
        told = chronicle.of(approval)
        vote = votes.ballot(approval, revisions.current_revision(approval))
        told.check(vote)
        return _answer(vote)
    except UNPROVEN as fault:
        return NotCleared("tampered", f"What was answered cannot be proved. {fault}".strip())


def _answer(vote: votes.Ballot) -> Answer | NotCleared:
    for said in reversed(vote.answers):
        agreed = vote.agreeing(said)
        if requested.is_request(said) or vote.filled_by(agreed) == vote.needed:
            if clearance.unexplained(vote, vote.able, agreed):
                return NotCleared("tampered", "Somebody who answered has a right that no entry of the ledger gave.")
            return Answer(
                response=said.clear_response() if said.verdict == "respond" else None,
                choice=said.choice,
                message=said.kept_message(),
                by=said.person.public_id,
                by_name=said.person.name,
            )
    return NotCleared("votes_fall_short", f"The answers no longer meet rule {vote.rule['id']}.")
