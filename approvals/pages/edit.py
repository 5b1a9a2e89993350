"""The edit page: the arguments changed before the yes, as a form or as JSON text, with every error at its place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from approvals import rows
from approvals.approvals import Approval
from approvals.decisions import Decided, Refused
from approvals.edits import reading, turning
from approvals.edits.reading import Edited
from approvals.edits.view import Tool
from approvals.ledger import canonical
from approvals.ledger.sealing import Tampered
from approvals.pages import care, review
from approvals.pages.account import confirm_address
from approvals.pages.cards import args_in, tool_of
from approvals.pages.care import Care
from approvals.pages.door import Visit, approval_of, member
from approvals.pages.notices import OF_THE_COMMENT
from approvals.pages.review import digest_of, revision_of, written
from approvals.pages.told import Told
from approvals.revisions import Revision
from approvals.rulings import Forged

MODES = ("form", "json")
CARELESS = ("unconfirmed", "read_on")
"""Refusals of a yes that takes more care."""
MENDED_HERE = {"invalid_edit", "unsatisfiable", "policy_refuses", "needs_assurance", *CARELESS, *OF_THE_COMMENT}
"""Refusals that the reader can mend on this page; after any other they see the approval as it is now."""
STAYS = {
    "json": "A secret was replaced or moved, and JSON text would show it. Save the change here.",
    "form": "The form cannot hold this change. Save it here, or undo it to go back to the form.",
}
"""Why a change stays where it is though nothing is wrong with it."""


@require_http_methods(["GET", "HEAD", "POST"])
@member
def edit(request: Visit, approval_id: str) -> HttpResponse:
    """Show the arguments for editing, or take what was sent: a new revision, and a vote where the rule says so."""
    approval = approval_of(request, approval_id)
    if request.method == "POST":
        return _post(request, approval)
    with rows.within(request.workspace):
        asked = Told(request.workspace, approval, request.user)
        try:
            return _page(request, asked) if asked.may_edit else redirect(asked.url)
        except (Tampered, Forged) as fault:
            return review.tampered(request, approval, fault)


def _post(request: Visit, approval: Approval) -> HttpResponse:
    with rows.within(request.workspace):
        asked = Told(request.workspace, approval, request.user)
        edited = _read(request, asked)
        if edited is None or not asked.may_edit:
            return review.answered(request, approval, _why_not(asked), comment=written(request, "message"))
        if to := _turns_to(request):
            return _turned(request, asked, edited, to)
        if not edited.saves:
            return _page(request, asked, edited, status=422 if edited.faults and edited.wants == "save" else 200)
    return _save(request, approval, edited)


def _why_not(asked: Told) -> Refused:
    if asked.may_edit:
        return Refused("stale_revision", "")
    if asked.halt:
        return Refused("halted", asked.why_not)
    return Refused(asked.standing.code or "decision_not_allowed", asked.standing.reason or "You may not edit this.")


def _read(request: Visit, asked: Told) -> Edited | None:
    """What was sent, against the revision that it was drawn for; None if that is not the current one any more."""
    if revision_of(request) != asked.approval.revision:
        return None
    tool, base, editable = _sheet(asked)
    if _mode(request) == "json":
        save = request.POST.get("do") == "save"
        return reading.read_raw(request.POST.get("text", ""), tool, base, editable=editable, save=save)
    sent = dict(request.POST.lists()) | ({"do": ["check"]} if _turns_to(request) else {})
    return reading.read(sent, tool, base, editable=editable, rule=_locked_by(asked), before=_before(asked))


def _turns_to(request: Visit) -> str:
    """The other way of editing, if the button was pressed that changes to it; else nothing."""
    to = request.POST.get("do", "").removeprefix("turn:")
    return to if to in MODES and to != _mode(request) and to != request.POST.get("do") else ""


def _turned(request: Visit, asked: Told, edited: Edited, to: str) -> HttpResponse:
    """The same change the other way; where it cannot be taken along, the page as it was, which says so."""
    tool, base, editable = _sheet(asked)
    if to == "json":
        other = turning.to_text(edited, tool, base, editable=editable)
    else:
        rule, before = _locked_by(asked), _before(asked)
        other = turning.to_form(edited, tool, base, editable=editable, rule=rule, before=before)
    if other is not None:
        return _page(request, asked, other, mode=to)
    told = "Mend what is marked before you change to the other way of editing." if edited.faults else STAYS[to]
    return _page(request, asked, edited, stays=told)


def _save(request: Visit, approval: Approval, edited: Edited) -> HttpResponse:
    message = written(request, "message")
    revision, digest = revision_of(request), digest_of(request)
    value = canonical.encode(edited.value)
    answer = care.put(request, approval, "edit", revision=revision, digest=digest, message=message, edited=value)
    if isinstance(answer, Decided):
        return redirect(reverse("review", args=[request.workspace.slug, approval.public_id]) + "#outcome")
    with rows.within(request.workspace):
        fresh = approval_of(request, approval.public_id)
        if answer.code not in MENDED_HERE:
            return review.answered(request, fresh, answer, comment=message)
        return _page(request, Told(request.workspace, fresh, request.user), edited, refused=answer, status=422)


# The page


def _page(
    request: Visit,
    asked: Told,
    edited: Edited | None = None,
    *,
    refused: Refused | None = None,
    status: int = 200,
    mode: str = "",
    stays: str = "",
) -> HttpResponse:
    tool, base, editable = _sheet(asked)
    mode = mode or _mode(request)
    context: dict[str, Any] = {
        "workspace": request.workspace,
        "here": "inbox",
        "review": asked,
        "mode": mode,
        "modes": MODES,
        "message": written(request, "message"),
        "message_fault": refused.message if refused and refused.code in OF_THE_COMMENT else "",
        "refused": refused,
        "care": _care(request, asked, refused),
        "confirm": confirm_address(request, reverse("account"))
        if refused and refused.code == "needs_assurance"
        else "",
        "stays": stays,
        "changes": edited.changes if edited else [],
        "lines": edited.lines if edited else (),
    }
    if mode == "json":
        context["text"] = edited.text if edited else reading.raw_text(tool, base)
    else:
        context["form"] = (edited and edited.form) or reading.fields(
            tool, base, editable=editable, rule=_locked_by(asked), before=_before(asked)
        )
    return render(request, "edit/page.html", context, status=status)


def _care(request: Visit, asked: Told, refused: Refused | None) -> Care:
    """What saving asks for: where it is a yes of high risk, or turned out to be one."""
    found = care.of(asked, request.POST)
    careless = refused is not None and refused.code in CARELESS
    return replace(found, asks=(found.asks and asked.standing.editing_approves) or careless)


def _mode(request: Visit) -> str:
    asked = request.POST.get("mode") or request.GET.get("mode") or MODES[0]
    return asked if asked in MODES else MODES[0]


def _sheet(asked: Told) -> tuple[Tool, Any, list[str] | None]:
    current: Revision = asked.current
    return tool_of(asked.approval), args_in(current), current.ruling.rule.get("editable")


def _before(asked: Told) -> str:
    """What the values are called that a change stands beside."""
    return "Proposed" if asked.approval.revision == 1 else f"Revision {asked.approval.revision}"


def _locked_by(asked: Told) -> str:
    return f"Rule {asked.approval.rule_id} keeps this field as proposed. To have another, reject and say which."
