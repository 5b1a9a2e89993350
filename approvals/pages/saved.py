"""Saving a filter of the ledger under a name, and letting go of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from approvals import rows, saved_filters
from approvals.pages import history, ledger
from approvals.pages.door import Visit, member
from approvals.pages.ledger_head import PASSING
from approvals.saved_filters import SavedFilter
from approvals.votes import Refused

PAGES: Final[Mapping[str, tuple[str, ...]]] = {"ledger": history.FIELDS, "ledger_entries": ledger.FIELDS}


@require_POST
@member
def save(request: Visit) -> HttpResponse:
    """Keep the filter that the form names; back to the list with it."""
    page = request.POST.get("page", "")
    if page not in PAGES:
        raise Http404
    asked = {name: _sent(request, name) for name in PAGES[page] if name not in PASSING}
    answer = saved_filters.save(request.workspace, request.user, page, _sent(request, "name"), asked)
    if isinstance(answer, Refused):
        messages.error(request, answer.message)
    else:
        messages.success(request, f"Saved as {answer.name}.")
    query = urlencode({name: value for name, value in asked.items() if value})
    return redirect(f"{reverse(page, args=[request.workspace.slug])}?{query}")


@require_POST
@member
def remove(request: Visit, filter_id: str) -> HttpResponse:
    """Let go of one of the reader's own."""
    key = rows.parse_id(SavedFilter.PREFIX, filter_id)
    with rows.within(request.workspace):
        mine = SavedFilter.objects.filter(workspace=request.workspace, person=request.user)
        found = mine.filter(pk=key).first() if key else None
        if found is None:
            raise Http404
        found.delete()
    messages.success(request, f"{found.name} is no longer saved.")
    return redirect(reverse(found.page, args=[request.workspace.slug]))


def _sent(request: Visit, name: str) -> str:
    return request.POST.get(name, "").replace("\x00", "")[:200].strip()
