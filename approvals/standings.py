"""Standings: where an approval and one person stand to each other, for the pages and the API."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from approvals import revisions
from approvals.approvals import Approval
from approvals.people import Person
from approvals.rulings import UNPROVEN
from approvals.said import Decision
from approvals.votes import ballot


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
    may_respond: bool = False
    may_stop: bool = False
    may_reject: bool = False
    may_retract: bool = False
    editing_approves: bool = False
    in_place_of: str = ""
    """Whose seat they would take, where it is not their own."""


def standing(approval: Approval, person: Person) -> Standing:
    """Whether this person may decide now, why not, and what the approval still needs. Reads, and promises nothing."""
    try:
        vote = ballot(approval, revisions.current_revision(approval))
    except UNPROVEN as fault:
        return Standing(False, str(fault), "tampered", required=approval.required)
    refusal = vote.refusal(person, _main_verdict(vote.rule))
    counted = [*vote.yeses, *vote.answers]
    voted = {one.person_id for one in counted}
    others = Person.objects.filter(pk__in=vote.may_speak - vote.barred - voted - {person.pk}).order_by("name")
    return Standing(
        may=refusal is None,
        reason=refusal.message if refusal else "",
        code=refusal.code if refusal else "",
        votes=counted,
        filled=vote.furthest,
        required=vote.needed,
        voted=person.pk in voted,
        others=list(others),
        may_edit=vote.refusal(person, "edit") is None,
        may_respond=vote.refusal(person, "respond") is None,
        may_stop=vote.refusal(person, "stop") is None,
        may_reject=vote.refusal(person, "reject") is None,
        may_retract=vote.refusal(person, "retract") is None,
        editing_approves=vote.rule["editor_may_approve"],
        in_place_of=lent.absence.person.name if (lent := vote.in_place_of(person.pk)) else "",
    )


def _main_verdict(rule: dict[str, Any]) -> str:
    """What somebody who agrees would say: to some questions there is no yes."""
    return next((word for word in ("approve", "choose", "respond") if word in rule["allowed_decisions"]), "approve")
