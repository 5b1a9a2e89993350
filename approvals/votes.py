"""Votes: which yeses count for a revision now, who may give one, and why somebody may not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from approvals import policies, revisions
from approvals.approvals import Approval
from approvals.people import Person
from approvals.revisions import Revision
from approvals.rulings import Forged
from approvals.schemas import Fault

if TYPE_CHECKING:
    from approvals.decisions import Decision


@dataclass(frozen=True)
class Refused:
    """The verdict was not taken and nothing changed: a code for machines, a sentence for people, the fields at
    fault."""

    code: str
    message: str
    faults: tuple[Fault, ...] = ()
    pointer: str | None = None


@dataclass(frozen=True)
class Standing:
    """Where an approval and one person stand to each other, for the page: may they decide, and if not, why not."""

    may: bool
    reason: str
    code: str
    votes: list[Decision] = field(default_factory=list)
    filled: int = 0
    required: int = 0
    voted: bool = False
    others: list[Person] = field(default_factory=list)
    may_edit: bool = False
    editing_approves: bool = False


# Questions


def valid_votes(approval: Approval, revision: Revision) -> list[Decision]:
    """The yeses for a revision that count now: signed, for these bytes, the person's last turn, and not of one who
    may not."""
    last: dict[UUID, Decision] = {}
    given = approval.decisions.filter(revision=revision.number).select_related("person").order_by("turn")
    for decision in given:
        if decision.holds() and decision.digest == revision.digest:
            last[decision.person_id] = decision
    rule = revisions.bar_of(revision)
    out = barred(approval, revision, rule)
    yes = [vote for vote in last.values() if vote.verdict == "approve" and vote.person_id not in out]
    allowed = {key for key, teams in _teams(approval, rule, yes).items() if teams}
    return [vote for vote in yes if vote.person_id in allowed]


def seats_filled(approval: Approval, rule: dict[str, Any], votes: Iterable[Decision]) -> int:
    """How many of the rule's seats these votes fill, by rights as they are now."""
    return policies.filled(policies.seats(rule), _teams(approval, rule, votes).values())


def _teams(approval: Approval, rule: dict[str, Any], votes: Iterable[Decision]) -> dict[UUID, set[str]]:
    able = policies.eligible(approval.workspace_id, rule)
    return {vote.person_id: able.get(vote.person_id, set()) for vote in votes}


def barred(approval: Approval, revision: Revision, rule: dict[str, Any]) -> set[UUID]:
    """Those whose yes does not count: the person on whose behalf the agent asks, and the editor where the rule says
    so."""
    out = {approval.requester_id} if rule["prevent_self_review"] else set()
    if not rule["editor_may_approve"]:
        out.add(revision.editor_id)
    return {key for key in out if key}


def standing(approval: Approval, person: Person) -> Standing:
    """Whether this person may decide now, why not, and what the approval still needs. Reads, and promises nothing."""
    revision = revisions.current_revision(approval)
    try:
        rule = revisions.bar_of(revision)
    except Forged as fault:
        return Standing(False, str(fault), "tampered", required=approval.required)
    votes = valid_votes(approval, revision)
    refusal = refusal_of(approval, revision, rule, person, "approve", votes)
    able = policies.eligible(approval.workspace_id, rule, without=barred(approval, revision, rule))
    voted = {vote.person_id for vote in votes}
    others = Person.objects.filter(pk__in=set(able) - voted - {person.pk}).order_by("name")
    barred_from_edit = refusal_of(approval, revision, rule, person, "edit", votes)
    return Standing(
        may=refusal is None,
        reason=refusal.message if refusal else "",
        code=refusal.code if refusal else "",
        votes=votes,
        filled=seats_filled(approval, rule, votes),
        required=len(policies.seats(rule)),
        voted=person.pk in voted,
        others=list(others),
        may_edit=barred_from_edit is None,
        editing_approves=rule["editor_may_approve"],
    )


def refusal_of(
    approval: Approval, revision: Revision, rule: dict[str, Any], person: Person, verdict: str, votes: list[Decision]
) -> Refused | None:
    """Why this person may not give this verdict now; None if they may."""
    if approval.status != Approval.Status.PENDING:
        return too_late(approval)
    if person.pk not in policies.eligible(approval.workspace_id, rule):
        return Refused("not_allowed", f"Only {_teams_named(rule)} may decide this.")
    if verdict not in rule["allowed_decisions"]:
        return Refused("decision_not_allowed", f"Rule {rule['id']} does not allow to {verdict} this.")
    if verdict != "reject" and rule["prevent_self_review"] and person.pk == approval.requester_id:
        return Refused("self_review", "The agent asks on your behalf, so somebody else must approve it.")
    if verdict == "approve" and not rule["editor_may_approve"] and person.pk == revision.editor_id:
        return Refused("editor_cannot_approve", "You made this edit, so somebody else must approve it.")
    if verdict == "approve" and any(vote.person_id == person.pk for vote in votes):
        return Refused("already_voted", f"You approved revision {revision.number} already.")
    return None


def _teams_named(rule: dict[str, Any]) -> str:
    return " and ".join(sorted({need["team"] for need in rule["approvals"]}))


def too_late(approval: Approval) -> Refused:
    """What somebody hears who comes after the end: who ended it, how and when."""
    when = f"{approval.decided_at:%H:%M:%S} UTC on {approval.decided_at:%-d %B %Y}" if approval.decided_at else ""
    who = approval.decided_by.name if approval.decided_by else ""
    told = {
        "approved": f"{who} gave the deciding yes at {when}.",
        "rejected": f"{who} rejected it at {when}.",
        "expired": f"It expired at {when}; nobody decided in time.",
        "cancelled": f"It was cancelled at {when}.",
        "superseded": f"It was replaced by a newer approval at {when}.",
    }
    return Refused("too_late", told.get(approval.status, f"It is {approval.status}."))
