"""What stands above the rules of a draft, written by a form."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from approvals import assurance, policy_drafts, policy_source, rows
from approvals.pages.door import Visit
from approvals.pages.policy import top_form
from approvals.pages.policy.draft import address, draft_of, number_of, writer
from approvals.pages.policy.drafting import Drafted
from approvals.policies import PolicyFault
from approvals.policy_drafts import Draft
from approvals.policy_words import RISKS
from approvals.votes import Refused

LONGEST = 20_000


@require_http_methods(["GET", "HEAD", "POST"])
@writer
def page(request: Visit, draft_id: str) -> HttpResponse:
    """The form; what is sent is put into the draft."""
    draft = draft_of(request, draft_id)
    with rows.within(request.workspace):
        source = Drafted(request.workspace, draft, request.user).source
    try:
        typed = top_form.typed(source or {})
    except (ValueError, TypeError, AttributeError, KeyError):
        source, typed = None, {}
    if source is None:
        messages.warning(request, "The text says what this form cannot. Change it there.")
        return redirect(address(request, draft, "policy_text"))
    if request.method != "POST":
        return _shown(request, draft, typed)
    typed = {name: request.POST.get(name, "").replace("\x00", "")[:LONGEST].strip() for name in top_form.NAMES}
    try:
        document = top_form.put(source, typed)
    except PolicyFault as fault:
        return _shown(request, draft, typed, status=422, fault=fault)
    answer = policy_drafts.save(draft, by=request.user, number=number_of(request), text=policy_source.text(document))
    if isinstance(answer, Refused):
        return _shown(request, draft, typed, status=422, refused=answer)
    messages.success(request, "Saved.")
    return redirect(address(request, draft))


def _shown(request: Visit, draft: Draft, typed: dict[str, str], *, status: int = 200, **more: Any) -> HttpResponse:
    with rows.within(request.workspace):
        fresh = policy_drafts.named(request.workspace, draft.public_id) or draft
        fault: PolicyFault | None = more.get("fault")
        told: dict[str, Any] = {
            "here": "policy",
            "drafted": Drafted(request.workspace, fresh, request.user),
            "draft": fresh,
            "typed": typed,
            "risks": [(risk, typed[f"{risk}-people"], typed[f"{risk}-assurance"]) for risk in RISKS],
            "levels": assurance.LEVELS,
            "part": fault.pointer.split("/")[1] if fault and fault.pointer else "",
        }
        return render(request, "policy/top.html", told | more, status=status)
