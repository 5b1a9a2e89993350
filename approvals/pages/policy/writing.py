"""The text of a draft and its cases, written as they are read: JSON or YAML, with every fault at its line."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from approvals import policy_drafts, rows
from approvals.pages.door import Visit
from approvals.pages.policy.draft import address, draft_of, number_of, writer
from approvals.pages.policy.drafting import Drafted
from approvals.policy_drafts import Draft
from approvals.votes import Refused


@require_http_methods(["GET", "HEAD", "POST"])
@writer
def page(request: Visit, draft_id: str) -> HttpResponse:
    """Show the text and take another. What is no policy yet is kept all the same."""
    draft = draft_of(request, draft_id)
    if request.method != "POST":
        return _shown(request, draft)
    text, cases = (request.POST.get(name, "").replace("\r\n", "\n") for name in ("text", "cases"))
    answer = policy_drafts.save(draft, by=request.user, number=number_of(request), text=text, cases=cases)
    if isinstance(answer, Refused):
        fresh = policy_drafts.named(request.workspace, draft_id) or draft
        return _shown(request, fresh, status=422, refused=answer, typed={"text": text, "cases": cases})
    with rows.within(request.workspace):
        drafted = Drafted(request.workspace, answer, request.user)
        faulty = drafted.fault or drafted.cases_fault
    if faulty:
        messages.warning(request, "It is saved, and cannot be switched on yet: see what is marked.")
        return redirect(address(request, answer, "policy_text"))
    messages.success(request, "Saved.")
    return redirect(address(request, answer))


def _shown(
    request: Visit, draft: Draft, *, status: int = 200, typed: dict[str, str] | None = None, **more: Any
) -> HttpResponse:
    with rows.within(request.workspace):
        drafted = Drafted(request.workspace, draft, request.user)
        shown = typed or {"text": drafted.text, "cases": drafted.cases_text}
        told = {"here": "policy", "drafted": drafted, "draft": draft, **shown}
        return render(request, "policy/text.html", told | more, status=status)
