"""One person of a workspace, for those who administer it: their rights, how they sign in, and how they leave."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Model
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from approvals import fresh, leaving, people, rights, rows, shortfalls, signin
from approvals.approvals import Approval
from approvals.pages.door import Visit, member
from approvals.pages.people import administrator
from approvals.people import Person, Team, Workspace
from approvals.votes import Refused

WORDS = {"administer": "Administers the workspace", "audit": "Reads everything in it"}
DONE = {
    "leave": "{} belongs to the workspace no more.",
    "off": "{} is switched off: they sign in nowhere any more.",
    "on": "{} may sign in again.",
    "out": "{} is signed out everywhere.",
    "factors": "The second factors of {} are taken away.",
    "reset": "{} was written to, with a link to a new password.",
}
AT_ONCE = {"leave", "off", "out"}
"""What ends something, and so waits for no fresh sign-in."""


@require_safe
@member
def page(request: Visit, person_id: str) -> HttpResponse:
    """What somebody may do here; what is done about it is for those who administer the workspace."""
    return _shown(request, _person_of(request, person_id))


def _person_of(request: Visit, person_id: str) -> Person:
    key = rows.parse_id(Person.PREFIX, person_id)
    found = Person.objects.filter(pk=key, memberships__workspace=request.workspace).first() if key else None
    if found is None:
        raise Http404
    return found


def _shown(request: Visit, person: Person, *, status: int = 200, **more: Any) -> HttpResponse:
    workspace = request.workspace
    with rows.within(workspace):
        administers = people.may(request.user, "administer", workspace)
        held = people.rights_of(person, workspace)
        told: dict[str, Any] = {
            "here": "people",
            "tab": "members",
            "person": person,
            "may": administers,
            "itself": person.pk == request.user.pk,
            "held": sorted((_words(right, thing), right, _id(thing)) for right, thing in held),
            "offered": _offered(workspace, {(right, thing.pk) for right, thing in held}) if administers else [],
            "administrators": people.holders("administer", workspace),
        }
        if administers:
            told |= {"ends": leaving.what_ends(person, workspace), "short": leaving.shortfall(person, workspace)}
            told["factors"] = _factors(person)
    return render(request, "people/person.html", told | more, status=status)


def _words(right: str, thing: Any) -> str:
    return WORDS.get(right) or f"{'Decides for' if right == 'decide' else right.capitalize() + 's'} {thing}"


def _id(thing: Any) -> str:
    return str(thing.public_id)


def _offered(workspace: Workspace, held: set[tuple[str, Any]]) -> list[tuple[str, str]]:
    """The rights that somebody may be given here, each with the value of its choice. Who operates an agent is said on
    its own page."""
    teams = Team.objects.filter(workspace=workspace).order_by("name")
    known: list[tuple[str, Team | Workspace, str]] = [("decide", team, f"Decide for {team.name}") for team in teams]
    known += [("audit", workspace, "Read everything in the workspace"), ("administer", workspace, "Administer it")]
    return [(f"{right}:{_id(thing)}", words) for right, thing, words in known if (right, thing.pk) not in held]


def _factors(person: Person) -> str:
    held = [one.kind for one in signin.factors(person)]
    told = [f"{count} passkey{'' if count == 1 else 's'}"] if (count := held.count("passkey")) else []
    told += ["an authenticator app"] if "totp" in held else []
    return " and ".join(told)


# Rights


@require_POST
@administrator
def give(request: Visit, person_id: str) -> HttpResponse:
    """Give a right, or ask those who have to approve it."""
    person, (right, thing) = _person_of(request, person_id), _chosen(request)
    here = redirect("person", request.workspace.slug, person.public_id)
    if thing is None:
        messages.error(request, "Choose a right.")
        return here
    if way := fresh.confirm_at(request, here.url):
        return redirect(way)
    answer = rights.give(person, right, thing, by=request.user)
    if isinstance(answer, Approval):
        messages.info(request, f"{person.name} waits until people approved it: {answer.public_id}.")
    return _answered(request, here, answer, f"{person.name}: {_words(right, thing).lower()}.")


@require_POST
@administrator
def take(request: Visit, person_id: str) -> HttpResponse:
    """Take a right away, at once; first it is said which rules nobody could satisfy then."""
    person, (right, thing) = _person_of(request, person_id), _chosen(request)
    if thing is None:
        raise Http404
    seat = thing.slug if isinstance(thing, Team) else _id(thing)
    short = shortfalls.without(request.workspace.pk, person, seat=seat) if right in {"decide", "operate"} else []
    if short and not request.POST.get("sure"):
        told = {"right": f"{right}:{_id(thing)}", "words": _words(right, thing), "sentences": short}
        return _shown(request, person, status=409, asks=told)
    here = redirect("person", request.workspace.slug, person.public_id)
    return _answered(request, here, rights.take(person, right, thing, by=request.user), "It is taken away.")


def _chosen(request: Visit) -> tuple[str, Model | None]:
    """The right and the thing that the form names, if they are of this workspace."""
    right, _, named = request.POST.get("right", "").partition(":")
    if right in WORDS and named == request.workspace.public_id:
        return right, request.workspace
    if right == "decide":
        key = rows.parse_id(Team.PREFIX, named)
        return right, Team.objects.filter(workspace=request.workspace, pk=key).first() if key else None
    held = people.rights_of(_person_of(request, request.resolver_match.kwargs["person_id"]), request.workspace)  # type: ignore[union-attr] # it was resolved
    return right, next((thing for known, thing in held if (known, _id(thing)) == (right, named)), None)


# Their sign-in, and the end of it


@require_POST
@administrator
def deed(request: Visit, person_id: str) -> HttpResponse:
    """Do one of DONE about somebody."""
    person, do = _person_of(request, person_id), request.POST.get("do", "")
    here = redirect("person", request.workspace.slug, person.public_id)
    if do not in DONE:
        return here
    if do not in AT_ONCE and (way := fresh.confirm_at(request, here.url)):
        return redirect(way)
    answer = _do(request, person, do)
    if do == "leave" and not isinstance(answer, Refused):
        here = redirect(reverse("people", args=[request.workspace.slug]))
    return _answered(request, here, answer, DONE[do].format(person.name))


def _do(request: Visit, person: Person, do: str) -> Any:
    by = request.user
    match do:
        case "leave":
            return leaving.leave(person, request.workspace, by=by)
        case "off":
            return leaving.switch_off(person, by=by)
        case "on":
            return leaving.switch_on(person, by=by)
        case "out":
            return leaving.sign_out(person, by=by)
        case "factors":
            return leaving.drop_factors(person, by=by)
    if not signin.within_limits(request, "invite"):
        return Refused("limited", "Too many letters in one minute. Try again shortly.")
    return leaving.write_reset(person, by=by)


def _answered(request: Visit, here: Any, answer: Any, done: str) -> HttpResponse:
    if isinstance(answer, Refused):
        messages.error(request, answer.message)
    elif not isinstance(answer, Approval):
        messages.success(request, done)
    return here
