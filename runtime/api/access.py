"""Who calls: an agent by its credential. What people may read and do has routes of its own."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest
from ninja.security import HttpBearer

from runtime import credentials
from runtime.api.errors import Problem
from runtime.credentials import Caller

SEND: Final = "Authorization: Bearer plk_…"


class Credential(HttpBearer):
    """An agent's secret: `Authorization: Bearer plk_…`."""

    def __call__(self, request: HttpRequest) -> Any:
        caller = credentials.agent_of(request)
        if caller is None:
            raise _unknown(request)
        return caller

    def authenticate(self, request: HttpRequest, token: str) -> Caller | None:
        """Not used: the whole header is read at once."""
        return credentials.agent_of(request)


def _unknown(request: HttpRequest) -> Problem:
    """Why nobody is let in: to sign in would not help here, and who has signed in is told so."""
    if not credentials.claimed(request) and request.user.is_authenticated:
        told = f"This is for agents ({SEND}). A person's session reads and decides approvals; runs have their page."
        return Problem(403, "agents_only", told, field="Authorization")
    return Problem(401, "not_known", f"Send an agent's credential that is valid: {SEND}", field="Authorization")
