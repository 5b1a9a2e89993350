"""Who calls: an agent by its credential, or a person by their session."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja.security import HttpBearer

from runtime import credentials
from runtime.api.errors import CODES, Problem
from runtime.credentials import Caller


class Credential(HttpBearer):
    """An agent's secret: `Authorization: Bearer plk_…`."""

    def __call__(self, request: HttpRequest) -> Any:
        caller = credentials.agent_of(request)
        if caller is None:
            raise Problem(401, *CODES[401], field="Authorization")
        return caller

    def authenticate(self, request: HttpRequest, token: str) -> Caller | None:
        """Not used: the whole header is read at once."""
        return credentials.agent_of(request)
