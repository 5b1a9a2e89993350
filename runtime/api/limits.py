"""How fast an agent may ask: so many runs a minute, counted in Redis by whoever serves the request."""

from __future__ import annotations

import logging
import time
from functools import cache
from typing import Any, Final

import redis
from django.conf import settings
from ninja.throttling import BaseThrottle

from runtime.credentials import Caller

log = logging.getLogger(__name__)

MINUTE: Final = 60


def now() -> float:
    """The time by which minutes are told apart; a second more or less does not matter."""
    return time.time()


@cache
def _broker(url: str) -> redis.Redis:
    return redis.Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1)


class Starts(BaseThrottle):
    """At most settings.PLACET_RUNS_PER_MINUTE runs of one agent in a minute of the clock, whatever credential it shows,
    and at most as many by one credential, with those whose place it took, as that was made for: people who are asked
    can keep up. Where Redis does not answer nothing is refused: a message may be lost, a run not.
    """

    def allow_request(self, request: Any) -> bool:
        """Whether this one still fits into the minute."""
        caller: Caller = request.auth
        limits = {caller.agent.pk.hex: settings.PLACET_RUNS_PER_MINUTE}
        line = (caller.line_id or caller.credential_id).hex
        limits |= {line: caller.runs_per_minute} if caller.runs_per_minute else {}
        minute = int(now()) // MINUTE
        try:
            # The narrow limit first: what it turns away does not count against the agent's other credentials.
            return all(_counted(f"placet-starts:{key}:{minute}") <= limits[key] for key in reversed(limits))
        except redis.RedisError as fault:
            log.warning("Nobody counts how fast runs are started: %s", type(fault).__name__)
            return True

    def wait(self) -> float:
        """Seconds until the next minute begins."""
        return MINUTE - now() % MINUTE


def _counted(key: str) -> int:
    with _broker(settings.REDIS_URL).pipeline() as counting:
        counting.incr(key)
        counting.expire(key, 2 * MINUTE)
        return int(counting.execute()[0])
