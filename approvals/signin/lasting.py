"""Lasting: whether a session still counts. It ends with its person, whatever a row says of them afterwards."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import SimpleLazyObject

from approvals import assurance, ways
from approvals.ledger.about import Broken
from approvals.people import Person
from approvals.signin.proofs import way_of_password
from approvals.ways import Told

log = logging.getLogger(__name__)


def lasting(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: whoever the ledger says is switched off, or signed out since, is nobody, and so is anybody while it
    proves nothing."""

    def ask(request: Any) -> HttpResponseBase:
        told = request.user
        request.user = SimpleLazyObject(lambda: _counted(request, told))
        return get_response(request)

    return ask


def _counted(request: Any, person: Any) -> Any:
    if not person.is_authenticated:
        return person
    try:
        if not _ended(request, person):
            return person
        request.session.flush()  # or what was proved in it before would be beside the next sign-in
    except Broken as fault:
        log.error("a session of %s counts for nothing: %s", person.pk, fault)
    return AnonymousUser()


def _ended(request: Any, person: Person) -> bool:
    """Raises Broken."""
    key, password = person.public_id, way_of_password(person)
    return any(
        key in told.off | told.gone or password in told.ended or _too_old_or_too_weak(request, key, told)
        for told in ways.told(person)
    )


def _too_old_or_too_weak(request: Any, key: str, told: Told) -> bool:
    """Whether a session began before its person's were ended, by an identity of old alone, or without the second factor
    that they had by then."""
    proofs = request.session.get(assurance.RECORDS)
    if not proofs:
        return False
    began = datetime.fromtimestamp(proofs[0]["at"], UTC)
    if began <= told.unlinked.get(key, _NEVER) and all(one.get("method") == "oidc" for one in proofs):
        return True  # it rests on nothing but a provider from which the person was unlinked since
    asked = key in told.since and began > told.since[key] + _SKEW
    return began <= told.out.get(key, _NEVER) or (asked and all(one.get("method") != "mfa" for one in proofs))


_NEVER = datetime.min.replace(tzinfo=UTC)
_SKEW = timedelta(seconds=assurance.SKEW_SECONDS)
"""How far the clock of this host, by which a proof is dated, may be ahead of the ledger's."""
