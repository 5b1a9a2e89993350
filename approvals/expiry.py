"""Expiry: when an approval really ends, which is its deadline and the time for which stops froze it (`halts`). Whoever
compares a deadline of an approval with the clock asks here.

``ends_at`` has the stops that are over. While one is on, nothing that it holds ends, whatever the clock says."""

from __future__ import annotations

from datetime import datetime

from django.apps import apps
from django.db import models
from django.db.models.expressions import Combinable, Func


class Shifted(Func):
    """A moment, and so many seconds after it: ``Shifted("expires_at", "frozen_seconds")``.

    Computed without a time zone, so that a generated column may have it: PostgreSQL holds the sum of a moment and an
    interval to depend on the session's zone.
    """

    template = "(%(expressions)s)) AT TIME ZONE 'UTC'"
    arg_joiner = " AT TIME ZONE 'UTC' + make_interval(secs => "
    arity = 2
    output_field = models.DateTimeField()


def still_open(now: datetime | Combinable) -> models.Q:
    """What makes an approval one that has not ended at this moment, though a stop may freeze it."""
    return models.Q(status="pending") & (models.Q(ends_at__gt=now) | _frozen())


def decidable(now: datetime | Combinable) -> models.Q:
    """What makes an approval one that people may decide at this moment."""
    return models.Q(status="pending", ends_at__gt=now) & ~_frozen()


def overdue(now: datetime | Combinable) -> models.Q:
    """What makes an approval one that ends because nobody decided it by this moment."""
    return models.Q(status="pending", ends_at__lte=now) & ~_frozen()


def _frozen() -> models.Q:
    """That a stop holds the approval's agent, or all of them. A change of the workspace itself is no agent's matter: it
    may be what ends the trouble."""
    held = models.Q(agent="") | models.Q(agent=models.OuterRef("agent"))
    halts = apps.get_model("approvals", "Halt")._default_manager
    return models.Q(
        models.Exists(halts.filter(held, workspace=models.OuterRef("workspace"), status="on"))
        & ~models.Q(kind="change")
    )
