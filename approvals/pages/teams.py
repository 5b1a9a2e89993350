"""Teams: the list, one team with who decides for it and which rules ask it, and what is done about both."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from approvals import bars, changes, fresh, people, policies, rights, rows, shortfalls, teams, vouched
from approvals.approvals import Approval
from approvals.deputies import Absence
from approvals.ledger.about import Broken
from approvals.pages.door import Visit, member
from approvals.pages.people import administrator
from approvals.people import Person, Team
from approvals.rulings import UNPROVEN
from approvals.votes import Refused


@require_safe
@member
def page(request: Visit) -> HttpResponse:
    """The teams of the workspace, each with how many decide for it and the rules that ask it."""
    return _listed(request)


def _listed(request: Visit, *, name: str = "", fault: Refused | None = None) -> HttpResponse:
    workspace = request.workspace
    with rows.within(workspace):
        known = list(Team.objects.filter(workspace=workspace).order_by("name"))
        able = people.deciders_of(workspace.pk, [team.slug for team in known])
        counts = Counter(seat for seats in able.values() for seat in seats)
        rules = _rules(request)
        told = {
            "here": "people",
            "tab": "teams",
            "may": people.may(request.user, "administer", workspace),
            "administrators": people.holders("administer", workspace),
            "entries": [(team, counts[team.slug], teams.seats_in(rules, team.slug)) for team in known],
            "name": name or request.GET.get("name", "")[: teams.NAME_MOST],
            "fault": fault,
        }
    return render(request, "people/teams.html", told, status=422 if fault else 200)


def _rules(request: Visit) -> list[dict[str, Any]]:
    """The rules in force; none where the policy proves nothing."""
    policy = policies.current(request.workspace.pk)
    try:
        return policy.rules if policy else []
    except UNPROVEN:
        return []


@require_POST
@administrator
def create(request: Visit) -> HttpResponse:
    """Form a team, of nobody yet."""
    name = request.POST.get("name", "")[:200].replace("\x00", "")
    here = reverse("teams", args=[request.workspace.slug])
    if way := fresh.confirm_at(request, f"{here}?{urlencode({'name': name})}"):
        return redirect(way)
    answer = teams.create(request.workspace, name, by=request.user)
    if isinstance(answer, Refused):
        return _listed(request, name=name, fault=answer)
    messages.success(request, f"{answer.name} is formed. Say who decides for it.")
    return redirect("team", request.workspace.slug, answer.public_id)


# One team


@require_safe
@member
def team(request: Visit, team_id: str) -> HttpResponse:
    """One team: who decides for it, which rules ask it, and whose seats are lent."""
    return _shown(request, _team_of(request, team_id))


def _team_of(request: Visit, team_id: str) -> Team:
    key = rows.parse_id(Team.PREFIX, team_id)
    found = Team.objects.filter(workspace=request.workspace, pk=key).first() if key else None
    if found is None:
        raise Http404
    return found


def _shown(request: Visit, team: Team, *, status: int = 200, **more: Any) -> HttpResponse:
    workspace = request.workspace
    with rows.within(workspace):
        administers, deciders = people.may(request.user, "administer", workspace), people.deciders(team)
        rules = _rules(request)
        short = {rule["id"] for rule in rules if rule["approvals"] and not bars.satisfiable(workspace.pk, rule)}
        told: dict[str, Any] = {
            "here": "people",
            "tab": "teams",
            "team": team,
            "may": administers,
            "administrators": people.holders("administer", workspace),
            "deciders": deciders,
            "members": [one for one in rights.members(workspace) if one not in deciders] if administers else [],
            "rules": [(rule, count, rule in short) for rule, count in teams.seats_in(rules, team.slug)],
            "lent": _lent(team, deciders),
            "waits": _waits(team),
            "name": team.name,
        }
    return render(request, "people/team.html", told | more, status=status)


def _waits(team: Team) -> list[Approval]:
    """The changes of this team that people are asked about."""
    try:
        subject = changes.Change("team", vouched.called(team), "", {}).subject
    except Broken:
        return []
    return [one for one in changes.waiting(team.workspace_id) if one.subject == subject]


def _lent(team: Team, deciders: list[Person]) -> list[Absence]:
    """The seats of the team that are lent now, each with the lender and the deputy."""
    found = Absence.objects.select_related("person", "deputy").filter(
        workspace_id=team.workspace_id,
        person__in=deciders,
        deputy__isnull=False,
        ended_at=None,
        starts_at__lte=rows.Now(),
        ends_at__gt=rows.Now(),
    )
    return [one for one in found.order_by("ends_at") if one.lends(team.slug) and one.holds()]


@require_POST
@administrator
def rename(request: Visit, team_id: str) -> HttpResponse:
    """Call a team otherwise, or ask those who have to approve it."""
    found, name = _team_of(request, team_id), request.POST.get("name", "")[:200].replace("\x00", "")
    here = redirect("team", request.workspace.slug, found.public_id)
    if way := fresh.confirm_at(request, here.url):
        return redirect(way)
    answer = teams.rename(found, name, by=request.user)
    if isinstance(answer, Refused) and answer.pointer:
        return _shown(request, found, status=422, name=name, fault=answer)
    return _answered(request, here, answer, f"It is called {found.name} now.")


@require_POST
@administrator
def deciders(request: Visit, team_id: str) -> HttpResponse:
    """Let a member decide for the team, or no more; first it is said which rules nobody could satisfy then."""
    found, gives = _team_of(request, team_id), request.POST.get("do") == "give"
    here = redirect("team", request.workspace.slug, found.public_id)
    if gives and (way := fresh.confirm_at(request, here.url)):
        return redirect(way)
    key = rows.parse_id(Person.PREFIX, request.POST.get("person", ""))
    person = Person.objects.filter(pk=key, memberships__workspace=request.workspace).first() if key else None
    if person is None:
        messages.error(request, "Choose somebody who belongs to the workspace.")
        return here
    short = [] if gives else shortfalls.without(request.workspace.pk, person, seat=found.slug)
    if short and not request.POST.get("sure"):
        return _shown(request, found, status=409, asks={"person": person, "sentences": short})
    does = rights.give if gives else rights.take
    answer = does(person, "decide", found, by=request.user)
    return _answered(request, here, answer, f"{person.name} decides for {found.name}{'' if gives else ' no more'}.")


def _answered(request: Visit, here: Any, answer: Any, done: str) -> HttpResponse:
    if isinstance(answer, Refused):
        messages.error(request, answer.message)
    elif isinstance(answer, Approval):
        messages.info(request, f"It has to be approved first, and people are asked: {answer.public_id}.")
    else:
        messages.success(request, done)
    return here
