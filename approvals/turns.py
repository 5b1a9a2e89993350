"""Turns: a person may speak more than once of a revision, and take their own vote back; their last turn counts.

A row that is gone or spoilt would bring an older one back to life: `chronicle` holds the rows against the ledger."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from approvals import said
from approvals.answers import Decided
from approvals.approvals import Approval
from approvals.people import Person
from approvals.said import Attempt, Decision
from approvals.votes import Ballot

SAID: Final = {"already_voted", "too_late", "nothing_to_retract"}
"""Refusals of what may have been said before by the same person: then it is a double click."""


def last_of(person: Person, approval: Approval, revision: int, digest: str) -> Decision | None:
    """What a person said last of a revision with this digest."""
    own = approval.decisions.filter(person=person, revision=revision, digest=digest)
    return own.order_by("-turn").first()


def counting(decisions: Iterable[Decision]) -> list[Decision]:
    """Of one revision's decisions, in the order of their turns, each person's last; a stop is no vote."""
    last = {one.person_id: one for one in decisions if one.verdict != Decision.Verdict.STOP}
    return list(last.values())


def retract(vote: Ballot, attempt: Attempt) -> Decided:
    """Take back one's own vote, yes or answer, before the quorum. Earlier votes of the same person stay void."""
    said.write(vote, attempt, "retract")
    left = replace(
        vote,
        yeses=[one for one in vote.yeses if one.person_id != attempt.by.pk],
        answers=[one for one in vote.answers if one.person_id != attempt.by.pk],
    )
    return Decided(vote.approval.status, vote.revision.number, left.furthest, vote.needed)
