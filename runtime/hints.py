"""Hints: messages that say "look at this run". They may be lost, repeated or late; the row they name is the truth."""

from __future__ import annotations

import logging
from functools import cache
from typing import Final
from uuid import UUID

import redis
from django.conf import settings
from kombu.exceptions import OperationalError

from approvals import rows
from runtime.celery import app

QUEUE: Final = "runs"
TASK: Final = "runtime.advance_run"
VERIFY: Final = "runtime.verify_ledger"

log = logging.getLogger(__name__)


def hint(workspace_id: UUID, run_id: UUID) -> bool:
    """Ask a worker to look at the run. False if the broker cannot be reached; the sweep will find the run then."""
    try:
        app.send_task(TASK, args=[run_id.hex, workspace_id.hex], queue=QUEUE, ignore_result=True, retry=False)
    except (OperationalError, OSError) as error:
        log.warning("The broker cannot be reached, so the sweep will find run_%s: %s", run_id.hex, type(error).__name__)
        return False
    return True


def verify(workspace_id: UUID, key: UUID) -> None:
    """Ask a worker for the next part of a verification. If the broker cannot be reached, the sweep asks again."""
    try:
        app.send_task(VERIFY, args=[key.hex, workspace_id.hex], queue=QUEUE, ignore_result=True, retry=False)
    except (OperationalError, OSError) as error:
        log.warning("The broker cannot be reached, so ver_%s waits: %s", key.hex, type(error).__name__)


def hint_on_commit(workspace_id: UUID, run_id: UUID) -> None:
    """The same once the open transaction is committed; at once where there is none."""
    rows.after_commit(hint, workspace_id, run_id)


_postponed: Final[set[tuple[UUID, UUID]]] = set()


def postpone(workspace_id: UUID, run_id: UUID) -> None:
    """Keep a hint back until this process has stopped listening: sent now, it could be taken by this very process."""
    _postponed.add((workspace_id, run_id))


def send_postponed() -> None:
    """Send what was kept back."""
    while _postponed:
        hint(*_postponed.pop())


def queued() -> int:
    """How many hints wait in the broker. Raises redis.RedisError when it cannot be asked."""
    return int(_broker(settings.REDIS_URL).llen(QUEUE))


@cache
def _broker(url: str) -> redis.Redis:
    return redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2)
