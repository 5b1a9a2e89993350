"""Retention, for those who administer a workspace: which ended runs let go of what was written, and how much of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from typing import Any, Final, NamedTuple

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from approvals import gate, rows
from approvals.ledger import sealing
from approvals.rows import bounded
from runtime import checkpoints, retention
from runtime import runs as run_rows
from runtime.definitions import Agent
from runtime.pages import Visit, member
from runtime.runs import FINAL, Run

AT_ONCE: Final = 50
"""So many runs are listed, and let go at one press: no more than were seen."""
FIELDS: Final = ("agent", "before", "person")


class Deed(NamedTuple):
    """What can be done with a run: the word of its button, what goes, what stays, what is said of each afterwards."""

    word: str
    goes: str
    stays: str
    done: str
    do: Callable[[Run, str], Any]


DEEDS: Final[Mapping[str, Deed]] = {
    "prune": Deed(
        "Prune",
        "All states but the last one.",
        "The last state, arguments, answers, decisions, the ledger.",
        "pruned",
        lambda run, by: retention.prune(run, by=by),
    ),
    "erase": Deed(
        "Erase",
        "All that was written: title, states, arguments, answers, reasons, comments.",
        "That it ran, who decided what and when, digests, the ledger.",
        "erased",
        lambda run, by: retention.erase(run, by=by),
    ),
    "delete": Deed(
        "Delete",
        "The run itself, with all that was written in it.",
        "Its id, the decisions about its calls, the ledger.",
        "deleted",
        lambda run, by: retention.delete(run, by=by),
    ),
}


@require_http_methods(["GET", "HEAD", "POST"])
@member
def page(request: Visit) -> HttpResponse:
    """List ended runs by a filter; POST lets go of those that were listed."""
    if not gate.may(request.user, "administer", request.workspace):
        return render(request, "ledger/retention.html", _frame(request) | {"refused": True}, status=403)
    sent = request.POST if request.method == "POST" else request.GET
    asked = {name: sent.get(name, "").replace("\x00", "")[:200].strip() for name in FIELDS}
    if request.method != "POST":
        return _shown(request, asked)
    if confirm := gate.confirm_at(request, _here(request, asked)):
        return redirect(confirm)
    return _let_go(request, asked)


def _let_go(request: Visit, asked: Mapping[str, str]) -> HttpResponse:
    deed = DEEDS.get(request.POST.get("deed", ""))
    keys = [key for text in request.POST.getlist("run")[:AT_ONCE] if (key := rows.parse_id(Run.PREFIX, text))]
    typed = request.POST.get("typed", "").strip()[:60]
    if deed is None:
        return _shown(request, asked, fault="Choose what is to be done.", at="deed", typed=typed)
    if not keys:
        return _shown(request, asked, fault="Choose at least one run.", at="run", deed=deed, typed=typed)
    if typed != request.workspace.slug:
        told = f"Type {request.workspace.slug}, so that nothing goes by mistake."
        return _shown(request, asked, fault=told, at="typed", deed=deed, keys=keys, typed=typed)
    with rows.reading(request.workspace):
        found = list(Run.objects.filter(workspace=request.workspace, pk__in=keys).order_by("created_at"))
        kept = [(run, why) for run in found if (why := _done(run, deed, request.user.public_id))]
    done = len(found) - len(kept)
    messages.success(request, f"{done} {'run' if done == 1 else 'runs'} {'is' if done == 1 else 'are'} {deed.done}.")
    for _, why in kept:
        messages.error(request, why)
    return redirect(_here(request, asked))


def _done(run: Run, deed: Deed, by: str) -> str:
    """Do it to one run; why it could not be done, or nothing."""
    try:
        deed.do(run, by)
    except (retention.NotYet, checkpoints.Unreadable) as fault:
        return str(fault)
    return ""


def _here(request: Visit, asked: Mapping[str, str]) -> str:
    query = urlencode({name: value for name, value in asked.items() if value})
    return f"{reverse('retention', args=[request.workspace.slug])}?{query}"


def _frame(request: Visit) -> dict[str, Any]:
    return {"here": "ledger", "tabs": gate.ledger_tabs(request.workspace, request.user, "retention")}


def _shown(request: Visit, asked: Mapping[str, str], *, fault: str = "", at: str = "", **more: Any) -> HttpResponse:
    with rows.within(request.workspace):
        found = _narrowed(request, asked)
        listed = list(found.select_related("agent", "requester").order_by("ended_at", "pk")[:AT_ONCE])
        told = _frame(request) | {"asked": asked, "fault": fault, "at": at, "deeds": DEEDS, **more}
        told |= {"runs": [(one, _title(one)) for one in listed], "total": bounded.total(found), "most": AT_ONCE}
        told |= {"agents": _agents(request), "person": _named(asked["person"])}
    return render(request, "ledger/retention.html", told, status=422 if fault else 200)


def _narrowed(request: Visit, asked: Mapping[str, str]) -> QuerySet[Run]:
    found = Run.objects.filter(workspace=request.workspace, status__in=FINAL, ended_at__isnull=False)
    found = found.filter(agent__name=asked["agent"]) if asked["agent"] else found
    if day := _day(asked["before"]):
        found = found.filter(ended_at__lt=timezone.make_aware(datetime.combine(day, time.min)))
    if key := rows.parse_id("per", asked["person"]):
        found = found.filter(requester_id=key)
    return found.filter(erased_at=None)


def _day(text: str) -> date | None:
    try:
        found = parse_date(text)
    except ValueError:
        return None
    return found if found and 1970 <= found.year <= 9000 else None


def _agents(request: Visit) -> list[str]:
    return list(Agent.objects.filter(workspace=request.workspace).order_by("name").values_list("name", flat=True)[:100])


def _named(public_id: str) -> str:
    key = rows.parse_id("per", public_id)
    return gate.names([key]).get(key, "") if key else ""


def _title(run: Run) -> str:
    try:
        return run_rows.title_of(run)
    except sealing.Tampered:
        return "Its title is not the one that was sealed"
