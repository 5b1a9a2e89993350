"""The inbox: what waits for the reader, what waits for others, what they voted on, what was settled today."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from approvals import floods, glass, habits, halts, rescues, rows, shadows, workspaces
from approvals.approvals import ENDED, Approval
from approvals.pages import clock
from approvals.pages.door import Visit, member
from approvals.pages.entries import RISKS, Entry, entries
from approvals.pages.matter import address_of
from approvals.pages.reader import Reader
from approvals.people import Workspace
from approvals.rows import bounded

MOST = 200
"""The most rows that the inbox lists; the counts are of all."""

LABELS = {
    "for-you": ("For you", "For you"),
    "others": ("Others can decide", "Others"),
    "voted": ("You voted", "Voted"),
    "settled": ("Settled today", "Settled"),
}
"""The tabs, each with the shorter word that a phone has room for."""


@dataclass(frozen=True)
class Group:
    """The rows under one heading."""

    label: str
    rows: list[Entry]

    @property
    def soon(self) -> bool:
        return self.label == "Due within the hour"


def grouped(listed: list[Entry], now: datetime, *, settled: bool) -> list[Group]:
    """The rows under their headings, in the order they came."""
    found: dict[str, list[Entry]] = {}
    for entry in listed:
        label = "Frozen" if entry.frozen else clock.group(entry.due, now)
        found.setdefault("Today" if settled else label, []).append(entry)
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
    return [
        {"name": "risk", "label": "Risk", "value": filters["risk"], "options": list(RISKS.items())},
        *(
            {
                "name": name,
                "label": label,
                "value": filters[name],
                "options": [(value, value) for value in values if value],
            }
            for name, label, values in (
                ("agent", "Agent", bounded.values(Approval, "agent", workspace.pk, most=100)),
                ("tool", "Tool", bounded.values(Approval, "tool", workspace.pk, most=100)),
            )
        ),
    ]


# Views


def home(request: HttpRequest) -> HttpResponse:
    """The inbox of the first workspace, or the sign-in."""
    if not request.user.is_authenticated:
        return redirect("account_login")
    mine = workspaces.of_person(request.user)
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
    digests = floods.digests(found) if chosen != "settled" and not filters["agent"] else []
    found = found.exclude(agent__in=[one.agent for one in digests])
    listed = entries(request.workspace, found[: MOST + 1])
    counts = reader.counts()
    return {
        "workspace": request.workspace,
        "here": "inbox",
        "waiting": counts["for-you"],
        "broken": glass.unreviewed(request.workspace.pk),
        "rescues": rescues.told(request.workspace.pk),
        "habits": habits.for_reader(request.workspace, request.user),
        "halts": halts.on(request.workspace.pk),
        "tabs": [{"key": key, "label": label, "count": counts[key]} for key, label in LABELS.items()],
        "chosen": chosen,
        "shadow": shadows.stands_until(request.workspace.pk),
        "filters": filters,
        "choices": choices(request.workspace, filters),
        "groups": grouped(listed[:MOST], reader.now, settled=chosen == "settled"),
        "digests": digests,
        "more": len(listed) > MOST,
        "shown": MOST,
        "empty": None if listed or digests else _emptiness(request, chosen, filters, counts),
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
    others, last = counts["others"], _last(request.workspace)
    if last is None and not others and (first := address_of("start", request.workspace.slug)):
        words = "Four steps lead to a first call that somebody approves."
        return {"title": "Nothing was ever asked here", "words": words, "links": [(first, "Take the first steps")]}
    links = [(f"{here}?tab=settled", "See what was settled today")] if counts["settled"] else []
    links += [(f"{here}?tab=others", "Show what others can decide")] if others else []
    words = f"{others} {'waits' if others == 1 else 'wait'} for others." if others else "No agent waits for anybody."
    return {"title": "Nothing waits for you", "words": words, "last": last, "links": links}


def _last(workspace: Workspace) -> Entry | None:
    found = Approval.objects.filter(ENDED, workspace=workspace, decided_at__isnull=False).select_related(
        "requester", "decided_by"
    )
    listed = entries(workspace, found.order_by("-decided_at")[:1])
    return listed[0] if listed else None
