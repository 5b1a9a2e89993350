"""Looks: who else has an approval open, as parts that open pages fetch when somebody comes or goes."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from approvals import looking, rows
from approvals.approvals import Approval
from approvals.pages.door import Visit, approval_of, member
from approvals.people import Person


def others(request: Visit, **more: Any) -> dict[str, list[Person]]:
    """Who looks beside the reader, by the public id of what they look at."""
    found = {}
    for key, people in looking.who(request.workspace, **more).items():
        if beside := [person for person in people if person.pk != request.user.pk]:
            found[rows.public_id(Approval.PREFIX, key)] = beside
    return found


@require_safe
@member
def looks(request: Visit) -> HttpResponse:
    """Everything that somebody looks at, for the rows of an inbox."""
    return render(request, "inbox/looks.html", {"looks": others(request)})


@require_safe
@member
def look(request: Visit, approval_id: str) -> HttpResponse:
    """Who looks at one approval, for its page."""
    with rows.within(request.workspace):
        approval = approval_of(request, approval_id)
        beside = others(request, approvals=[approval.pk]).get(approval.public_id, [])
        return render(request, "review/looks.html", {"people": beside})
