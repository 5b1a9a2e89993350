"""Weeks: on which days somebody works, from when to when by the clock of their zone, and when they next do.

Where a clock is set forward the hour that it leaves out cannot be worked: what would begin in it begins when it is
over, and what lies in it altogether is worked right after it, for as long. Where a clock is set back the hour that
comes twice counts both times, as one stretch. So each day that is worked is worked once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from approvals.policy_freezes import DAYS as DAYS
from approvals.schemas import Fault as Fault

_CLOCK: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)", re.ASCII)
_NO_PLACE: Final = frozenset({"localtime", "Factory", "posixrules"})
"""Files beside the zones of the database that are none."""
_NAMED: Final = 20
"""So much of a name that is no zone is said again."""


@dataclass(frozen=True)
class Week:
    """A zone of the IANA database, and of each day that is worked from which minute to which, counted from midnight.
    One that ends no later than it begins ends on the next day."""

    zone: str
    days: Mapping[str, tuple[int, int]]

    def opens(self, at: datetime) -> datetime:
        """The first moment from this one on at which they work: the same, if they do. Raises ZoneInfoNotFoundError
        where the database has the zone no more."""
        zone = _zone(self.zone)
        # A night, and an hour that was left out, may end on a later day than the one they belong to.
        first = at.astimezone(zone).date() - timedelta(days=2)
        return min(max(begins, at) for begins, ends in self.stretches(first, 12) if ends > at)

    def stretches(self, first: date, count: int) -> Iterator[tuple[datetime, datetime]]:
        """When they work on so many days, by the zone's calendar."""
        zone = _zone(self.zone)
        for day in (first + timedelta(days=number) for number in range(count)):
            if worked := self.days.get(DAYS[day.weekday()]):
                yield _stretch(day, worked, zone)

    def told(self) -> list[tuple[str, str, str]]:
        """The days in their order, as people write them."""
        worked = [(day, *self.days[day]) for day in DAYS if day in self.days]
        return [(day, clock(begins), clock(ends)) for day, begins, ends in worked]


def _stretch(day: date, worked: tuple[int, int], zone: ZoneInfo) -> tuple[datetime, datetime]:
    begins, ends = worked
    length = timedelta(minutes=ends - begins if ends > begins else 24 * 60 + ends - begins)
    wall = datetime.combine(day, time(begins // 60, begins % 60))
    start, end = _moment(wall, zone, 0), _moment(wall + length, zone, 1)
    return start, end if end > start else start + length


def _moment(wall: datetime, zone: ZoneInfo, fold: int) -> datetime:
    """When a clock shows this, for the first or the second time; where it leaves it out, when it has been set."""
    found = wall.replace(tzinfo=zone, fold=fold).astimezone(UTC)
    if found.astimezone(zone).replace(tzinfo=None) == wall:
        return found
    early, late = sorted(wall.replace(tzinfo=zone, fold=each).astimezone(UTC) for each in (0, 1))
    after = late.astimezone(zone).utcoffset()
    while late - early > timedelta(seconds=1):
        middle = early + timedelta(seconds=(late - early) // timedelta(seconds=2))
        if middle.astimezone(zone).utcoffset() == after:
            late = middle
        else:
            early = middle
    return late


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


@lru_cache(maxsize=1)
def zones() -> frozenset[str]:
    """The names of the IANA database."""
    return frozenset(available_timezones() - _NO_PLACE)


def clock(minute: int) -> str:
    """``09:30``, of a minute of the day."""
    return f"{minute // 60:02}:{minute % 60:02}"


# What people write


def read(zone: str, days: Mapping[str, tuple[str, str]]) -> Week | tuple[Fault, ...]:
    """A week as it is written, with ``09:30`` for a time; or what is wrong with it, each fault at its place. A day with
    neither time is not worked."""
    faults = [] if zone in zones() else [_no_zone(zone)]
    worked: dict[str, tuple[int, int]] = {}
    for day, texts in days.items():
        if any(texts):
            found = _of_a_day(day, *texts)
            faults += found if isinstance(found, list) else []
            worked |= {day: found} if isinstance(found, tuple) else {}
    if not worked and not faults:
        faults = [Fault("/days", "minItems", "Name a day on which you work, or let reminders come at any time.")]
    return tuple(faults) or Week(zone, worked)


def _no_zone(name: str) -> Fault:
    shown = f"{name[:_NAMED]!a} is no zone" if name else "Name a zone"
    return Fault("/zone", "zone", f"{shown} of the IANA database, such as Europe/Berlin.")


def _of_a_day(day: str, begins: str, ends: str) -> tuple[int, int] | list[Fault]:
    if day not in DAYS:
        return [Fault("/days", "day", f"A day is one of {', '.join(DAYS)}.")]
    minutes = {name: _minute(text) for name, text in (("from", begins), ("to", ends))}
    found = [
        Fault(f"/days/{day}/{name}", "clock", "Give a time of the day, such as 09:30.")
        for name, minute in minutes.items()
        if minute is None
    ]
    first, last = minutes["from"], minutes["to"]
    if first is None or last is None:
        return found
    if first == last:
        return [Fault(f"/days/{day}/to", "span", "It ends at the minute at which it begins.")]
    return first, last


def _minute(text: str) -> int | None:
    found = _CLOCK.fullmatch(text)
    return int(found[1]) * 60 + int(found[2]) if found else None


def spelled(texts: Iterable[str]) -> dict[str, tuple[str, str]] | tuple[Fault, ...]:
    """The days of ``mon-fri 09:00-17:30``, one text for each time of the day."""
    days: dict[str, tuple[str, str]] = {}
    for text in texts:
        named, _, times = text.strip().partition(" ")
        first, _, last = named.partition("-")
        begins, _, ends = times.strip().partition("-")
        if {first, last or first} - {*DAYS} or DAYS.index(last or first) < DAYS.index(first):
            return (Fault("/days", "day", f"Write it as mon-fri 09:00-17:30, with days of {', '.join(DAYS)}."),)
        for day in DAYS[DAYS.index(first) : DAYS.index(last or first) + 1]:
            if day in days:
                return (Fault(f"/days/{day}", "uniqueItems", f"{day} is said twice."),)
            days[day] = (begins, ends)
    return days
