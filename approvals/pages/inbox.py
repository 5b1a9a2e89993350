"""The inbox: what waits for the reader, what waits for others, what they voted on, what was settled today."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from approvals import people, rows
from approvals.approvals import Approval
from approvals.channels.card import Card
from approvals.decisions import Decision
from approvals.pages import clock
from approvals.pages.cards import card_in
from approvals.pages.door import Visit, member
from approvals.people import Person, Team, Workspace
from approvals.revisions import Revision
from approvals.votes import Ballot

MOST = 200
"""The most rows that the inbox lists; the counts are of all."""

LABELS = {
    "for-you": ("For you", "For you"),
    "others": ("Others can decide", "Others"),
    "voted": ("You voted", "Voted"),
    "settled": ("Settled today", "Settled"),
}
"""The tabs, each with the shorter word that a phone has room for."""
RISKS = {"high": "High", "medium": "Medium", "low": "Low"}
STATES = {
    "approved": ("Approved", ""),
    "answered": ("Answered", ""),
    "rejected": ("Rejected", "bad"),
    "expired": ("Expired", ""),
    "cancelled": ("Withdrawn", ""),
    "superseded": ("Replaced", ""),
}
OUTCOMES = {"none": "", "executed": "ran", "failed": "failed", "unknown": "outcome unknown"}


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

    @property
    def public_id(self) -> str:
        return self.approval.public_id

    @property
    def version(self) -> str:
        """Changes with what the row shows, apart from the time."""
        return f"{self.approval.revision}.{self.filled}.{self.approval.status}.{self.approval.outcome}"

    @property
    def risk(self) -> str:
        return self.approval.risk

    @property
    def risk_word(self) -> str:
        return RISKS.get(self.approval.risk, self.approval.risk)

    @property
    def agent(self) -> str:
        return self.approval.agent

    @property
    def asker(self) -> str:
        return self.approval.requester.first_name if self.approval.requester else ""

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
        return self.approval.expires_at

    @property
    def soon(self) -> bool:
        return self.due - self.now <= timedelta(hours=1)

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
            return {"executed": "good", "failed": "bad", "unknown": "wait"}.get(self.approval.outcome, "")
        return STATES[self.approval.status][1]

    @property
    def verdict_tone(self) -> str:
        return {"approved": "done", "rejected": "danger"}.get(self.approval.status, "")

    @property
    def outcome(self) -> str:
        return OUTCOMES[self.approval.outcome]

    @property
    def outcome_tone(self) -> str:
        return {"executed": "done", "failed": "danger", "unknown": "waiting"}.get(self.approval.outcome, "")

    @property
    def by(self) -> str:
        return self.approval.decided_by.first_name if self.approval.decided_by else ""


@dataclass(frozen=True)
class Group:
    """The rows under one heading."""

    label: str
    rows: list[Entry]

    @property
    def soon(self) -> bool:
        return self.label == "Due within the hour"


# Which approvals


class Reader:
    """A person in a workspace, and what is whose from where they stand. Every question is one condition in SQL."""

    def __init__(self, workspace: Workspace, person: Person) -> None:
        self.workspace, self.person = workspace, person
        self.teams = sorted(people.teams_decided_by(person, workspace.pk))
        self.now = rows.now()

    def tab(self, key: str) -> QuerySet[Approval]:
        """The approvals of a tab, the next deadline or the last decision first."""
        found = Approval.objects.filter(self.conditions()[key], workspace=self.workspace)
        return found.order_by("-decided_at") if key == "settled" else found.order_by("expires_at", "created_at")

    def conditions(self) -> dict[str, Q]:
        """What makes an approval belong to a tab."""
        pending = Q(status="pending", expires_at__gt=self.now)
        mine = self._mine()
        voted = Q(Exists(self._votes()))
        today = timezone.localtime(self.now).replace(hour=0, minute=0, second=0, microsecond=0)
        return {
            "for-you": pending & mine & ~voted,
            "others": pending & ~mine & ~voted,
            "voted": pending & voted,
            "settled": ~Q(status="pending") & Q(decided_at__gte=today),
        }

    def counts(self) -> dict[str, int]:
        """How many approvals each tab has, in one query."""
        conditions = self.conditions()
        wanted = Approval.objects.filter(conditions["settled"] | Q(status="pending"), workspace=self.workspace)
        told = wanted.aggregate(**{key.replace("-", "_"): Count("pk", filter=q) for key, q in conditions.items()})
        return {key: told[key.replace("-", "_")] for key in conditions}

    def _mine(self) -> Q:
        if not self.teams:
            return Q(pk__in=[])
        own = Q(requester=self.person, rule__prevent_self_review=True)
        edited = Revision.objects.filter(approval=OuterRef("pk"), number=OuterRef("revision"), editor=self.person)
        return Q(teams__overlap=self.teams) & ~own & ~(Q(rule__editor_may_approve=False) & Q(Exists(edited)))

    def _votes(self) -> QuerySet[Decision]:
        given = Decision.objects.filter(approval=OuterRef("pk"), revision=OuterRef("revision"), person=self.person)
        return given.filter(verdict=Decision.Verdict.APPROVE)


def waiting(workspace: Workspace, person: Person) -> int:
    """How many approvals wait for this person now."""
    return Reader(workspace, person).tab("for-you").count()


# Rows for the page


def entries(workspace: Workspace, found: Iterable[Approval]) -> list[Entry]:
    """The rows of these approvals, in a number of queries that does not grow with theirs."""
    listed = list(found)
    now = rows.now()
    voted_on, given = _revisions(listed), _yes(listed)
    able = people.deciders_of(workspace.pk, {slug for approval in listed for slug in approval.teams})
    teams = dict(Team.objects.filter(workspace=workspace).values_list("slug", "name"))
    ballots = [Ballot(one, voted_on[one.pk], one.rule, able, given[one.pk]) for one in listed]
    return [_entry(workspace, ballot, teams, now) for ballot in ballots]


def _entry(workspace: Workspace, ballot: Ballot, teams: Mapping[str, str], now: datetime) -> Entry:
    approval, editor = ballot.approval, ballot.revision.editor
    counted = [vote for vote in ballot.yeses if vote.person_id not in ballot.barred]
    return Entry(
        approval=approval,
        url=reverse("review", args=[workspace.slug, approval.public_id]),
        card=card_in(approval, ballot.revision),
        editor=editor.first_name if editor else "",
        filled=replace(ballot, yeses=counted).filled,
        teams=", ".join(teams.get(slug, slug) for slug in approval.teams),
        now=now,
    )


def _revisions(listed: list[Approval]) -> dict[UUID, Revision]:
    current = Revision.objects.filter(approval__in=listed, number=F("approval__revision"))
    return {one.approval_id: one for one in current.select_related("ruling", "editor")}


def _yes(listed: list[Approval]) -> dict[UUID, list[Decision]]:
    """The yeses for each current revision; a person's last turn counts, and only a signed row."""
    last: dict[tuple[UUID, UUID], Decision] = {}
    given = Decision.objects.filter(approval__in=listed, revision=F("approval__revision")).order_by("turn")
    for decision in given:
        if decision.holds():
            last[decision.approval_id, decision.person_id] = decision
    found: dict[UUID, list[Decision]] = defaultdict(list)
    for (approval, _), decision in last.items():
        if decision.verdict == Decision.Verdict.APPROVE:
            found[approval].append(decision)
    return found


