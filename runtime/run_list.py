"""The page of runs: the newest first, by filters that stand in the address, in pages of a bounded size."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_safe

from approvals import rows
from approvals.rows import bounded
from runtime import halts
from runtime.definitions import Agent
from runtime.pages import STATES, Visit, member, state_of, title_of
from runtime.runs import Run

SIZES: Final = (25, 50, 100)
"""How many rows a page of runs may have."""
AGES: Final = {
    "hour": ("In the last hour", timedelta(hours=1)),
    "day": ("In the last 24 hours", timedelta(days=1)),
    "week": ("In the last 7 days", timedelta(days=7)),
    "older": ("Longer ago", timedelta(days=7)),
}
"""When a run was started; the last one is everything before."""
FIELDS: Final = ("state", "agent", "age", "size", "after")


@require_safe
@member
def runs(request: Visit) -> HttpResponse:
    """The runs of the workspace, the newest first, by state, agent and age."""
    with rows.within(request.workspace):
        return render(request, "runs/list.html", _context(request))


def _context(request: Visit) -> dict[str, Any]:
    asked = {name: request.GET.get(name, "").replace("\x00", "")[:200] for name in FIELDS}
    size = int(asked["size"]) if asked["size"] in map(str, SIZES) else SIZES[0]
    agents = dict(Agent.objects.filter(workspace=request.workspace).order_by("name").values_list("name", "pk")[:200])
    found = _narrowed(Run.objects.filter(workspace=request.workspace), asked, agents)
    page = _after(found, asked["after"]).select_related("agent", "requester").order_by("-created_at", "-pk")
    listed = list(page[: size + 1])
    return {
        "here": "runs",
        "board": halts.board(request.workspace, request.user),
        "asked": asked,
        "narrowed": any(asked[name] for name in ("state", "agent", "age")),
        "size": size,
        "entries": [_line(each) for each in listed[:size]],
        "total": bounded.total(found),
        "next": _cursor(listed[size - 1]) if len(listed) > size else "",
        "choices": [
            _choice("state", "State", asked, [(key, words) for key, (words, _) in STATES.items()]),
            _choice("agent", "Agent", asked, [(name, name) for name in agents]),
            _choice("age", "Started", asked, [(key, words) for key, (words, _) in AGES.items()]),
        ],
    }


def _choice(name: str, label: str, asked: Mapping[str, str], options: list[tuple[str, str]]) -> dict[str, Any]:
    return {"name": name, "label": label, "value": asked[name], "options": options}


def _line(run: Run) -> dict[str, Any]:
    words, tone = state_of(run)
    return {"run": run, "title": title_of(run), "state": words, "tone": tone}


def _narrowed(found: QuerySet[Run], asked: Mapping[str, str], agents: Mapping[str, UUID]) -> QuerySet[Run]:
    found = found.filter(status=asked["state"]) if asked["state"] in STATES else found
    if asked["agent"]:
        found = found.filter(agent_id=agents[asked["agent"]]) if asked["agent"] in agents else found.none()
    if asked["age"] not in AGES:
        return found
    since = rows.now() - AGES[asked["age"]][1]
    return found.filter(created_at__lt=since) if asked["age"] == "older" else found.filter(created_at__gte=since)


def _cursor(run: Run) -> str:
    return f"{run.created_at.isoformat()}~{run.pk.hex}"


def _after(found: QuerySet[Run], cursor: str) -> QuerySet[Run]:
    moment, _, key = cursor.partition("~")
    try:
        when: datetime | None = parse_datetime(moment.replace(" ", "+"))
        last = UUID(hex=key) if when and when.tzinfo else None
    except ValueError:
        return found
    if last is None:
        return found
    # The first condition says no more than the second, and lets the index begin there.
    return found.filter(Q(created_at__lte=when), Q(created_at__lt=when) | Q(created_at=when, pk__lt=last))
