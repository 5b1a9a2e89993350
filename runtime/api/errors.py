"""The one shape of every error: a code for machines, a sentence for people, and the field that is at fault."""

from __future__ import annotations

import logging
import math
from http import HTTPStatus
from typing import Any, Final

from django.core.exceptions import RequestDataTooBig
from django.db import DatabaseError, InterfaceError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from ninja import NinjaAPI
from ninja.errors import HttpError, Throttled, ValidationError

from approvals.ledger import canonical
from runtime import health

log = logging.getLogger(__name__)

CODES: Final = {
    400: ("bad_request", "The request cannot be read."),
    401: ("not_known", "Sign in, or send an agent's credential: Authorization: Bearer plk_…"),
    403: ("forbidden", "This is not allowed."),
    404: ("not_found", "There is nothing at this address."),
    405: ("wrong_method", "This address does not take this method."),
    413: ("too_large", "The body is too large."),
    415: ("wrong_type", "Send a body of the type application/json."),
    429: ("too_many", "Too many requests. Wait a little."),
    503: ("unavailable", "Placet cannot do this just now. Try again."),
}
UNREADABLE: Final = {"bytes": 413}
"""The status for a body that breaks a rule of the strict reader; 400 for every other rule."""


class Problem(Exception):
    """A request that is answered with an error. ``field`` is a JSON pointer into the body, or a header's or parameter's
    name; ``rule`` is what it breaks; ``more`` are further members of the error."""

    def __init__(
        self, status: int, code: str, message: str, *, field: str | None = None, rule: str | None = None, **more: Any
    ) -> None:
        super().__init__(message)
        self.status, self.body = status, shape(code, message, field=field, rule=rule, **more)


def shape(
    code: str, message: str, *, field: str | None = None, rule: str | None = None, **more: Any
) -> dict[str, dict[str, Any]]:
    """The body of an error."""
    return {"error": {"code": code, "message": message, "field": field, "rule": rule, **more}}


def answer(status: int, body: dict[str, Any] | None = None) -> HttpResponse:
    """An error as a response; without a body, the general words for its status."""
    if body is None:
        phrase = HTTPStatus(status).phrase
        body = shape(*CODES.get(status, (phrase.lower().replace(" ", "_"), f"{phrase}.")))
    response = JsonResponse(body, status=status)
    if status == 401:
        response["WWW-Authenticate"] = "Bearer"
    if status == 503:
        response["Retry-After"] = "2"
    response["Cache-Control"] = "no-store"
    return response


def install(api: NinjaAPI) -> None:
    """Answer everything that can go wrong in a route of this API in the one shape."""
    handlers: tuple[tuple[type[Exception], Any], ...] = (
        (Problem, _problem),
        (ValidationError, _invalid),
        (Throttled, _throttled),
        (HttpError, _http),
        (Http404, _missing),
        (RequestDataTooBig, _too_big),
        (UnreadablePostError, _cut_off),
        (InterfaceError, _database),
        (DatabaseError, _database),
        (Exception, _broken),
    )
    for kind, handler in handlers:
        api.add_exception_handler(kind, handler)


def _problem(request: HttpRequest, problem: Problem) -> HttpResponse:
    return answer(problem.status, problem.body)


def _missing(request: HttpRequest, missing: Http404) -> HttpResponse:
    return answer(404)


def _too_big(request: HttpRequest, fault: RequestDataTooBig) -> HttpResponse:
    return answer(413)


def _cut_off(request: HttpRequest, fault: UnreadablePostError) -> HttpResponse:
    return answer(400)


def _database(request: HttpRequest, fault: Exception) -> HttpResponse:
    log.error("the database did not answer a request: %s", type(fault).__name__)
    health.doubt()
    return answer(503)


def _broken(request: HttpRequest, fault: Exception) -> HttpResponse:
    log.error("a request failed", exc_info=fault)
    return answer(500, shape("internal", "Something is wrong on our side; it has been written down."))


def _throttled(request: HttpRequest, fault: Throttled) -> HttpResponse:
    wait = max(1, math.ceil(fault.wait or 1))
    told = f"Runs are started faster than people can answer. Go on in {wait} seconds."
    response = answer(429, shape("too_many", told, rule="runs_per_minute"))
    response["Retry-After"] = str(wait)
    return response


def _http(request: HttpRequest, fault: HttpError) -> HttpResponse:
    cause = fault.__cause__
    if isinstance(cause, Problem):
        return answer(cause.status, cause.body)
    if isinstance(cause, canonical.Unrepresentable):
        return unreadable(cause)
    code, words = CODES.get(fault.status_code, ("error", ""))
    said = fault.message if fault.message not in ("Unauthorized", "Forbidden") else words
    return answer(fault.status_code, shape(code, said))


def unreadable(fault: canonical.Unrepresentable) -> HttpResponse:
    """A body that the strict reader refuses: the place as pointer, line and column."""
    where = {"line": fault.line, "column": fault.column}
    body = shape("bad_json", fault.message, field=fault.pointer, rule=fault.rule, **where)
    return answer(UNREADABLE.get(fault.rule, 400), body)


def _invalid(request: HttpRequest, invalid: ValidationError) -> HttpResponse:
    faults = [_fault(error) for error in invalid.errors]
    body = shape("invalid", faults[0]["message"], field=faults[0]["field"], rule=faults[0]["rule"], faults=faults)
    return answer(422, body)


def _fault(error: dict[str, Any]) -> dict[str, Any]:
    """One fault as pydantic tells it. Its text never holds the value itself."""
    source, *place = error["loc"]
    inner = place[1:] if source == "body" else place
    field = canonical.join([str(part) for part in inner]) if source == "body" else str(inner[-1] if inner else "")
    return {"field": field, "rule": error["type"], "message": error["msg"]}
