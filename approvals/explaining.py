"""Explaining: why somebody is asked, why somebody cannot decide, and who can; told of the vote as it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from approvals import bars, people, policies, policy_versions, revisions, votes
from approvals.approvals import Approval
from approvals.ledger import canonical
from approvals.people import Membership, Person
from approvals.revisions import Revision
from approvals.votes import Ballot, seat_named

VERBS = ("approve", "edit", "choose", "respond", "reject", "stop")


@dataclass(frozen=True)
class Someone:
    """One person as the vote stands: the seats they may take, by name, and why their yes does not count or is not
    wanted any more; empty where it is."""

    person: Person
    seats: tuple[str, ...]
    cannot: str = ""


@dataclass(frozen=True)
class Explained:
    """``passed`` are the rules before the one that asks, which did not match; ``rule`` is the bar as it was signed.
    ``open`` is how many seats are still to be filled."""

    rule: dict[str, Any]
    policy_version: int
    passed: list[str]
    needs: list[str]
    open: int
    people: list[Someone]

    @property
    def can(self) -> list[Someone]:
        """Those whose yes would count."""
        return [one for one in self.people if not one.cannot]


@dataclass(frozen=True)
class Yours:
    """What one person may say of it now, and why they may not say what agrees to it; empty where they may."""

    may: list[str]
    cannot: str


def explain(approval: Approval) -> Explained:
    """Why people are asked, and whom. Raises Forged, UnknownKey, Tampered."""
    revision = revisions.current_revision(approval)
    vote = votes.ballot(approval, revision)
    seats = _seat_names(vote)
    needs = [f"{need['count']} of {seats[need['team']]}" for need in vote.rule["approvals"]]
    return Explained(
        rule=vote.rule,
        policy_version=revision.ruling.policy_version,
        passed=_passed(approval, revision),
        needs=needs,
        open=vote.needed - vote.furthest,
        people=everyone(vote),
    )


def yours(approval: Approval, person: Person) -> Yours:
    """What this person may do about it, and why not. Raises Forged, UnknownKey, Tampered."""
    vote = votes.ballot(approval, revisions.current_revision(approval))
    may = [verb for verb in VERBS if vote.refusal(person, verb) is None]
    if person.pk not in vote.may_speak:
        return Yours(may, _without_right(vote, person))
    wanted = [verb for verb in ("approve", "choose", "respond") if verb in vote.rule["allowed_decisions"]]
    refusal = vote.refusal(person, wanted[0] if wanted else "approve")
    return Yours(may, refusal.message if refusal else "")


def everyone(vote: Ballot) -> list[Someone]:
    """All who may decide under the rule today, those whose yes would count first, then by name."""
    seats, folk = _seat_names(vote), Person.objects.filter(pk__in=vote.may_speak).order_by("name")
    told = [Someone(each, _seats_of(vote, each, seats)) for each in folk]
    told = [replace(one, cannot=_cannot(vote, one.person)) for one in told]
    return sorted(told, key=lambda one: bool(one.cannot))


def _seats_of(vote: Ballot, person: Person, named: Mapping[str, str]) -> tuple[str, ...]:
    own = {named[seat] for seat in vote.able.own.get(person.pk, ())}
    lent = {f"{named[seat]} for {each.absence.person.name}" for each in vote.lent_to(person.pk) for seat in each.seats}
    return tuple(sorted(own or lent))


def _cannot(vote: Ballot, person: Person) -> str:
    if any(one.person_id == person.pk for one in vote.yeses):
        return "approved it already"
    if any(one.person_id == person.pk for one in vote.answers):
        return "answered it already"
    if vote.rule["prevent_self_review"] and person.pk == vote.approval.requester_id:
        return "is the one on whose behalf it is asked"
    if person.pk in vote.barred:
        return "made the edit that is to be approved"
    lent = None if person.pk in vote.able.own else vote.in_place_of(person.pk)
    spoke = lent and any(votes.holder(one) == lent.lender for one in vote.yeses)
    return "takes a seat that has given its yes" if spoke else ""


def _without_right(vote: Ballot, person: Person) -> str:
    if not person.is_active:
        return f"{person.name} is switched off."
    if not Membership.objects.filter(workspace_id=vote.approval.workspace_id, person=person).exists():
        return f"{person.name} is no member of the workspace."
    named = " or ".join(sorted(set(_seat_names(vote).values())))
    return f"{person.name} has no right to decide for {named}."


def _seat_names(vote: Ballot) -> Mapping[str, str]:
    seats = set(bars.seats(vote.rule))
    teams = people.team_names(vote.approval.workspace_id, seats)
    return {seat: seat_named(seat, vote.approval.agent, teams) for seat in seats}


def _passed(approval: Approval, revision: Revision) -> list[str]:
    """The rules of that version which come before the one that asks: names alone, for why they do not match may quote
    an argument that is masked."""
    policy = policy_versions.numbered(approval.workspace_id, revision.ruling.policy_version)
    if policy is None:
        return []
    asked: dict[str, Any] = {"tool": approval.tool, "agent": approval.agent, "kind": str(approval.kind)}
    tried = policies.tried(policy.rules, args=canonical.parse(revisions.args_of(revision)), **asked)
    return [trial.rule_id for trial in tried if not trial.matches]
