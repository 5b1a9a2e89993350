"""The inbox: what waits for the reader, what waits for others, what they voted on, what was settled today."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from approvals import floods, glass, habits, rescues, rows, shadows, workspaces
from approvals.approvals import ENDED, Approval
from approvals.floods import Digest
from approvals.pages import finder, looks, order
from approvals.pages.door import Visit, member
from approvals.pages.entries import Entry, entries
from approvals.pages.matter import address_of
from approvals.pages.reader import Reader, told
from approvals.people import Workspace

PAGE = 50
"""The most rows of one page; the counts are of all."""

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
        return self.label == order.HEADINGS[order.SOON]


def grouped(listed: list[Entry]) -> list[Group]:
    """The rows under their headings, in the order they came."""
    found: dict[str, list[Entry]] = {}
    for entry in listed:
        label = "Today" if entry.settled else order.HEADINGS[order.heading_of(entry.approval)]
        found.setdefault(label, []).append(entry)
    return [Group(label, members) for label, members in found.items()]


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
    filters, after = finder.filters_of(request), order.read(request.GET.get("after", ""))
    wanted = finder.wanted(request.workspace, filters)
    digests = _digests(reader.tab(chosen).filter(wanted), chosen, filters)
    found = reader.tab(chosen, after).filter(wanted).select_related("requester", "decided_by")
    found = found.exclude(agent__in=[one.agent for one in digests])
    listed = list(found[: PAGE + 1])
    counts = reader.counts()
    shown = _looked_at(request, listed[:PAGE])
    return {
        "workspace": request.workspace,
        "here": "inbox",
        "selecting": chosen == "for-you" and request.GET.get("select") == "yes",
        "waiting": told(counts["for-you"]) if counts["for-you"] else "",
        "broken": glass.unreviewed(request.workspace.pk),
        "rescues": rescues.told(request.workspace.pk),
        "habits": habits.for_reader(request.workspace, request.user),
        "halts": reader.halted,
        "tabs": [{"key": key, "label": label, "count": told(counts[key])} for key, label in LABELS.items()],
        "chosen": chosen,
        "shadow": shadows.stands_until(request.workspace.pk),
        "filters": filters,
        "narrowings": sum(bool(filters[name]) for name in finder.FIELDS if name != "q"),
        "choices": finder.choices(request.workspace, filters),
        "groups": grouped(shown),
        "digests": [] if after else digests,
        "after": after,
        "next": order.place_of(listed[PAGE - 1], after.at if after else reader.now) if len(listed) > PAGE else "",
        "last": _last(request.workspace),
        "empty": None if listed or digests else _emptiness(request, chosen, filters, counts),
    }


def _digests(found: QuerySet[Approval], chosen: str, filters: Mapping[str, str]) -> list[Digest]:
    """The agents that ask so much that it is one row, unless the address asks for what is in it."""
    return [] if chosen == "settled" or filters["agent"] else floods.digests(found)


def _looked_at(request: Visit, listed: list[Approval]) -> list[Entry]:
    """The rows, with those who look at them."""
    beside = looks.others(request)
    made = entries(request.workspace, listed)
    return [replace(one, lookers=tuple(beside.get(one.public_id, ()))) for one in made]


def _emptiness(request: Visit, chosen: str, filters: Mapping[str, str], counts: Mapping[str, int]) -> dict[str, Any]:
    """What an empty list says, and where it leads."""
    here = reverse("inbox", args=[request.workspace.slug])
    if request.GET.get("after"):
        return {"title": "That was all", "words": "", "links": [(f"{here}?tab={chosen}", "Back to the first")]}
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
    others, last = counts["others"], _last_row(request.workspace)
    if last is None and not others and (first := address_of("start", request.workspace.slug)):
        words = "Four steps lead to a first call that somebody approves."
        return {"title": "Nothing was ever asked here", "words": words, "links": [(first, "Take the first steps")]}
    links = [(f"{here}?tab=settled", "See what was settled today")] if counts["settled"] else []
    links += [(f"{here}?tab=others", "Show what others can decide")] if others else []
    words = (
        f"{told(others)} {'waits' if others == 1 else 'wait'} for others." if others else "No agent waits for anybody."
    )
    return {"title": "Nothing waits for you", "words": words, "last": last, "links": links}


def _last_row(workspace: Workspace) -> Entry | None:
    last = _last(workspace)
    return entries(workspace, [last])[0] if last else None


def _last(workspace: Workspace) -> Approval | None:
    """What was settled last, whoever settled it."""
    ended = Approval.objects.filter(ENDED, workspace=workspace, decided_at__isnull=False)
    return ended.select_related("requester", "decided_by").order_by("-decided_at").first()
