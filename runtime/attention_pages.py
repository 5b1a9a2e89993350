"""The operators' inbox: what wants a hand, since when, and its remedy."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from approvals import rows
from runtime import attention as matters
from runtime.pages import Visit, member


@require_safe
@member
def attention(request: Visit) -> HttpResponse:
    """Everything that those who operate or administer may do something about. Others are told whom it is for."""
    with rows.within(request.workspace):
        reader = matters.Operator(request.workspace, request.user)
        if not reader.looks:
            return render(request, "attention/none.html", {"here": "attention"}, status=403)
        groups = matters.groups(reader)
        count = matters.note(request.workspace, request.user, groups)
        context = {"here": "attention", "groups": groups, "count": count}
        return render(request, "attention/page.html", context)
