"""Nudges on the review page: the one address that takes a press of the button."""

from __future__ import annotations

from typing import Final

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from approvals import nudges, rows
from approvals.pages import review
from approvals.pages.door import Visit, approval_of, member
from approvals.pages.notices import Notice
from approvals.votes import Refused

STATUS: Final = {"not_allowed": 403, "too_soon": 429}
"""The HTTP status of a press that was not taken; 409 for all others: nobody is waited for any more."""


@require_POST
@member
def nudge(request: Visit, approval_id: str) -> HttpResponse:
    """Tell those who can still decide; where they are not told, the page says why."""
    approval = approval_of(request, approval_id)
    answer = nudges.nudge(request.workspace.pk, approval.pk, by=request.user)
    if not isinstance(answer, Refused):
        return redirect(reverse("review", args=[request.workspace.slug, approval.public_id]) + "#nudge")
    with rows.within(request.workspace):
        notice = Notice(answer.message, "Nobody was nudged.", "plain")
        found = approval_of(request, approval_id)
        return review.page(request, found, notice=notice, status=STATUS.get(answer.code, 409))
