"""Weeks: whatever a zone's clock does, each day that is worked is worked once, and nobody works before they say."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as some

from approvals import weeks
from approvals.policy_freezes import DAYS
from approvals.weeks import Week

ZONES = [
    "Europe/Berlin",
    "America/New_York",
    "America/Santiago",  # set forward at midnight
    "Australia/Lord_Howe",  # by half an hour
    "Africa/Casablanca",
    "Asia/Kolkata",  # never
    "Pacific/Chatham",
    "Atlantic/Azores",
]
CHANGES = {
    zone: [
        day
        for day in (date(2026, 1, 1) + timedelta(days=number) for number in range(730))
        if len({datetime(day.year, day.month, day.day, hour, tzinfo=ZoneInfo(zone)).utcoffset() for hour in (0, 12)})
        > 1
    ]
    for zone in ZONES
}
"""The days on which a zone's clock is set, or the days before."""
MINUTE = some.integers(0, 24 * 60 - 1)


@some.composite
def working(draw: some.DrawFn) -> tuple[Week, datetime]:
    """A week, and a moment: as a rule within three days of one at which the clock is set."""
    zone = draw(some.sampled_from(ZONES))
    near = draw(some.sampled_from(CHANGES[zone] or [date(2026, 6, 1)]))
    span = some.tuples(MINUTE, MINUTE).filter(lambda span: span[0] != span[1])
    early = some.tuples(some.integers(0, 200), some.integers(0, 260)).filter(lambda span: span[0] != span[1])
    days = draw(some.dictionaries(some.sampled_from(DAYS), span | early, min_size=1))
    seconds = draw(some.integers(-3 * 86400, 4 * 86400))
    return Week(zone, days), datetime(near.year, near.month, near.day, tzinfo=UTC) + timedelta(seconds=seconds)


@given(working())
def test_a_moment_that_is_found_is_the_first_at_which_they_work(case: tuple[Week, datetime]) -> None:
    """RL-9: never before, at once where they work, and asked again at that moment it is the same."""
    week, at = case
    opens = week.opens(at)
    assert at <= opens == week.opens(opens) and opens - at < timedelta(days=9)
    stretches = list(week.stretches(at.astimezone(ZoneInfo(week.zone)).date() - timedelta(days=3), 15))
    assert any(begins <= opens < ends for begins, ends in stretches)
    assert not any(begins < opens and ends > at for begins, ends in stretches if opens > at)


@given(working())
def test_no_day_that_is_worked_is_left_out_or_comes_twice(case: tuple[Week, datetime]) -> None:
    """RL-9: also where the hours lie in the one that the clock leaves out or shows again."""
    week, at = case
    first = at.astimezone(ZoneInfo(week.zone)).date()
    stretches = list(week.stretches(first, 7))
    assert len(stretches) == len(week.days)
    for (begins, ends), (_, worked) in zip(stretches, sorted(_by_day(week, first)), strict=True):
        length = timedelta(minutes=(worked[1] - worked[0]) % (24 * 60))
        assert timedelta(0) < ends - begins and abs(ends - begins - length) <= timedelta(hours=1)
    assert stretches == sorted(stretches)


def _by_day(week: Week, first: date) -> list[tuple[int, tuple[int, int]]]:
    return [((DAYS.index(day) - first.weekday()) % 7, worked) for day, worked in week.days.items()]


@given(working(), some.lists(some.integers(60, 20_000), min_size=1, max_size=20))
def test_what_comes_daily_comes_in_their_hours_and_never_twice_a_day(
    case: tuple[Week, datetime], gaps: list[int]
) -> None:
    """RL-9: a reminder a day, looked for at any moments: never while they do not work, never two within a day."""
    week, at = case
    every, due, told = timedelta(days=1), week.opens(at), []
    for gap in gaps * 10:
        at += timedelta(seconds=gap)
        if at >= due and week.opens(at) == at:
            told.append(at)
            due = week.opens(at + every)
    assert all(later - sooner >= every for sooner, later in pairwise(told))
    assert all(week.opens(each) == each for each in told)


