"""A page that the database does not answer for: a 503 that says so and when to come again, and no fault of ours."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import get_template

from runtime import health

log = logging.getLogger(__name__)


class Outages:
    """Middleware. The pool gives out no connection that is broken; one that breaks while it is used ends up here."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, fault: Exception) -> HttpResponse | None:
        if not isinstance(fault, OperationalError | InterfaceError):
            return None
        log.error("the database did not answer a request: %s", type(fault).__name__)
        health.doubt()
        # Without the request: what a page says of its reader would be asked of the database.
        page = get_template("503.html").render()
        return HttpResponse(page, status=503, headers={"Retry-After": "2", "Cache-Control": "no-store"})
