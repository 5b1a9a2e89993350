"""Votes: which yeses count for a revision now, who may give one, and why somebody may not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Final
from uuid import UUID

from approvals import bars, escalation, people, returns, revisions, rows, said
from approvals.approvals import Approval
from approvals.deputies import Eligible, Lent
from approvals.people import Given, Person
from approvals.revisions import Revision
from approvals.rulings import Forged
from approvals.said import Attempt, Decision
from approvals.schemas import Fault


@dataclass(frozen=True)
class Refused:
    """The verdict was not taken and nothing changed: a code for machines, a sentence for people, the fields at
    fault."""

    code: str
    message: str
    faults: tuple[Fault, ...] = ()
    pointer: str | None = None


@dataclass(frozen=True)
class Ballot:
    """The vote on one revision as it stands now: the signed bar, who may decide today, and the yeses that count."""

    approval: Approval
    revision: Revision
    rule: dict[str, Any]
    able: Eligible
    yeses: list[Decision]
    answers: list[Decision] = field(default_factory=list)
    stops: list[Decision] = field(default_factory=list)
    overrides: list[Decision] = field(default_factory=list)
    """Of those who broke the glass; whether one of them counts, `glass` says."""
    spoken: Sequence[Decision] = ()
    """All that was said of this revision, whether or not it counts."""
    turns: Mapping[UUID, int] = field(default_factory=dict)
    """How often each person spoke on this revision, whether or not it counts."""
    level: int = 0
    """How often it has escalated."""
    at: datetime | None = None
    """When it was read, by the database's clock; None for a revision that was only just made."""

    @property
    def barred(self) -> set[UUID]:
        """Those whose yes does not count: the person on whose behalf the agent asks, and whoever edited what is asked,
        where the rule says so."""
        return self.barred_under(self.rule)

    def barred_under(self, rule: Mapping[str, Any]) -> set[UUID]:
        """The same by some rule."""
        out = {self.approval.requester_id} if rule["prevent_self_review"] else set()
        return {key for key in out if key} | (set() if rule["editor_may_approve"] else self.editors)

    @cached_property
    def editors(self) -> set[UUID]:
        """Whoever edited what is asked, now or before: an edit of the edit leaves most of it as it was."""
        last = {self.revision.editor_id} if self.revision.editor_id else set()
        return last if self.revision.number < 3 else last | revisions.editors_before(self.revision)

    @cached_property
    def deciders(self) -> str:
        """Who decides, in words; the teams' names are asked for when somebody is refused, and never else."""
        seats = set(bars.seats(self.rule))
        teams = people.team_names(self.approval.workspace_id, seats)
        return " and ".join(sorted(seat_named(seat, self.approval.agent, teams) for seat in seats))

    @property
    def needed(self) -> int:
        """How many seats the rule has."""
        return len(bars.seats(self.rule))

    @property
    def filled(self) -> int:
        """How many seats the yeses fill, one person one seat."""
        return self.filled_under(self.rule, self.able)

    @property
    def furthest(self) -> int:
        """The same, or how many those fill who gave one and the same answer, if that is more."""
        return max([self.filled, *(self.filled_by(self.agreeing(one)) for one in self.answers)])

    def filled_by(self, votes: list[Decision]) -> int:
        """How many seats the givers of these votes fill."""
        return bars.filled(bars.seats(self.rule), [self.seats_of(vote) for vote in one_each(votes)])

    def seats_of(self, vote: Decision, able: Eligible | None = None) -> Mapping[str, Given]:
        """The seats that this vote may fill, by the right of its giver or of the one in whose place it was given."""
        able = self.able if able is None else able
        if not vote.in_place_of_id:
            return able.own.get(vote.person_id, {})
        return {seat: thing for lent in self.lent_for(vote, able) for seat, thing in lent.seats.items()}

    def things_of(self, vote: Decision) -> set[str]:
        """What gives those seats, by public ids."""
        return {given.thing for given in self.seats_of(vote).values()}

    def lent_for(self, vote: Decision, able: Eligible) -> list[Lent]:
        """What lets its giver speak in another's place; what was lent anew after the vote does not."""
        lender = vote.in_place_of_id
        if not lender or not self._may_lend(lender, vote.person_id):
            return []
        return able.lent_by(lender, vote.person_id, vote.decided_at)

    def _may_lend(self, lender: UUID, person: UUID) -> bool:
        """No seat is lent to the one on whose behalf the agent asks, nor by them, nor by somebody who is barred."""
        return self.approval.requester_id not in (lender, person) and lender not in self.barred

    def lent_to(self, person: UUID) -> list[Lent]:
        """The seats that somebody may take here in the place of others."""
        return [lent for lent in self.able.lent.get(person, ()) if self._may_lend(lent.lender, person)]

    @cached_property
    def may_speak(self) -> set[UUID]:
        """Everybody who may decide this, in their own right or in the place of another."""
        return set(self.able.own) | {person for person in self.able.lent if self.lent_to(person)}

    def in_place_of(self, person: UUID) -> Lent | None:
        """In whose place somebody speaks: in nobody's, unless only that brings the approval further."""
        others = one_each(vote for vote in self.yeses if vote.person_id != person)
        spoken, filled = {holder(vote) for vote in others}, self._filled_with(others, {})
        lent = self.lent_to(person)
        free = [each for each in lent if each.lender not in spoken]
        own = self.able.own.get(person)
        if not own:
            return next(iter(free or lent), None)
        if self._filled_with(others, own) > filled:
            return None
        return next((each for each in free if self._filled_with(others, each.seats) > filled), None)

    def _filled_with(self, votes: list[Decision], more: Mapping[str, Given]) -> int:
        return bars.filled(bars.seats(self.rule), [*map(self.seats_of, votes), more])

    def agreeing(self, answer: Decision) -> list[Decision]:
        """The answers that say the same as this one: only those count together."""
        return [one for one in self.answers if _answer_of(one) == _answer_of(answer)]

    def filled_under(self, rule: dict[str, Any], able: Eligible) -> int:
        """How many seats of some rule the same yeses fill, by who may decide under that rule."""
        barred = self.barred_under(rule)
        free = (vote for vote in self.yeses if not barred & {vote.person_id, holder(vote)})
        sure = one_each(vote for vote in free if is_sure(vote, rule))
        return bars.filled(bars.seats(rule), [self.seats_of(vote, able) for vote in sure])

    def refusal(self, person: Person, verdict: str) -> Refused | None:
        """Why this person may not give this verdict now; None if they may."""
        if self.approval.status != (Approval.Status.APPROVED if verdict == "stop" else Approval.Status.PENDING):
            return too_late(self.approval)
        if person.pk not in self.may_speak:
            return Refused("not_allowed", f"Only {self.deciders} may decide this.")
        if verdict == "stop":
            return self._no_second_stop()
        if verdict == "retract":
            return self._nothing_to_retract(person)
        if verdict not in self.rule["allowed_decisions"]:
            return Refused("decision_not_allowed", f"Rule {self.rule['id']} does not allow to {verdict} this.")
        if verdict == "reject":
            return None
        if self.rule["prevent_self_review"] and person.pk == self.approval.requester_id:
            return Refused("self_review", "The agent asks on your behalf, so somebody else must approve it.")
        return self._barred_editor(person, verdict) or (self._no_second_yes(person) if verdict == "approve" else None)

    def _no_second_stop(self) -> Refused | None:
        if self.approval.kind != Approval.Kind.CALL:
            return Refused("decision_not_allowed", "Only a call that is yet to be sent can be stopped.")
        if self.stops:
            return Refused("too_late", f"{self.stops[0].person.name} stopped it already.")
        return None

    def _nothing_to_retract(self, person: Person) -> Refused | None:
        if any(vote.person_id == person.pk for vote in [*self.yeses, *self.answers]):
            return None
        return Refused("nothing_to_retract", f"No vote of yours counts for revision {self.revision.number}.")

    def _barred_editor(self, person: Person, verdict: str) -> Refused | None:
        if verdict == "edit" or self.rule["editor_may_approve"] or person.pk not in self.editors:
            return None
        return Refused("editor_cannot_approve", "You edited this, so somebody else must approve it.")

    def _no_second_yes(self, person: Person) -> Refused | None:
        if any(vote.person_id == person.pk for vote in self.yeses):
            return Refused("already_voted", f"You approved revision {self.revision.number} already.")
        lent = None if person.pk in self.able.own else self.in_place_of(person.pk)
        if lent and any(holder(vote) == lent.lender for vote in self.yeses):
            told = f"{lent.absence.person.name} holds the seat that you would take, and it has given its yes."
            return Refused("seat_taken", told)
        return None


