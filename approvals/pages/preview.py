"""Previews on the review page: the one address at which a reader has the tool asked once more."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from approvals import previews, rows
from approvals.pages import review
from approvals.pages.door import Visit, approval_of, member
from approvals.pages.notices import Notice
from approvals.votes import Refused


@require_POST
@member
def look_again(request: Visit, approval_id: str) -> HttpResponse:
    """Have the tool asked once more. What it says comes to the page by itself; where it is not asked, the page says
    why."""
    with rows.within(request.workspace):
        approval = approval_of(request, approval_id)
        answer = previews.look_again(approval, now=rows.now())
        if isinstance(answer, Refused):
            notice = Notice(answer.message, "Nothing was looked up.", "plain")
            return review.page(request, approval, notice=notice, status=429 if answer.code == "too_soon" else 409)
    return redirect(reverse("review", args=[request.workspace.slug, approval.public_id]) + "#preview")
