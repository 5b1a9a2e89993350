"""Votes: which yeses count for a revision now, who may give one, and why somebody may not."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from approvals import policies, revisions
from approvals.approvals import Approval
from approvals.people import Person
from approvals.revisions import Revision
from approvals.rulings import UNPROVEN
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


@dataclass(frozen=True)
class Ballot:
    """The vote on one revision as it stands now: the signed bar, who may decide today, and the yeses that count."""

    approval: Approval
    revision: Revision
    rule: dict[str, Any]
    able: dict[UUID, set[str]]
    yeses: list[Decision]

    @property
    def barred(self) -> set[UUID]:
        """Those whose yes does not count: the person on whose behalf the agent asks, and the editor where the rule says
        so."""
        out = {self.approval.requester_id} if self.rule["prevent_self_review"] else set()
        if not self.rule["editor_may_approve"]:
            out.add(self.revision.editor_id)
        return {key for key in out if key}

    @property
    def needed(self) -> int:
        """How many seats the rule has."""
        return len(policies.seats(self.rule))

    @property
    def filled(self) -> int:
        """How many seats the yeses fill, one person one seat."""
        return self.filled_under(self.rule, self.able)

    def filled_under(self, rule: dict[str, Any], able: dict[UUID, set[str]]) -> int:
        """How many seats of some rule the same yeses fill, by who may decide under that rule."""
        return policies.filled(policies.seats(rule), [able.get(vote.person_id, set()) for vote in self.yeses])

    def refusal(self, person: Person, verdict: str) -> Refused | None:
        """Why this person may not give this verdict now; None if they may."""
        if self.approval.status != Approval.Status.PENDING:
            return too_late(self.approval)
        if person.pk not in self.able:
            return Refused("not_allowed", f"Only {_teams_named(self.rule)} may decide this.")
        if verdict not in self.rule["allowed_decisions"]:
            return Refused("decision_not_allowed", f"Rule {self.rule['id']} does not allow to {verdict} this.")
        if verdict == "reject":
            return None
        if self.rule["prevent_self_review"] and person.pk == self.approval.requester_id:
            return Refused("self_review", "The agent asks on your behalf, so somebody else must approve it.")
        return self._no_second_yes(person) if verdict == "approve" else None

    def _no_second_yes(self, person: Person) -> Refused | None:
        if not self.rule["editor_may_approve"] and person.pk == self.revision.editor_id:
            return Refused("editor_cannot_approve", "You made this edit, so somebody else must approve it.")
        if any(vote.person_id == person.pk for vote in self.yeses):
            return Refused("already_voted", f"You approved revision {self.revision.number} already.")
        return None


# Questions


def ballot(approval: Approval, revision: Revision) -> Ballot:
    """The vote on a revision, read from signed rows and from the rights of today. Raises Forged.

    A yes counts that is signed, is for these bytes, is its giver's last turn, and whose giver may decide.
    """
    rule = revisions.bar_of(revision)
    empty = Ballot(approval, revision, rule, policies.eligible(approval.workspace_id, rule), [])
    last: dict[UUID, Decision] = {}
    for decision in approval.decisions.filter(revision=revision.number).select_related("person").order_by("turn"):
        if decision.holds() and decision.digest == revision.digest:
            last[decision.person_id] = decision
    may_count = set(empty.able) - empty.barred
    yeses = [vote for vote in last.values() if vote.verdict == "approve" and vote.person_id in may_count]
    return replace(empty, yeses=yeses)


def standing(approval: Approval, person: Person) -> Standing:
    """Whether this person may decide now, why not, and what the approval still needs. Reads, and promises nothing."""
    try:
        vote = ballot(approval, revisions.current_revision(approval))
    except UNPROVEN as fault:
        return Standing(False, str(fault), "tampered", required=approval.required)
    refusal = vote.refusal(person, "approve")
    voted = {yes.person_id for yes in vote.yeses}
    others = Person.objects.filter(pk__in=set(vote.able) - vote.barred - voted - {person.pk}).order_by("name")
    return Standing(
        may=refusal is None,
        reason=refusal.message if refusal else "",
        code=refusal.code if refusal else "",
        votes=vote.yeses,
        filled=vote.filled,
        required=vote.needed,
        voted=person.pk in voted,
        others=list(others),
        may_edit=vote.refusal(person, "edit") is None,
        editing_approves=vote.rule["editor_may_approve"],
    )


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