# Questions


WITHOUT_ASSURANCE = frozenset({"reject", "stop", "retract"})
"""What nobody has to prove more for: it lets nothing run."""


def asks_more(rule: Mapping[str, Any], attempt: Attempt, verdict: str) -> Refused | None:
    """What a rule asks of a verdict beside the right to give it: a message, or to know better who gives it."""
    if verdict == "reject" and not attempt.message:
        return Refused("needs_message", "Say why: the agent is told your reason.", pointer="/message")
    if verdict in rule.get("require_message_on", ()) and not attempt.message:
        told = f"Rule {rule['id']} wants a reason in words when you {verdict}."
        return Refused("needs_message", told, pointer="/message")
    required = rule.get("assurance", "click")
    if verdict in WITHOUT_ASSURANCE or attempt.assurance.satisfies(required):
        return None
    return Refused("needs_assurance", _UNSURE.get(required, f"Rule {rule['id']} asks for {required}."))


_UNSURE = {
    "session": "This takes more than a click: sign in, and decide on its page.",
    "fresh": "Sign in once more: the rule takes this only within five minutes of signing in.",
}


COUNTED: Final = frozenset({"approve", "respond", "choose"})
"""What takes a seat. Whoever took their vote back has left theirs, to a deputy as well."""


def ballot(approval: Approval, revision: Revision) -> Ballot:
    """The vote on a revision, read from signed rows and from the rights of today. Raises Forged.

    A yes counts that is signed, is for these bytes, is its giver's last turn, and whose giver may decide, and was never
    gone since nor without the right.
    """
    rule = revisions.bar_of(revision)
    if not approval.holds():
        raise Forged("What was asked is not as it was written.")
    level = level_of(approval, revision, rule)
    empty = Ballot(approval, revision, rule, bars.eligible(approval.workspace_id, rule, level=level), [], level=level)
    last: dict[UUID, Decision] = {}
    turns = Counter[UUID]()
    stops: list[Decision] = []
    overrides: list[Decision] = []
    for decision in (spoken := said.on_revision(approval, revision)):
        turns[decision.person_id] += 1
        if decision.verdict == "stop":
            stops.append(decision)
        elif not decision.holds() or decision.digest != revision.digest:
            continue
        elif decision.verdict == "override":
            overrides.append(decision)
        else:
            last[decision.person_id] = decision
    barred = empty.barred
    votes = [vote for vote in last.values() if vote.verdict in COUNTED and vote.person_id not in barred]
    given = [vote for vote in votes if empty.seats_of(vote) and is_sure(vote, rule)]
    counted = one_each(returns.since(approval.workspace_id, given, empty.things_of)) if given else []
    yeses = [vote for vote in counted if vote.verdict == "approve"]
    answers = [vote for vote in counted if vote.verdict != "approve"]
    read: dict[str, Any] = {"spoken": spoken, "turns": turns, "at": getattr(revision, "read_at", None)}
    return replace(empty, yeses=yeses, answers=answers, stops=stops, overrides=overrides, **read)


