"""Narrowing: what an address asks of a long list: filters, days, and where the next page begins."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

SIZES = (25, 50, 100)
"""How many rows a page may have; anything else in the address gives the first of them."""
Option = tuple[str, str]


def asked(request: HttpRequest, names: Iterable[str]) -> dict[str, str]:
    """What the address says under these names."""
    return {name: request.GET.get(name, "").replace("\x00", "")[:200].strip() for name in names}


def size(text: str) -> int:
    return int(text) if text in map(str, SIZES) else SIZES[0]


def choice(name: str, label: str, value: str, options: list[Option]) -> dict[str, Any]:
    """A filter as the template shows it."""
    return {"name": name, "label": label, "value": value, "options": options}


def between(column: str, first: str, last: str) -> Q:
    """That a moment lies within these days of the reader's; what is no day limits nothing."""
    condition = Q()
    if start := day(first):
        condition &= Q(**{f"{column}__gte": _midnight(start)})
    if end := day(last):
        condition &= Q(**{f"{column}__lt": _midnight(end) + timedelta(days=1)})
    return condition


def day(text: str) -> date | None:
    try:
        found = parse_date(text)
    except ValueError:
        return None
    return found if found and 1970 <= found.year <= 9000 else None


def _midnight(found: date) -> datetime:
    return timezone.make_aware(datetime.combine(found, time.min))


# Where the next page begins: behind a moment and a key, so that rows which arrive meanwhile move nothing.


def cursor(moment: datetime, *rest: str) -> str:
    return "~".join([moment.isoformat(), *rest])


def read_cursor(text: str) -> tuple[datetime, list[str]] | None:
    """The moment and what stands behind it; None for what is no cursor."""
    moment, *rest = text.split("~")
    try:
        when = parse_datetime(moment.replace(" ", "+"))
    except ValueError:
        return None
    return (when, rest) if when and when.tzinfo else None


def key_of(text: str) -> UUID | None:
    try:
        return UUID(hex=text)
    except ValueError:
        return None
