"""Times as people read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.test import RequestFactory
from django.utils import timezone

from approvals.pages import clock

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "long", "short"),
    [
        (-3, "0 s", "0 s"),
        (42, "42 s", "42 s"),
        (272, "4 min 32 s", "4 min"),
        (240, "4 min", "4 min"),
        (47 * 60, "47 min", "47 min"),
        (171 * 60, "2 h 51 min", "2 h"),
        (2 * 86400, "2 days", "2 days"),
        (86400, "1 day", "1 day"),
    ],
)
def test_a_length_of_time_is_said_in_the_units_people_count_in(seconds: int, long: str, short: str) -> None:
    assert (clock.span(seconds), clock.span(seconds, short=True)) == (long, short)


def test_how_long_ago_becomes_a_date_after_a_week() -> None:
    assert clock.ago(NOON - timedelta(seconds=2), NOON) == "just now"
    assert clock.ago(NOON - timedelta(minutes=7), NOON) == "7 min ago"
    assert clock.ago(NOON - timedelta(days=9), NOON) == "20 Nov 2026"


def test_without_a_zone_the_hour_says_utc_and_with_one_it_is_the_readers() -> None:
    assert clock.at(NOON, NOON) == "12:00 UTC"
    with timezone.override(ZoneInfo("Europe/Berlin")):
        assert clock.at(NOON, NOON) == "13:00"
        assert clock.at(NOON + timedelta(days=1), NOON, seconds=True) == "30 Nov 2026, 13:00:00"
        assert clock.when(NOON + timedelta(days=2), NOON) == "Tue 13:00"


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "Europe/Berlin\x00", "x" * 5000, "No/Where", "."])
def test_a_zone_that_is_none_is_utc(name: str) -> None:
    request = RequestFactory().get("/")
    request.COOKIES[clock.COOKIE] = name
    assert clock.zone_of(request) is None