def level_of(approval: Approval, revision: Revision, rule: Mapping[str, Any]) -> int:
    """How often an approval has escalated, by its signed rule and its signed end."""
    if not escalation.levels(rule):
        return 0
    return escalation.reached(approval, rule, getattr(revision, "read_at", None) or rows.now())


def holder(vote: Decision) -> UUID:
    """Whose seat a vote takes."""
    return vote.in_place_of_id or vote.person_id


def one_each(votes: Iterable[Decision]) -> list[Decision]:
    """The votes without those of deputies whose lender spoke too, or another deputy before them: together they have one
    seat."""
    given = list(votes)
    spoken = {vote.person_id for vote in given if not vote.in_place_of_id}
    counted = []
    for vote in given:
        if vote.in_place_of_id and vote.in_place_of_id in spoken:
            continue
        spoken.add(holder(vote))
        counted.append(vote)
    return counted


def is_sure(said: Decision, rule: Mapping[str, Any]) -> bool:
    """Whether a decision was given with as much assurance as a rule asks for, by what was signed with it."""
    return said.with_assurance.satisfies(rule.get("assurance", "click"))


def _answer_of(one: Decision) -> tuple[str, str, str]:
    return one.verdict, one.response_digest, one.choice


def seat_named(seat: str, agent: str, teams: Mapping[str, str]) -> str:
    """The words for whoever may take a seat: a team by its name, or those who may operate the agent."""
    return f"{agent}’s operators" if people.is_operators(seat) else teams.get(seat, seat)


def too_late(approval: Approval) -> Refused:
    """What somebody hears who comes after the end: who ended it, how and when."""
    when = f"{approval.decided_at:%H:%M:%S} UTC on {approval.decided_at:%-d %B %Y}" if approval.decided_at else ""
    who = approval.decided_by.name if approval.decided_by else ""
    told = {
        "pending": "Nobody has approved it yet, so there is nothing to stop: reject it.",
        "approved": f"{who} gave the deciding yes at {when}.",
        "answered": f"{who} answered it at {when}.",
        "rejected": f"{who} rejected it at {when}.",
        "expired": f"It expired at {when}; nobody decided in time.",
        "cancelled": f"It was cancelled at {when}.",
        "superseded": f"It was replaced by a newer approval at {when}.",
    }
    return Refused("too_late", told.get(approval.status, f"It is {approval.status}."))