def local(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("zone", "worked", "at", "opens"),
    [
        # Set forward on 29 March 2026 at two, back on 25 October at three.
        ("Europe/Berlin", "sun 09:00-17:00", "2026-03-28T12:00+01:00", "2026-03-29T09:00+02:00"),
        ("Europe/Berlin", "sun 02:30-05:00", "2026-03-28T12:00+01:00", "2026-03-29T03:00+02:00"),
        ("Europe/Berlin", "sun 02:15-02:45", "2026-03-28T12:00+01:00", "2026-03-29T03:00+02:00"),
        ("Europe/Berlin", "sun 02:15-02:45", "2026-03-29T03:30+02:00", "2026-04-05T02:15+02:00"),
        ("Europe/Berlin", "sun 02:15-02:45", "2026-10-24T12:00+02:00", "2026-10-25T02:15+02:00"),
        ("Europe/Berlin", "sun 02:15-02:45", "2026-10-25T02:20+01:00", "2026-10-25T02:20+01:00"),
        ("Europe/Berlin", "sun 02:15-02:45", "2026-10-25T02:45+01:00", "2026-11-01T02:15+01:00"),
        ("Europe/Berlin", "sat 22:00-06:00", "2026-03-29T05:59+02:00", "2026-03-29T05:59+02:00"),
        ("Europe/Berlin", "sat 22:00-06:00", "2026-03-29T06:00+02:00", "2026-04-04T22:00+02:00"),
        ("America/New_York", "mon-fri 09:00-17:00", "2026-03-06T17:00-05:00", "2026-03-09T09:00-04:00"),
        ("Asia/Kolkata", "mon 00:00-00:30", "2026-03-30T00:30+05:30", "2026-04-06T00:00+05:30"),
    ],
)
def test_the_clocks_of_a_zone_are_followed(zone: str, worked: str, at: str, opens: str) -> None:
    """RL-9: what a clock leaves out begins when it has been set; what it shows twice is one stretch."""
    days = weeks.spelled([worked])
    assert isinstance(days, dict)
    week = weeks.read(zone, days)
    assert isinstance(week, Week) and week.opens(local(at)) == local(opens)


@pytest.mark.parametrize(
    "zone", ["", "Mars/Olympus", "CEST", "../etc/passwd", "localtime", "europe/berlin", "x" * 9999]
)
def test_what_is_no_zone_is_refused_by_its_name(zone: str) -> None:
    """RL-9."""
    (fault,) = _faults(zone, "mon-fri 09:00-17:00")
    assert (fault.pointer, fault.rule) == ("/zone", "zone")
    assert zone[:20] in fault.message and len(fault.message) < 100


@pytest.mark.parametrize(
    ("worked", "pointer", "rule"),
    [
        ([], "/days", "minItems"),
        (["someday 09:00-17:00"], "/days", "day"),
        (["fri-mon 09:00-17:00"], "/days", "day"),
        (["mon-fri 09:00-17:00", "wed 10:00-12:00"], "/days/wed", "uniqueItems"),
        (["mon 9:00-17:00"], "/days/mon/from", "clock"),
        (["mon 09:00-24:00"], "/days/mon/to", "clock"),
        (["mon 09:00"], "/days/mon/to", "clock"),
        (["mon 09:00-09:00"], "/days/mon/to", "span"),
    ],
)
def test_hours_that_are_none_are_refused_at_their_place(worked: list[str], pointer: str, rule: str) -> None:
    """RL-9."""
    assert (pointer, rule) in [(fault.pointer, fault.rule) for fault in _faults("Europe/Berlin", *worked)]


def _faults(zone: str, *worked: str) -> tuple[weeks.Fault, ...]:
    days = weeks.spelled(worked)
    found = weeks.read(zone, days) if isinstance(days, dict) else days
    assert isinstance(found, tuple)
    return found
