"""Logs: one line per event, through structlog. No bodies, no query strings, no arguments, no secrets."""

from __future__ import annotations

import logging.config
from collections.abc import Mapping
from typing import Any, Final

import structlog
from django.http import HttpRequest, HttpResponse
from django_structlog.middlewares import RequestMiddleware

from approvals.ledger import canonical

UNCUT: Final = ("exception", "stack")
QUIET: Final = ("httpx", "httpcore", "asyncio", "kombu", "amqp", "django.db")
UNSAID: Final = ("/healthz",)  # asked every few seconds for ever
LONGEST: Final = 500
"""So many characters of a path, a name or a sentence are logged: a stranger does not choose how much is written."""


def bounded(logger: Any, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Every text of an event cut to ``LONGEST`` characters, and on one line, but for tracebacks, which are ours."""
    return {name: _cut(value) if name not in UNCUT else value for name, value in event.items()}


def _cut(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return canonical.plain(value[:LONGEST]) + ("…" if len(value) > LONGEST else "")


SHARED: Final[list[structlog.typing.Processor]] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    bounded,
    structlog.processors.StackInfoRenderer(),
]


class RequestLog(RequestMiddleware):
    """Logs each request by method and path. The query string stays out: links may carry a token there."""

    def prepare(self, request: HttpRequest) -> None:
        if request.path not in UNSAID:
            super().prepare(request)

    def handle_response(self, request: HttpRequest, response: HttpResponse) -> None:
        if request.path not in UNSAID:
            super().handle_response(request, response)

    @staticmethod
    def format_request(request: HttpRequest) -> str:
        return f"{request.method} {request.path}"


def configure(wanted: Mapping[str, Any]) -> None:
    """Set up logging for this process; `wanted` holds `level` and `json` (settings.LOGGING)."""
    renderer: list[structlog.typing.Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if wanted["json"]
        else [structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)]
    )
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": SHARED,
        "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
    }
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"line": formatter},
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
            "root": {"handlers": ["stderr"], "level": wanted["level"]},
            # A parse error or a slow query logged by a library may quote what it was given: warnings and above only.
            # Django says again of a request what RequestLog has said.
            "loggers": {**{name: {"level": "WARNING"} for name in QUIET}, "django.request": {"level": "CRITICAL"}},
        }
    )
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
