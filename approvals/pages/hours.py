"""The page on which somebody says when they work."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from approvals import hours, weeks
from approvals.pages import clock
from approvals.pages.account import OwnVisit, signed_in
from approvals.votes import Refused

NAMES: Final = dict(
    zip(weeks.DAYS, ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"), strict=True)
)
LONGEST: Final = 60
"""So many characters of a field are read."""


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def hours_page(request: OwnVisit) -> HttpResponse:
    """Show the reader's week, take another, or none."""
    if request.method != "POST":
        week = hours.of(request.user)
        days = {day: (begins, ends) for day, begins, ends in week.told()} if week else {}
        return _shown(request, week.zone if week else _guessed(request), days, known=week is not None)
    zone, days = (
        _sent(request, "zone").strip(),
        {day: (_sent(request, f"{day}-from"), _sent(request, f"{day}-to")) for day in NAMES},
    )
    anytime = request.POST.get("anytime")
    answer = (
        hours.clear(request.user, by=request.user)
        if anytime
        else hours.set_to(request.user, zone, days, by=request.user)
    )
    if isinstance(answer, Refused):
        return _shown(request, zone, days, answer, known=hours.of(request.user) is not None)
    messages.success(request, "Reminders come at any time." if anytime else "Reminders wait for your working hours.")
    return redirect("account")


def _sent(request: OwnVisit, name: str) -> str:
    return request.POST.get(name, "")[:LONGEST].replace("\x00", "")


def _guessed(request: OwnVisit) -> str:
    zone = clock.zone_of(request)
    return zone.key if zone and zone.key in weeks.zones() else ""


def _shown(
    request: OwnVisit, zone: str, days: dict[str, tuple[str, str]], refused: Refused | None = None, *, known: bool
) -> HttpResponse:
    faults = {fault.pointer: fault.message for fault in refused.faults} if refused else {}
    told: dict[str, Any] = {
        "zone": zone,
        "zones": sorted(weeks.zones()),
        "zone_fault": faults.get("/zone", ""),
        "days": [_row(day, days.get(day, ("", "")), faults) for day in NAMES],
        "days_fault": faults.get("/days", ""),
        "refused": refused,
        "known": known,
    }
    return render(request, "account/hours.html", told, status=422 if refused else 200)


def _row(day: str, times: tuple[str, str], faults: dict[str, str]) -> dict[str, Any]:
    fields = [
        {"name": f"{day}-{end}", "end": end, "value": value, "fault": faults.get(f"/days/{day}/{end}", "")}
        for end, value in zip(("from", "to"), times, strict=True)
    ]
    return {"name": NAMES[day], "fields": fields}
