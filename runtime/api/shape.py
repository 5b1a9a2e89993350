"""Middleware: every error under /api/ has the one shape, and an agent's credential opens nothing outside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponseBase

from runtime.api import errors
from runtime.credentials import HEAD

API: Final = "/api/"
KEPT: Final = ("Allow", "Retry-After", "WWW-Authenticate")


def one_shape(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Stands first, so that it also sees what Django itself refuses: a wrong method, a bad host, a body that is too
    large, an address where nothing is."""

    def shaped(request: HttpRequest) -> HttpResponseBase:
        return _stranger(request) or _shaped(request, get_response(request))

    return shaped


def _stranger(request: HttpRequest) -> HttpResponseBase | None:
    """Pages are for people: whoever shows an agent's credential there is sent away before anything is looked at."""
    if request.path.startswith(API) or HEAD not in request.META.get("HTTP_AUTHORIZATION", ""):
        return None
    return errors.answer(403, errors.shape("agent", "An agent's credential opens the API alone; pages are for people."))


def _shaped(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    told = response.get("Content-Type", "").startswith("application/json")
    if response.status_code < 400 or told or not request.path.startswith(API):
        return response
    answer = errors.answer(response.status_code)
    for name in KEPT:
        if name in response:
            answer[name] = response[name]
    return answer
