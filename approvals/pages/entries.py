"""Approvals as rows of a list, made in a number of queries that does not grow with theirs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from uuid import UUID

from django.db.models import F
from django.urls import reverse

from approvals import approvals, bars, deputies, escalation, halts, masking, people, repeats, returns, rows
from approvals.approvals import Approval
from approvals.channels import kinds, outcomes
from approvals.channels.card import Card
from approvals.clearance import would_have_gone
from approvals.decisions import Decision
from approvals.deputies import Eligible
from approvals.pages.cards import card_in
from approvals.people import Person, Workspace
from approvals.revisions import Revision
from approvals.rulings import UNPROVEN
from approvals.votes import Ballot, one_each

RISKS = {"high": "High", "medium": "Medium", "low": "Low"}
STATES = {
    "approved": ("Approved", ""),
    "answered": ("Answered", ""),
    "rejected": ("Rejected", "bad"),
    "expired": ("Expired", ""),
    "cancelled": ("Withdrawn", ""),
    "superseded": ("Replaced", ""),
}
AGREEING = {"approve", "respond", "choose"}
"""Verdicts that can fill a seat."""


@dataclass(frozen=True)
class Entry:
    """One row: what, whence, how much, how many yes and whose, how long."""

    approval: Approval
    url: str
    card: Card
    editor: str
    filled: int
    teams: str
    now: datetime
    frozen: bool = False
    """Whether a stop keeps its deadline from running."""
    lookers: tuple[Person, ...] = ()
    """Who else has it open, where a list asked."""

    @property
    def public_id(self) -> str:
        return self.approval.public_id

    @property
    def version(self) -> str:
        """Changes with what the row shows, apart from the time."""
        stands = "frozen" if self.frozen else self.approval.status
        return f"{self.approval.revision}.{self.filled}.{stands}.{self.approval.outcome}"

    @property
    def risk(self) -> str:
        return self.approval.risk

    @property
    def risk_word(self) -> str:
        return RISKS.get(self.approval.risk, self.approval.risk)

    @property
    def kind(self) -> str:
        """What kind of question it is, empty for a call."""
        return kinds.kind(self.approval.kind, self.approval.tool).name

    @property
    def agent(self) -> str:
        """Who asks: an agent, or the person who wants a change."""
        return self.approval.agent or (self.approval.requester.first_name if self.approval.requester else "")

    @property
    def refused_before(self) -> str:
        """How often people refused just this before, in words; nothing where they did not."""
        return repeats.told(self.approval.refused_before)

    @property
    def asker(self) -> str:
        """On whose behalf the agent asks. Of what no agent asks it is told in the agent's place; those who decide ask
        for a grant."""
        if self.approval.kind == Approval.Kind.GRANT:
            return ""
        return self.approval.requester.first_name if self.approval.requester and self.approval.agent else ""

    @property
    def asked(self) -> datetime:
        return self.approval.created_at

    @property
    def required(self) -> int:
        return self.approval.required

    @property
    def open(self) -> int:
        return max(0, self.required - self.filled)

    @property
    def due(self) -> datetime:
        return self.approval.ends_at

    @property
    def soon(self) -> bool:
        return not self.frozen and self.due - self.now <= timedelta(hours=1)

    @property
    def together(self) -> bool:
        """Whether it may be answered together with others, as far as its rule says."""
        return bool(self.approval.rule.get("batch")) and self.approval.kind == "call" and self.risk != "high"

    @property
    def settled(self) -> bool:
        return self.approval.status != "pending"

    @property
    def when(self) -> datetime | None:
        return self.approval.decided_at

    @property
    def state(self) -> str:
        return STATES[self.approval.status][0]

    @property
    def tone(self) -> str:
        if self.approval.status == "approved":
            return "" if would_have_gone(self.approval) else outcomes.outcome(self.approval.outcome).tone
        return STATES[self.approval.status][1]

    @property
    def verdict_tone(self) -> str:
        return {"approved": "done", "rejected": "danger"}.get(self.approval.status, "")

    @property
    def outcome(self) -> str:
        if would_have_gone(self.approval):
            return "rehearsed"
        if self.approval.kind == "change" and self.approval.outcome == "executed":
            return "in force"
        return outcomes.outcome(self.approval.outcome).word

    @property
    def outcome_tone(self) -> str:
        return "" if would_have_gone(self.approval) else outcomes.outcome(self.approval.outcome).ink

    @property
    def by(self) -> str:
        return self.approval.decided_by.first_name if self.approval.decided_by else ""


def entries(workspace: Workspace, found: Iterable[Approval]) -> list[Entry]:
    """The rows of these approvals, in a number of queries that does not grow with theirs."""
    listed = list(found)
    now = rows.now()
    made = ballots(workspace, listed)
    halted = halts.on(workspace.pk) if any(one.status == "pending" for one in listed) else []
    teams = people.team_names(workspace.pk, {slug for one in listed for slug in one.teams})
    return [entry_of(workspace, one, now, halted, teams) for one in made]


def ballots(workspace: Workspace, found: Iterable[Approval]) -> list[Ballot]:
    """The votes on these approvals as they stand, for lists: likewise, and with what is not as it was written told by
    the approvals' own pages."""
    listed = list(found)
    now = rows.now()
    voted_on, given = _revisions(listed), _yes(listed)
    for approval in listed:
        approvals.read_bar(approval, voted_on[approval.pk])
    asked = {slug for approval in listed for slug in approval.teams}
    asked |= {team for approval in listed for team in _more(approval, now)}
    held = people.deciders_of(workspace.pk, asked)
    able = deputies.with_deputies(workspace.pk, held)
    masking.note(workspace.pk, listed)
    made = [_ballot(one, voted_on[one.pk], _able(one, able, now), given[one.pk]) for one in listed]
    return [_counted(ballot) for ballot in _standing(workspace, made)]


