"""The address at which people say, afterwards, whether it was right to break the glass."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from approvals import glass
from approvals.pages.door import Visit, approval_of, member
from approvals.pages.review import written


@require_POST
@member
def review(request: Visit, approval_id: str) -> HttpResponse:
    """Take what somebody found. What comes second, or says nothing, changes nothing: the page shows how it stands."""
    approval = approval_of(request, approval_id)
    finding, note = request.POST.get("finding", ""), written(request, "note")
    refused = glass.review(request.workspace, approval, by=request.user, finding=finding, note=note)
    if refused is not None and refused.code in {"not_allowed", "self_review"}:
        return render(request, "403.html", status=403)
    return redirect(reverse("review", args=[request.workspace.slug, approval.public_id]))
