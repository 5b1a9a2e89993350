"""Expiry: when an approval really ends, which is its deadline and the time for which it was frozen. Whoever compares a
deadline of an approval with the clock asks here, or compares ``ends_at``."""

from __future__ import annotations

from datetime import datetime

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
    """What makes an approval one that people may still decide at this moment."""
    return models.Q(status="pending", ends_at__gt=now)


def overdue(now: datetime | Combinable) -> models.Q:
    """What makes an approval one that ends because nobody decided it by this moment."""
    return models.Q(status="pending", ends_at__lte=now)
