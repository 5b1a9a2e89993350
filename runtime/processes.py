"""Processes: who is at work. Each worker and each sweep says every few seconds that it is alive."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Final

from django.conf import settings
from django.db import connection, models
from django.db.models import ExpressionWrapper, Value

from approvals import rows

BEAT: Final = 5.0
"""Seconds between two signs of life."""
ALIVE: Final = 15.0
"""A process that was not seen for so many seconds counts as gone."""

stopping: Final = threading.Event()
"""Set once this process was asked to stop: whoever holds a run gives it back at the next commit."""

log = logging.getLogger(__name__)


class Process(models.Model):
    """One start of one process. Its name never comes back, so a process that was restarted is never taken for its
    forerunner."""

    name = models.CharField(max_length=120, primary_key=True)
    kind = models.CharField(max_length=12)
    started_at = models.DateTimeField(db_default=rows.Now())
    seen_at = models.DateTimeField(db_default=rows.Now())

    def __str__(self) -> str:
        return self.name


# Questions


def me() -> str:
    """The name of this start of this process."""
    return _name(os.getpid())


@cache
def _name(pid: int) -> str:
    return f"{socket.gethostname()[:60]}:{pid}:{secrets.token_hex(4)}"


def alive(kind: str) -> int:
    """How many processes of a kind (runs, sweep) were seen lately."""
    return Process.objects.filter(kind=kind, seen_at__gte=_ago(ALIVE)).count()


def _ago(seconds: float) -> ExpressionWrapper:
    return ExpressionWrapper(rows.NowOnce() - Value(timedelta(seconds=seconds)), output_field=models.DateTimeField())


# Verbs


def beat() -> None:
    """Say that this process is alive."""
    if not Process.objects.filter(name=me()).update(seen_at=rows.Now()):
        Process.objects.create(name=me(), kind=settings.PLACET_PROCESS)


def leave() -> None:
    """Say that this process ends."""
    Process.objects.filter(name=me()).delete()


def forget_the_dead() -> int:
    """Delete what was not seen for a day; returns how many. For the sweep."""
    return Process.objects.filter(seen_at__lt=_ago(24 * 60 * 60)).delete()[0]


# The heart: one thread of this process that does its regular duties

_duties: Final[list[Callable[[], None]]] = []
_guard: Final = threading.Lock()
_heart: threading.Thread | None = None


def keep_up(duty: Callable[[], None]) -> None:
    """Do this every BEAT seconds from now on, in a thread of its own. A duty given twice is done once."""
    global _heart
    with _guard:
        if duty not in _duties:
            _duties.append(duty)
        if _heart is None or not _heart.is_alive():
            _heart = threading.Thread(target=_live, name="placet-heart", daemon=True)
            _heart.start()


def _live() -> None:
    rest = threading.Event()
    while True:
        for duty in list(_duties):
            try:
                duty()
            except Exception as error:  # noqa: BLE001 - the heart never stops: what failed is tried again at the next beat
                log.warning("%s failed and is tried again: %s", duty.__name__, type(error).__name__)
                connection.close()
        rest.wait(BEAT)
