"""Absences: who is away or lends their seats, saying so for oneself or, as an administrator, for somebody else."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST

from approvals import absences, fresh, people, rights, rows
from approvals.deputies import Absence
from approvals.pages.door import Visit, member
from approvals.people import Person, Team
from approvals.votes import Refused

FIELDS: Final = ("person", "kind", "starts_at", "ends_at", "deputy")


@require_http_methods(["GET", "HEAD", "POST"])
@member
def page(request: Visit) -> HttpResponse:
    """Who is away now or soon; say that somebody is. For somebody else it takes a fresh sign-in."""
    given = request.POST if request.method == "POST" else request.GET
    sent: dict[str, Any] = {name: given.get(name, "").replace("\x00", "")[:60] for name in FIELDS}
    sent["team"] = given.getlist("team")[:100]
    if request.method != "POST":
        return _shown(request, sent)
    here = reverse("absences", args=[request.workspace.slug])
    others = sent["person"] not in {"", request.user.public_id}
    if others and (way := fresh.confirm_at(request, f"{here}?{urlencode(sent, doseq=True)}")):
        return redirect(way)
    answer = _announce(request, sent)
    if isinstance(answer, Refused):
        return _shown(request, sent, answer)
    done = "is away" if answer.kind == Absence.Kind.OUT_OF_OFFICE else "lends their seats"
    messages.success(request, f"{answer.person.name} {done}.")
    return redirect(here)


def _announce(request: Visit, sent: dict[str, Any]) -> Absence | Refused:
    person = _member(request, sent["person"]) if sent["person"] else request.user
    deputy = _member(request, sent["deputy"]) if sent["deputy"] else None
    if person is None or (sent["deputy"] and deputy is None):
        where = "/deputy" if person else "/person"
        return Refused("no_member", "Choose somebody who belongs to the workspace.", pointer=where)
    ends_at, starts_at = _moment(sent["ends_at"]), _moment(sent["starts_at"])
    if ends_at is None or (sent["starts_at"] and starts_at is None):
        return Refused("invalid", "Give a day and a time.", pointer="/starts_at" if ends_at else "/ends_at")
    return absences.announce(
        request.workspace,
        person,
        kind=Absence.Kind.DELEGATION if sent["kind"] == "lends" else Absence.Kind.OUT_OF_OFFICE,
        starts_at=starts_at,
        ends_at=ends_at,
        deputy=deputy,
        teams=sent["team"],
        by=request.user,
    )


def _moment(text: str) -> datetime | None:
    """A moment by the reader's clock; None where the text is none."""
    try:
        return timezone.make_aware(datetime.fromisoformat(text)) if text else None
    except (ValueError, OverflowError):
        return None


def _member(request: Visit, public_id: str) -> Person | None:
    key = rows.parse_id(Person.PREFIX, public_id)
    return Person.objects.filter(pk=key, memberships__workspace=request.workspace).first() if key else None


def _shown(request: Visit, sent: dict[str, Any], fault: Refused | None = None) -> HttpResponse:
    workspace, person = request.workspace, request.user
    with rows.within(workspace):
        administers = people.may(person, "administer", workspace)
        known = Team.objects.filter(workspace=workspace).order_by("name")
        own = people.teams_decided_by(person, workspace.pk)
        teams = [(team.slug, team.name) for team in known if administers or team.slug in own]
        names = {team.slug: team.name for team in known}
        told: dict[str, Any] = {
            "here": "people",
            "tab": "absences",
            "may": administers,
            "entries": [
                (one, ", ".join(names.get(slug, slug) for slug in one.teams), administers or one.person_id == person.pk)
                for one in absences.standing(workspace)
            ],
            "members": rights.members(workspace),
            "teams": [(slug, name, slug in sent["team"]) for slug, name in teams],
            "sent": sent,
            "fault": fault,
            "where": (fault.pointer or "").strip("/") if fault else "",
            "zone": timezone.get_current_timezone_name(),
            "now": timezone.now(),
            "longest": absences.LONGEST.days,
        }
    return render(request, "people/absences.html", told, status=422 if fault else 200)


@require_POST
@member
def end(request: Visit, absence: str) -> HttpResponse:
    """End an absence before its time."""
    key = rows.parse_id(Absence.PREFIX, absence)
    known = Absence.objects.select_related("person")
    found = known.filter(workspace=request.workspace, pk=key).first() if key else None
    if found is None:
        raise Http404
    refused = absences.end(found, request.workspace, by=request.user)
    if refused and refused.code == "not_allowed":
        return render(request, "403.html", status=403)
    if refused:
        messages.error(request, refused.message)
    else:
        messages.success(request, f"It is over: {found.person.name} is back.")
    return redirect("absences", request.workspace.slug)
