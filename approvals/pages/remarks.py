"""Comments on the review page: the one address that takes what is said without a verdict."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from approvals import comments, rows
from approvals.pages import review
from approvals.pages.door import Visit, approval_of, member
from approvals.pages.notices import Notice
from approvals.votes import Refused


@require_POST
@member
def comment(request: Visit, approval_id: str) -> HttpResponse:
    """Take a comment and show it in the history; what was not taken stays in its field, with the reason."""
    approval, text = approval_of(request, approval_id), review.written(request, "remark")
    made = comments.leave(request.workspace.pk, approval.pk, by=request.user, text=text, via="web")
    if not isinstance(made, Refused):
        return redirect(reverse("review", args=[request.workspace.slug, approval.public_id]) + "#history")
    with rows.within(request.workspace):
        notice = Notice(made.message, tone="bad", field="remark")
        found = approval_of(request, approval_id)
        return review.page(request, found, notice=notice, remark=text, status=422)