def grouped(listed: list[Entry], now: datetime, *, settled: bool) -> list[Group]:
    """The rows under their headings, in the order they came."""
    found: dict[str, list[Entry]] = {}
    for entry in listed:
        found.setdefault("Today" if settled else clock.group(entry.due, now), []).append(entry)
    return [Group(label, members) for label, members in found.items()]


# Filters


def narrowed(found: QuerySet[Approval], filters: Mapping[str, str]) -> QuerySet[Approval]:
    """Only what the filters of the address leave."""
    for name in ("risk", "agent", "tool"):
        if filters[name]:
            found = found.filter(**{name: filters[name]})
    if words := filters["q"]:
        named = ("tool", "tool_title", "agent", "requester__name")
        found = found.filter(*[_any(named, word) for word in words.split()[:8]])
    return found


def _any(names: Iterable[str], word: str) -> Q:
    condition = Q()
    for name in names:
        condition |= Q(**{f"{name}__icontains": word})
    return condition


def filters_of(request: HttpRequest) -> dict[str, str]:
    """What the address asks for; NUL, which no text column can hold, is left out."""
    return {
        name: request.GET.get(name, "").replace("\x00", "")[:200].strip() for name in ("q", "risk", "agent", "tool")
    }


def choices(workspace: Workspace, filters: Mapping[str, str]) -> list[dict[str, Any]]:
    """The three lists beside the search."""
    known = Approval.objects.filter(workspace=workspace).order_by()
    return [
        {"name": "risk", "label": "Risk", "value": filters["risk"], "options": list(RISKS.items())},
        *(
            {"name": name, "label": label, "value": filters[name], "options": [(value, value) for value in values]}
            for name, label, values in (
                ("agent", "Agent", sorted(known.values_list("agent", flat=True).distinct()[:100])),
                ("tool", "Tool", sorted(known.values_list("tool", flat=True).distinct()[:100])),
            )
        ),
    ]