def _more(approval: Approval, now: datetime) -> list[str]:
    """The teams that may decide as well by now, since nobody had."""
    return escalation.added(approval.rule, escalation.reached(approval, approval.rule, now))


def _able(approval: Approval, able: Eligible, now: datetime) -> Eligible:
    more = _more(approval, now)
    return escalation.with_more(able, bars.seats(approval.rule), more) if more else able


def _ballot(approval: Approval, revision: Revision, able: Eligible, given: Iterable[Decision]) -> Ballot:
    yeses = [one for one in given if one.verdict == Decision.Verdict.APPROVE]
    answers = [one for one in given if one.verdict != Decision.Verdict.APPROVE]
    return Ballot(approval, revision, approval.rule, able, yeses, answers)


def _counted(ballot: Ballot) -> Ballot:
    """With what counts of the votes."""
    counted = one_each(vote for vote in ballot.yeses if vote.person_id not in ballot.barred and ballot.seats_of(vote))
    said = [vote for vote in ballot.answers if vote.person_id not in ballot.barred]
    return replace(ballot, yeses=counted, answers=said)


def entry_of(
    workspace: Workspace,
    ballot: Ballot,
    now: datetime,
    held: list[halts.Halt],
    teams: Mapping[str, str] = MappingProxyType({}),
) -> Entry:
    """The row of one approval."""
    approval, editor = ballot.approval, ballot.revision.editor
    return Entry(
        approval=approval,
        url=reverse("review", args=[workspace.slug, approval.public_id]),
        card=card_in(approval, ballot.revision),
        editor=editor.first_name if editor else "",
        filled=ballot.furthest,
        teams=", ".join("Operators" if people.is_operators(seat) else teams.get(seat, seat) for seat in approval.teams),
        now=now,
        frozen=halts.freezes(approval) and halts.over(held, approval.agent) is not None,
    )


def _revisions(listed: list[Approval]) -> dict[UUID, Revision]:
    current = Revision.objects.filter(approval__in=listed, number=F("approval__revision"))
    return {one.approval_id: one for one in current.select_related("ruling", "editor")}


def _standing(workspace: Workspace, ballots: list[Ballot]) -> list[Ballot]:
    """With the votes alone that were given since their givers were last gone, or without the right."""
    of = {ballot.approval.pk: ballot for ballot in ballots}
    given = [one for ballot in ballots for one in [*ballot.yeses, *ballot.answers]]
    try:
        counted = {one.pk for one in returns.since(workspace.pk, given, lambda one: of[one.approval_id].things_of(one))}
    except UNPROVEN:
        counted = set()  # the approval's own page says so
    return [
        replace(
            ballot,
            yeses=[one for one in ballot.yeses if one.pk in counted],
            answers=[one for one in ballot.answers if one.pk in counted],
        )
        for ballot in ballots
    ]


def _yes(listed: list[Approval]) -> dict[UUID, list[Decision]]:
    """The yeses and answers for each current revision; a person's last turn counts, and only a signed row."""
    last: dict[tuple[UUID, UUID], Decision] = {}
    given = Decision.objects.filter(approval__in=listed, revision=F("approval__revision")).select_related("person")
    for decision in given.order_by("turn"):
        if decision.holds():
            last[decision.approval_id, decision.person_id] = decision
    found: dict[UUID, list[Decision]] = defaultdict(list)
    for decision in last.values():
        if decision.verdict in AGREEING:
            found[decision.approval_id].append(decision)
    return found
