"""Entering: somebody is signed in, confirms that it is them, or is signed out everywhere."""

from __future__ import annotations

from typing import Any

from allauth.account.internal.flows.login import perform_login, record_authentication
from allauth.account.models import Login
from allauth.core import ratelimit
from django.contrib.auth import update_session_auth_hash
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.utils.http import url_has_allowed_host_and_scheme

from approvals import witness
from approvals.people import Person

# Questions


def within_limits(request: HttpRequest, action: str, key: str | None = None) -> bool:
    """Count one try of an action that ACCOUNT_RATE_LIMITS names; False if there were too many."""
    return bool(ratelimit.consume(request, action=action, key=key))


def local(way: str | None) -> bool:
    """Whether a way back is a path of this site; a whole address is refused even if it names this host."""
    return bool(way) and str(way).startswith("/") and url_has_allowed_host_and_scheme(str(way), allowed_hosts=None)


# Verbs


def enter(request: HttpRequest, person: Person, method: str, *, to: str | None = None, **how: Any) -> HttpResponse:
    """Sign a person in who has proved who they are by ``method``; a second factor is asked for first where they have
    one."""
    record_authentication(request, person, method, **how)
    return perform_login(request, Login(user=person, redirect_url=to))


def confirm(request: Any, method: str, **how: Any) -> None:
    """Note that the person of this session has just proved again who they are."""
    record_authentication(request, request.user, method, reauthenticated=True, **how)
    witness.note(request.user, "signin.confirmed", {"methods": [method]})


def sign_out_elsewhere(request: Any) -> None:
    """End every other session of the request's person, at once."""
    person = request.user
    end_sessions(person)
    update_session_auth_hash(request, person)


def end_sessions(person: Person) -> None:
    """End every session of a person, at once."""
    Person.objects.filter(pk=person.pk).update(sign_outs=models.F("sign_outs") + 1)
    person.refresh_from_db(fields=["sign_outs"])
