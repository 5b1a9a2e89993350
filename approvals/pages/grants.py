"""Standing grants: the list, one grant with what was used of it, asking for one, and ending one."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from approvals import granting, grants, rows, standing
from approvals.approvals import Approval
from approvals.grants import Grant
from approvals.ledger import canonical
from approvals.ledger.about import Broken
from approvals.pages import terms
from approvals.pages.door import Visit, approval_of, member
from approvals.pages.matter import address_of
from approvals.pages.ruled import lasting
from approvals.votes import Refused

LENGTHS: Final = (900, 3600, 4 * 3600, 86400, 7 * 86400, 30 * 86400)
STATES: Final = {
    "given": ("In force", "good"),
    "over": ("Over", ""),
    "pending": ("People are asked", "wait"),
    "rejected": ("Rejected", ""),
    "expired": ("Nobody answered", ""),
    "cancelled": ("Withdrawn", ""),
    "unproven": ("Proves nothing", "bad"),
}


@require_safe
@member
def page(request: Visit) -> HttpResponse:
    """The standing grants of the workspace, the newest first."""
    problem, found = "", list[standing.Standing]()
    with rows.within(request.workspace):
        try:
            found = standing.listed(request.workspace)
        except Broken as fault:
            problem = str(fault)
    told = {"here": "people", "tab": "grants", "problem": problem, "most": standing.MOST}
    return render(request, "people/grants.html", told | {"entries": [(one, *_state(one)) for one in found]})


def _state(one: standing.Standing) -> tuple[str, str]:
    return STATES.get(one.state, (one.state.capitalize(), ""))


@require_safe
@member
def grant(request: Visit, grant: str) -> HttpResponse:
    """One grant: its terms in words, how it stands, and each use of it."""
    found = _grant_of(request, grant)
    with rows.within(request.workspace):
        try:
            one = standing.of(found, grants.told(request.workspace.pk), grants.instant(rows.now()))
        except Broken as fault:
            one = standing.Standing(found, None, "unproven", problem=str(fault))
        word, tone = _state(one)
        uses = list(found.uses.order_by("-number")[: standing.MOST])
        told = {
            "here": "people",
            "tab": "grants",
            "one": one,
            "state": word,
            "tone": tone,
            "lines": terms.lines(one.terms) if one.terms else [],
            "pattern": terms.pattern(one.terms) if one.terms else "",
            "uses": [(use, address_of("call", request.workspace.slug, use.subject)) for use in uses],
            "may": standing.may_end(request.user, request.workspace, found),
        }
    return render(request, "people/grant.html", told)


def _grant_of(request: Visit, public_id: str) -> Grant:
    key = rows.parse_id(Grant.PREFIX, public_id)
    known = Grant.objects.select_related("approval", "approval__decided_by")
    found = known.filter(workspace=request.workspace, pk=key).first() if key else None
    if found is None:
        raise Http404
    return found


@require_POST
@member
def end(request: Visit, grant: str) -> HttpResponse:
    """End a grant at once."""
    found = _grant_of(request, grant)
    refused = standing.end(request.workspace, found, by=request.user)
    if refused and refused.code == "not_allowed":
        return render(request, "403.html", status=403)
    if refused:
        messages.error(request, refused.message)
    else:
        messages.success(request, "It is ended. What it let through and is not sent yet is asked about again.")
    return redirect("grant", request.workspace.slug, found.public_id)


# Asking for one


@require_http_methods(["GET", "HEAD", "POST"])
@member
def ask(request: Visit, approval_id: str) -> HttpResponse:
    """Ask for a grant for calls like one that was seen; whoever asks says yes on its page, as everybody does."""
    seen = approval_of(request, approval_id)
    limits = seen.rule.get("standing") if seen.kind == Approval.Kind.CALL else None
    if not limits:
        raise Http404
    if request.method != "POST":
        return _asked(request, seen, limits)
    wish = _wish(request)
    answer = wish if isinstance(wish, Refused) else granting.ask(request.workspace.pk, seen, wish, by=request.user)
    if isinstance(answer, Refused):
        return _asked(request, seen, limits, answer)
    return redirect("review", request.workspace.slug, answer.public_id)


def _wish(request: Visit) -> granting.Wish | Refused:
    sent = {name: request.POST.get(name, "").replace("\x00", "").strip()[:20_000] for name in _FIELDS}
    for name in ("lasts", "uses", "sum"):
        if sent[name] and not (sent[name].isascii() and sent[name].isdigit() and len(sent[name]) < 16):
            return Refused("invalid", "A whole number.", pointer=f"/{name}")
    lasts, uses, limit = (int(sent[name]) if sent[name] else None for name in ("lasts", "uses", "sum"))
    if sent["which"] != "pattern":
        return granting.Wish(lasts, uses, limit)
    try:
        schema = canonical.parse(sent["pattern"])
    except canonical.Unrepresentable as fault:
        return Refused("invalid", str(fault), pointer="/pattern")
    if not isinstance(schema, dict):
        return Refused("invalid", "A JSON Schema is an object.", pointer="/pattern")
    return granting.Wish(lasts, uses, limit, schema)


_FIELDS: Final = ("lasts", "uses", "sum", "which", "pattern")


def _asked(request: Visit, seen: Approval, limits: dict[str, Any], fault: Refused | None = None) -> HttpResponse:
    sent = {name: request.POST.get(name, "") for name in _FIELDS}
    lengths = [length for length in LENGTHS if length < limits["for"]] + [limits["for"]]
    told = {
        "here": "inbox",
        "seen": seen,
        "limits": limits,
        "lengths": [(str(length), lasting(length)) for length in lengths],
        "sent": {"lasts": "3600", "uses": str(limits["uses"])} | {name: text for name, text in sent.items() if text},
        "fault": fault,
        "where": _place(fault) if fault else "",
    }
    return render(request, "people/grant_ask.html", told, status=422 if fault else 200)


def _place(fault: Refused) -> str:
    """The field at which a refusal is shown; a pattern's own pointer leads into it."""
    named = (fault.pointer or "").strip("/").partition("/")[0]
    return named if named in _FIELDS else "pattern" if fault.code == "invalid_grant" else ""
