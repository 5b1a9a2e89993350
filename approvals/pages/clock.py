"""Times as pages say them: how long ago, how long left, at what hour; exact in the element, and on hover."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

COOKIE = "placet_zone"
"""The browser's time zone, by its IANA name, set by ``static/times.js``; without it times are UTC and say so."""

MINUTE, HOUR, DAY = 60, 3600, 86400


def span(seconds: float, *, short: bool = False) -> str:
    """A length of time: in seconds under five minutes, in minutes under an hour, in days from one day on."""
    whole = max(0, int(seconds))
    days, hours, minutes = whole // DAY, whole % DAY // HOUR, whole % HOUR // MINUTE
    if days:
        return "1 day" if days == 1 else f"{days} days"
    if hours:
        return f"{hours} h" if short or not minutes else f"{hours} h {minutes} min"
    if minutes >= 5 or (minutes and short):
        return f"{minutes} min"
    rest = whole % MINUTE
    return f"{minutes} min {rest} s" if minutes and rest else f"{minutes} min" if minutes else f"{rest} s"


def ago(moment: datetime, now: datetime) -> str:
    """How long ago; a date once it is more than a week."""
    passed = (now - moment).total_seconds()
    if passed < 5:
        return "just now"
    return f"{span(passed, short=True)} ago" if passed < 7 * DAY else day(moment)


def at(moment: datetime, now: datetime, *, seconds: bool = False) -> str:
    """The hour in the reader's zone, with the date unless it is today, and with UTC where the zone is not known."""
    local, today = timezone.localtime(moment), timezone.localtime(now).date()
    hour = f"{local:%H:%M:%S}" if seconds else f"{local:%H:%M}"
    zone = " UTC" if timezone.get_current_timezone_name() == "UTC" else ""
    return f"{hour}{zone}" if local.date() == today else f"{day(moment)}, {hour}{zone}"


def when(moment: datetime, now: datetime) -> str:
    """The shortest that names it: an hour today, a weekday with it within six days, else the date."""
    local, ahead = timezone.localtime(moment), abs((moment - now).total_seconds())
    if local.date() == timezone.localtime(now).date():
        return f"{local:%H:%M}"
    return f"{local:%a %H:%M}" if ahead < 6 * DAY else f"{local:%-d %b %Y}"


def day(moment: datetime) -> str:
    """The date in the reader's zone."""
    return f"{timezone.localtime(moment):%-d %b %Y}"


def exact(moment: datetime) -> str:
    """The whole of it, for the hover."""
    return f"{timezone.localtime(moment):%-d %B %Y, %H:%M:%S} {timezone.get_current_timezone_name()}"


def zone_of(request: HttpRequest) -> ZoneInfo | None:
    """The zone that the browser told, if it is one."""
    name = request.COOKIES.get(COOKIE, "")
    try:
        return ZoneInfo(name) if 0 < len(name) <= 40 else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def reader_zone(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: while a page is made, the current time zone is the reader's."""

    def in_zone(request: HttpRequest) -> HttpResponseBase:
        with timezone.override(zone_of(request)):
            return get_response(request)

    return in_zone
