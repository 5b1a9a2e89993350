"""GET /healthz: whether database, broker, workers and sweep answer, as JSON: 200 or 503, never a 500, never slow."""

from __future__ import annotations

import threading
import time
from typing import Any, Final

import psycopg
import redis
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from runtime.processes import ALIVE

FRESH: Final = 1.0  # seconds for which an answer is given again: a stranger's flood opens no flood of connections
OK: Final = "ok"
LATELY: Final = "SELECT DISTINCT kind FROM runtime_process WHERE seen_at > placet_now() - make_interval(secs => %s)"

_lock = threading.Lock()
_last: tuple[float, dict[str, str]] = (float("-inf"), {})


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Each part by name, "ok" or what is wrong in a few words; 200 exactly when all are ok."""
    parts = look()
    return JsonResponse(parts, status=200 if set(parts.values()) == {OK} else 503)


def look() -> dict[str, str]:
    """Every part's state, at most a second old. Takes 4 s at worst."""
    global _last
    with _lock:
        if time.monotonic() - _last[0] > FRESH:
            _last = (time.monotonic(), {**_database(), "broker": _broker()})
        return _last[1]


def doubt() -> None:
    """Ask everything anew at the next question: a request has just met a database that did not answer."""
    global _last
    with _lock:
        _last = (float("-inf"), {})


def _database() -> dict[str, str]:
    """Asked on a connection of its own, so that a pool that is used up does not look like a database that is down."""
    kinds = {"runs": "workers", "sweep": "sweep"}
    try:
        seen = _seen()
    except psycopg.Error as error:
        return {"database": _words(error), **dict.fromkeys(kinds.values(), "unknown")}
    return {"database": OK, **{part: OK if kind in seen else "not seen lately" for kind, part in kinds.items()}}


def _seen() -> set[str]:
    """The kinds of process seen lately, by the database's clock."""
    wanted: dict[str, Any] = {**connection.get_connection_params(), "connect_timeout": 2, "application_name": "healthz"}
    for name in ("pool", "cursor_factory", "context", "prepare_threshold"):
        wanted.pop(name, None)
    wanted["options"] = f"{wanted.get('options', '')} -c statement_timeout=1000"
    with psycopg.connect(**wanted, autocommit=True) as asked:
        return {kind for (kind,) in asked.execute(LATELY, [ALIVE]).fetchall()}


def _broker() -> str:
    client = redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1)
    try:
        client.ping()
    except redis.RedisError as error:
        return _words(error)
    finally:
        client.close()
    return OK


def _words(error: Exception) -> str:
    """What went wrong without addresses or names, since anybody may ask."""
    return "too slow" if "timeout" in f"{type(error).__name__}{error}".lower() else "does not answer"
