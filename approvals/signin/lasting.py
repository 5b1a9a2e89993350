"""Lasting: whether a session still counts. It ends with its person, whatever a row says of them afterwards."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import SimpleLazyObject

from approvals import assurance, ways
from approvals.ledger.about import Broken
from approvals.people import Person
from approvals.signin.proofs import way_of_password

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
    return AnonymousUser() if person.is_authenticated and _ended(request, person) else person


def _ended(request: Any, person: Person) -> bool:
    key, began, password = person.public_id, _began(request), way_of_password(person)
    try:
        for told in ways.told(person):
            if key in told.off or password in told.ended or began <= told.out.get(key, _NEVER):
                return True
    except Broken as fault:
        log.error("a session of %s counts for nothing: %s", person.pk, fault)
        return True
    return False


_NEVER = datetime.min.replace(tzinfo=UTC)


def _began(request: Any) -> datetime:
    """When the person of a session first proved who they are in it; now, where that is not known."""
    proofs = request.session.get(assurance.RECORDS) or [{}]
    at = proofs[0].get("at")
    return datetime.fromtimestamp(at, UTC) if isinstance(at, int | float) else datetime.now(UTC)
