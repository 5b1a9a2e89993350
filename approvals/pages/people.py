"""The people of a workspace: who belongs to it, for everybody in it; and whom those who administer it invite."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST

from approvals import deputies, fresh, invitations, letters, people, rows, signin
from approvals.invitations import Invitation
from approvals.pages.door import Visit, member
from approvals.people import Person, Team
from approvals.rows import bounded
from approvals.votes import Refused

P = ParamSpec("P")
SIZE: Final = 100


def administrator(view: Callable[Concatenate[Visit, P], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Let in members who administer the workspace; other members are told that they do not."""

    @wraps(view)
    def enter(request: Visit, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not invitations.may_invite(request.user, request.workspace):
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return member(enter)


@require_http_methods(["GET", "HEAD", "POST"])
@member
def page(request: Visit) -> HttpResponse:
    """Who belongs to the workspace and who is invited; invite somebody. Inviting takes a fresh sign-in."""
    if request.method != "POST":
        return _shown(request, request.GET.get("email", ""), request.GET.getlist("team"))
    if not invitations.may_invite(request.user, request.workspace):
        raise PermissionDenied
    email, teams = request.POST.get("email", "").strip()[:254].replace("\x00", ""), request.POST.getlist("team")
    # What was typed comes back with the reader, who presses once more.
    typed = urlencode({"email": email, "team": teams}, doseq=True)
    if way := fresh.confirm_at(request, f"{_here(request)}?{typed}"):
        return redirect(way)
    if not signin.within_limits(request, "invite"):
        return render(request, "429.html", status=429)
    answer = invitations.invite(request.workspace, email, teams=teams, by=request.user)
    if isinstance(answer, Refused):
        return _shown(request, email, teams, status=422, fault=answer)
    return _sent(request, *answer)


def _sent(request: Visit, invitation: Invitation, token: str) -> HttpResponse:
    """The link goes by letter; where none could be sent, it is shown to whoever invited, this one time."""
    if not invitations.write_to(invitation, request.workspace, token):
        return _shown(request, made=invitation, link=letters.link("join", token))
    messages.success(request, f"{invitation.email} was written to.")
    return redirect(_here(request))


@require_POST
@administrator
def withdraw(request: Visit, invitation: str) -> HttpResponse:
    """End an open invitation."""
    key = rows.parse_id(Invitation.PREFIX, invitation)
    with rows.within(request.workspace):
        found = Invitation.objects.filter(workspace=request.workspace, pk=key).first() if key else None
        if found is None:
            raise Http404
        invitations.withdraw_all(found.email, request.workspace, request.user.public_id)
    messages.success(request, f"The invitation of {found.email} does not count any more.")
    return redirect(_here(request))


def _here(request: Visit) -> str:
    return reverse("people", args=[request.workspace.slug])


def _shown(
    request: Visit, email: str = "", chosen: list[str] | None = None, *, status: int = 200, **more: Any
) -> HttpResponse:
    workspace = request.workspace
    administers = invitations.may_invite(request.user, workspace)
    teams = dict(Team.objects.filter(workspace=workspace).order_by("name").values_list("slug", "name"))
    told: dict[str, Any] = {
        "here": "people",
        "tab": "members",
        "may": administers,
        "email": email,
        "teams": [(slug, name, slug in (chosen or ())) for slug, name in teams.items()],
        "invited": [(one, _named(teams, one.teams)) for one in invitations.open_ones(workspace)] if administers else [],
        "administrators": people.holders("administer", workspace),
        "days": invitations.LASTS.days,
    }
    return render(request, "people/page.html", told | _members(request, teams) | more, status=status)


def _members(request: Visit, teams: dict[str, str]) -> dict[str, Any]:
    """Those who belong to the workspace, by name, a page of them."""
    workspace, after = request.workspace, request.GET.get("after", "")[:240].replace("\x00", "")
    able, away = people.deciders_of(workspace.pk, teams), deputies.away(workspace.pk)
    found = Person.objects.filter(memberships__workspace=workspace).order_by("name", "email")
    page = list((found.filter(name__gte=after) if after else found)[: SIZE + 1])
    members = [(one, _named(teams, able.get(one.pk, {})), one.pk in away) for one in page[:SIZE]]
    return {"members": members, "total": bounded.total(found), "next": page[SIZE].name if len(page) > SIZE else ""}


def _named(teams: dict[str, str], slugs: Any) -> str:
    return ", ".join(name for slug, name in teams.items() if slug in slugs)