# Views


def home(request: HttpRequest) -> HttpResponse:
    """The inbox of the first workspace, or the sign-in."""
    if not request.user.is_authenticated:
        return redirect("account_login")
    mine = people.workspaces(request.user)
    return redirect("inbox", mine[0].slug) if mine else render(request, "nowhere.html")


@member
def inbox(request: Visit) -> HttpResponse:
    """The list of one tab, by deadline, narrowed by the filters of the address."""
    with rows.within(request.workspace):
        return render(request, "inbox/page.html", _context(request))


def _context(request: Visit) -> dict[str, Any]:
    reader = Reader(request.workspace, request.user)
    chosen = request.GET.get("tab", "")
    chosen = chosen if chosen in LABELS else "for-you"
    filters = filters_of(request)
    found = narrowed(reader.tab(chosen), filters).select_related("requester", "decided_by")
    listed = entries(request.workspace, found[: MOST + 1])
    counts = reader.counts()
    return {
        "workspace": request.workspace,
        "here": "inbox",
        "waiting": counts["for-you"],
        "tabs": [{"key": key, "label": label, "count": counts[key]} for key, label in LABELS.items()],
        "chosen": chosen,
        "filters": filters,
        "choices": choices(request.workspace, filters),
        "groups": grouped(listed[:MOST], reader.now, settled=chosen == "settled"),
        "more": len(listed) > MOST,
        "shown": MOST,
        "empty": None if listed else _emptiness(request, chosen, filters, counts),
    }


def _emptiness(request: Visit, chosen: str, filters: Mapping[str, str], counts: Mapping[str, int]) -> dict[str, Any]:
    """What an empty list says, and where it leads."""
    here = reverse("inbox", args=[request.workspace.slug])
    if any(filters.values()):
        return {
            "title": "Nothing fits",
            "words": "No approval of this list fits the filters.",
            "links": [(f"{here}?tab={chosen}", "Show all of the list")],
        }
    if chosen != "for-you":
        titles = {
            "others": "Nothing waits for others",
            "voted": "None of your votes is waiting",
            "settled": "Nothing was settled today",
        }
        return {"title": titles[chosen], "words": "", "links": [(here, "Show what waits for you")]}
    others = counts["others"]
    links = [(f"{here}?tab=settled", "See what was settled today")] if counts["settled"] else []
    links += [(f"{here}?tab=others", "Show what others can decide")] if others else []
    words = f"{others} {'waits' if others == 1 else 'wait'} for others." if others else "No agent waits for anybody."
    return {"title": "Nothing waits for you", "words": words, "last": _last(request.workspace), "links": links}


def _last(workspace: Workspace) -> Entry | None:
    found = Approval.objects.filter(workspace=workspace, decided_at__isnull=False).select_related(
        "requester", "decided_by"
    )
    listed = entries(workspace, found.order_by("-decided_at")[:1])
    return listed[0] if listed else None
