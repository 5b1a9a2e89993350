"""The verification of the ledger: a press begins one, and the page shows how far it is and what it found."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from approvals import rows, verifications
from approvals.ledger import anchors, verify
from approvals.ledger_places import tabs
from approvals.pages.door import Visit, member
from approvals.verifications import Verification
from approvals.votes import Refused

STATES: Any = {
    "never": ("Never verified here", ""),
    "running": ("Verifying", "wait"),
    "whole": ("Verified", "good"),
    "broken": ("Not as written", "bad"),
}


@require_http_methods(["GET", "HEAD", "POST"])
@member
def page(request: Visit) -> HttpResponse:
    """The last verification; POST begins another."""
    refused = None
    if request.method == "POST":
        answer = verifications.begin(request.workspace, by=request.user)
        if not isinstance(answer, Refused):
            messages.success(request, "The ledger is being verified. You may leave this page meanwhile.")
            return redirect(reverse("verification", args=[request.workspace.slug]))
        refused = answer
    return render(request, "ledger/verification.html", _context(request, refused), status=422 if refused else 200)


def _context(request: Visit, refused: Refused | None) -> dict[str, Any]:
    with rows.within(request.workspace):
        last = verifications.last(request.workspace.pk)
        return {
            "here": "ledger",
            "tabs": tabs(request.workspace, request.user, "verification"),
            "last": last,
            "state": state(last),
            "findings": [_finding(request, *one) for one in last.findings] if last else [],
            "questions": verify.further(),
            "may_begin": verifications.may_begin(request.user, request.workspace),
            "anchors": anchors.readable(),
            "refused": refused,
        }


def state(last: Verification | None) -> dict[str, str]:
    """Where the last verification stands, in a word or two and a colour."""
    key = "never" if last is None else "running" if last.running else "broken" if last.faults else "whole"
    word, tone = STATES[key]
    return {"key": key, "word": word, "tone": tone}


def _finding(request: Visit, chain: str, text: str) -> dict[str, str]:
    run = reverse("run", args=[request.workspace.slug, chain]) if chain.startswith("run_") else ""
    return {"chain": chain, "text": text, "run": run}
