"""Freezes: windows in which nothing that a rule names them for is sent, whoever approved it. What is approved waits.

A dated window is from one moment until another. A weekly one comes back on its days, by the clock of a zone; one that
ends earlier than it begins ends on the next day.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from approvals.policy_text import PolicyFault

DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_CLOCK: Final = {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}
_DATED: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["from", "until"],
    "properties": {"from": {"type": "string"}, "until": {"type": "string"}},
}
_WEEKLY: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["days", "from", "to", "zone"],
    "properties": {
        "days": {"type": "array", "items": {"enum": [*DAYS]}, "minItems": 1, "uniqueItems": True},
        "from": _CLOCK,
        "to": _CLOCK,
        "zone": {"type": "string", "maxLength": 60},
    },
}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "minProperties": 1,
    "maxProperties": 50,
    "propertyNames": {"pattern": "^[a-z0-9][a-z0-9-]{0,79}$"},
    "additionalProperties": {"if": {"required": ["days"]}, "then": _WEEKLY, "else": _DATED},
}
NAMES: Final[dict[str, Any]] = {
    "type": "array",
    "items": {"type": "string"},
    "minItems": 1,
    "maxItems": 20,
    "uniqueItems": True,
}
_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)", re.ASCII)
_STEPS: Final = 500
"""So many windows may follow each other without a gap; longer is never."""

Window = Mapping[str, Any]


# Questions


def frozen_until(windows: Iterable[Window], now: datetime) -> datetime | None:
    """When the windows that hold this moment end, those that follow without a gap included; None where none holds it.
    Far in the future where they leave no gap."""
    held, end = list(windows), now
    for _ in range(_STEPS):
        later = max(
            (stop for window in held for start, stop in _around(window, end) if start <= end < stop), default=end
        )
        if later == end:
            break
        end = later
    return end if end > now else None


def _around(window: Window, now: datetime) -> Iterator[tuple[datetime, datetime]]:
    """The times of a window that may hold this moment."""
    if "days" not in window:
        yield instant(window["from"]), instant(window["until"])
        return
    zone = _zone(window["zone"])
    today = now.astimezone(zone).date()
    for day in (today - timedelta(days=1), today):
        if DAYS[day.weekday()] in window["days"]:
            yield _at(day, window["from"], zone, 0), _at(_last_day(window, day), window["to"], zone, 1)


def _last_day(window: Window, day: date) -> date:
    return day + timedelta(days=window["to"] <= window["from"])


def _at(day: date, clock: str, zone: ZoneInfo, fold: int) -> datetime:
    """A clock's time on a day. An hour that comes twice belongs to the window both times; a time that is left out is
    that at which the clock is put forward."""
    said = datetime.combine(day, time.fromisoformat(clock), tzinfo=zone).replace(fold=fold)
    at = said.astimezone(UTC)
    return at if at.astimezone(zone).replace(tzinfo=None) == said.replace(tzinfo=None) else _put_forward(at, zone)


def _put_forward(near: datetime, zone: ZoneInfo) -> datetime:
    """The moment, within a day of this one, at which the zone's clock is put forward."""
    before, after = near - timedelta(days=1), near + timedelta(days=1)
    offset = after.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = before + (after - before) / 2
        same = middle.astimezone(zone).utcoffset() == offset
        before, after = (before, middle) if same else (middle, after)
    return after.replace(microsecond=0)


@lru_cache(maxsize=256)
def instant(text: str) -> datetime:
    """A moment, written with its offset. Raises ValueError."""
    if not _INSTANT.fullmatch(text):
        raise ValueError(text)
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except OverflowError as fault:
        raise ValueError(text) from fault  # at the ends of all calendars


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


# Checks


def checked(freezes: Mapping[str, Window], pointer: str) -> dict[str, Any]:
    """The windows by their names. Raises PolicyFault for one that is no window, or never ends."""
    for name, window in freezes.items():
        at = f"{pointer}/{name}"
        if "days" in window:
            _check_weekly(window, at)
        else:
            _check_dated(window, at)
    return dict(freezes)


def _check_weekly(window: Window, at: str) -> None:
    try:
        _zone(window["zone"])
    except (ZoneInfoNotFoundError, ValueError, OSError) as fault:
        raise PolicyFault(f"{at}/zone", "zone", "Name a zone of the IANA database, such as Europe/Berlin.") from fault
    if window["from"] == window["to"]:
        raise PolicyFault(f"{at}/to", "window", "It ends at the minute at which it begins.")


def _check_dated(window: Window, at: str) -> None:
    for word in ("from", "until"):
        try:
            instant(window[word])
        except ValueError as fault:
            told = "Give a moment with its offset, such as 2026-12-20T18:00:00+01:00."
            raise PolicyFault(f"{at}/{word}", "instant", told) from fault
    if instant(window["from"]) >= instant(window["until"]):
        raise PolicyFault(f"{at}/until", "window", "It ends before it begins.")


def named(names: list[str], pointer: str, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The windows of these names, each with its own. Raises PolicyFault for an unknown name, and where the weekly ones
    together leave no moment free."""
    known: Mapping[str, Any] = document.get("freezes", {})
    for index, name in enumerate(names):
        if name not in known:
            raise PolicyFault(f"{pointer}/{index}", "freeze", f"The document has no freeze called {name}.")
    windows = [{"name": name} | known[name] for name in names]
    weekly = [window for window in windows if "days" in window]
    start = datetime(2026, 1, 5, 12, tzinfo=UTC)
    end = frozen_until(weekly, start) if weekly else None
    if end is not None and end - start > timedelta(days=8):
        raise PolicyFault(pointer, "freeze", "These windows leave no moment in which anything could be sent.")
    return windows


def together(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The windows of two rules."""
    return one + [window for window in other if window not in one]
