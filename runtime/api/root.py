"""The API put together: its routes, its reader, its errors, its description and the page that shows it."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI

from runtime.api import errors
from runtime.api.docs import Page
from runtime.api.reading import StrictParser

ABOUT: Final = """\
Agents start, read and withdraw runs with their credential: `Authorization: Bearer plk_…`, made by
`manage.py credentials create`. People read and decide approvals with the session of the sign-in page and, where
something changes, its token in the header `X-CSRFToken`. An agent's credential never decides.

Bodies are JSON, read strictly: a doubled key, NaN, or a number that would change by being read is refused with its
place. Every error has one shape and names the field at fault. Amounts are in cents, times in UTC."""

api: Final = NinjaAPI(
    title="Placet",
    version="1",
    description=ABOUT,
    urls_namespace="api-v1",
    parser=StrictParser(),
    docs=Page(),
)
errors.install(api)
api.add_router("", "runtime.api.runs.router")
api.add_router("", "runtime.api.history.router")
api.add_router("", "approvals.api.router")
api.add_router("", "approvals.api_decisions.router")
api.add_router("", "approvals.api_comments.router")
api.add_router("", "approvals.api_nudges.router")


def nothing_here(request: HttpRequest, rest: str = "") -> HttpResponse:
    """The answer for every address under the API that is none of its routes."""
    return errors.answer(404)
