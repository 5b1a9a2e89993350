"""How people decide: the figures of `manage.py oversight` with what each of them means, for a period in the address."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from approvals import habits, oversight, people, rows
from approvals.ledger_places import sees_all, tabs
from approvals.oversight import Habit, Report
from approvals.pages.door import Visit, member
from approvals.pages.ledger_lines import CHANNELS

PERIODS: Final = {"7": "7 days", "30": "30 days", "90": "90 days", "365": "A year"}
USUAL: Final = "30"
TABLES: Final = {
    "person": ("By person", "Who decided"),
    "tool": ("By tool", "What was decided on"),
    "channel": ("By channel", "Through what"),
}


@require_safe
@member
def page(request: Visit) -> HttpResponse:
    """The figures, for those who audit or administer the workspace or answer for its policy; others are told so."""
    told: dict[str, Any] = {"here": "ledger", "tabs": tabs(request.workspace, request.user, "oversight")}
    with rows.within(request.workspace):
        if not may_see(request):
            return render(request, "ledger/oversight.html", told | {"refused": True}, status=403)
        asked = request.GET.get("days", "")
        days = asked if asked in PERIODS else USUAL
        found = oversight.report(request.workspace.pk, timedelta(days=int(days)))
        noticed = list(oversight.noticed(found))
        told |= {"days": days, "periods": PERIODS.items(), "whole": found.whole, "most": oversight.MOST}
        told |= {"tables": _tables(found), "ended": found.ended, "noticed": noticed}
        told |= {"quick": oversight.QUICK, "reading": oversight.READING, "quick_most": oversight.QUICK_MOST}
    return render(request, "ledger/oversight.html", told)


def may_see(request: Visit) -> bool:
    """How single people decide is for those who answer for it."""
    return sees_all(request.workspace, request.user) or habits.answers_for_policy(request.workspace, request.user)


def _tables(found: Report) -> list[dict[str, Any]]:
    named = _names(found)
    return [
        {"key": key, "heading": heading, "first": first, "habits": [(named(one), one) for one in found.of(key)]}
        for key, (heading, first) in TABLES.items()
    ]


def _names(found: Report) -> Callable[[Habit], str]:
    known = people.names({UUID(habit.name) for habit in found.of("person")})
    named: dict[str, Callable[[str], str]] = {
        "person": lambda name: known.get(UUID(name), name),
        "channel": lambda name: CHANNELS.get(name, name),
    }
    return lambda habit: named.get(habit.of, str)(habit.name)
