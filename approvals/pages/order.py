"""Order: what comes first in the inbox, and where one page of it ends and the next begins.

The deadline says under which heading an approval stands, the risk which comes first there, and the deadline again which
of the same risk. A page goes on behind a place in that order, by the headings as they were when the first page was
made: what comes, goes or grows urgent meanwhile moves nothing on the pages behind.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from approvals.approvals import Approval
from approvals.halts import ALL, Halt

SOON, TODAY, WEEK, LATER, FROZEN = range(5)
HEADINGS: Final = ("Due within the hour", "Later today", "This week", "Later", "Frozen")
"""What the rows stand under, in this order; deadlines that a stop keeps from running come last."""
WAITING: Final = ("heading", "danger", "ends_at", "pk")
SETTLED: Final = ("-decided_at", "-pk")
DANGER: Final = {"high": 0, "medium": 1}


@dataclass(frozen=True)
class Place:
    """Behind which row a page begins. ``at`` is when the first page was made; settled rows have no heading."""

    at: datetime
    moment: datetime
    key: UUID
    heading: int = 0
    danger: int = 0

    def __str__(self) -> str:
        said = (self.at.isoformat(), f"{self.heading}{self.danger}", self.moment.isoformat(), self.key.hex)
        return "~".join(said)


def read(text: str) -> Place | None:
    """The place that an address names; None for anything else."""
    parts = text.replace(" ", "+").split("~")
    if len(parts) != 4 or len(parts[1]) != 2 or not (parts[1].isascii() and parts[1].isdigit()):
        return None
    try:
        at, moment, key = parse_datetime(parts[0]), parse_datetime(parts[2]), UUID(hex=parts[3])
    except ValueError:
        return None
    if at is None or moment is None or not (at.tzinfo and moment.tzinfo and 1970 < at.year < 9000):
        return None
    return Place(at, moment, key, int(parts[1][0]), int(parts[1][1]))


def place_of(approval: Approval, at: datetime) -> Place:
    """Where this row of a list stands."""
    if approval.status == Approval.Status.PENDING:
        heading, danger = heading_of(approval), DANGER.get(approval.risk, 2)
        return Place(at, approval.ends_at, approval.pk, heading, danger)
    assert approval.decided_at is not None
    return Place(at, approval.decided_at, approval.pk)


def heading_of(approval: Approval) -> int:
    """Under which heading `waiting` put this row."""
    found: int = getattr(approval, "heading")  # noqa: B009 - it is an annotation, which no model declares
    return found


# The order in SQL


def waiting(
    found: QuerySet[Approval], now: datetime, halted: Iterable[Halt], after: Place | None
) -> QuerySet[Approval]:
    """Open approvals in their order, behind a place of it if one is given."""
    heading = Case(
        When(_frozen(halted), then=Value(FROZEN)),
        When(ends_at__lte=now + timedelta(hours=1), then=Value(SOON)),
        When(ends_at__lt=_midnight(now, 1), then=Value(TODAY)),
        When(ends_at__lt=_midnight(now, 7), then=Value(WEEK)),
        default=Value(LATER),
        output_field=IntegerField(),
    )
    danger = Case(
        *(When(risk=risk, then=Value(rank)) for risk, rank in DANGER.items()),
        default=Value(2),
        output_field=IntegerField(),
    )
    found = found.annotate(heading=heading, danger=danger).order_by(*WAITING)
    return found.filter(_behind(after)) if after else found


def settled(found: QuerySet[Approval], after: Place | None) -> QuerySet[Approval]:
    """What was settled, the last first, behind a place of it if one is given."""
    if after:
        earlier = Q(decided_at=after.moment, pk__lt=after.key)
        found = found.filter(Q(decided_at__lt=after.moment) | earlier)
    return found.order_by(*SETTLED)


def _behind(place: Place) -> Q:
    same = Q(heading=place.heading, danger=place.danger)
    later = Q(ends_at__gt=place.moment) | Q(ends_at=place.moment, pk__gt=place.key)
    return Q(heading__gt=place.heading) | Q(heading=place.heading, danger__gt=place.danger) | same & later


def _frozen(halted: Iterable[Halt]) -> Q:
    names = [one.agent for one in halted]
    if not names:
        return Q(pk__in=[])
    return ~Q(kind=Approval.Kind.CHANGE) & (Q() if ALL in names else Q(agent__in=names))


def _midnight(now: datetime, days: int) -> datetime:
    """When a day begins for the reader, so many days on."""
    return timezone.make_aware(datetime.combine(timezone.localtime(now).date() + timedelta(days=days), time.min))
