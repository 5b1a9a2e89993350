"""The review page: what will run, the decision, afterwards the outcome; and the one address that takes a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from approvals import assurance, decisions, rows, turns
from approvals.approvals import Approval
from approvals.channels import kinds
from approvals.decisions import Decided, Refused
from approvals.edits.texts import masked_text
from approvals.edits.view import root
from approvals.ledger import canonical
from approvals.ledger.sealing import Erased, Tampered
from approvals.pages import care, drafts, folds, foreseen, levels, notices, precedents, response, seen, versions, wishes
from approvals.pages.account import confirm_address
from approvals.pages.cards import tool_of
from approvals.pages.door import Visit, approval_of, member
from approvals.pages.entries import entries
from approvals.pages.notices import Notice
from approvals.pages.reader import Reader
from approvals.pages.response import Response
from approvals.pages.told import Told
from approvals.rulings import Forged

PLACE_MOST = 200
"""So many approvals of the inbox are looked at; beyond, neither the position in it nor its length is told."""


@require_safe
@member
def review(request: Visit, approval_id: str) -> HttpResponse:
    """The page; with ``seen``, only what changed since that version, as parts for an open page."""
    with rows.within(request.workspace):
        approval = approval_of(request, approval_id)
        if "seen" in request.GET and request.headers.get("HX-Request"):
            return _news(request, approval, request.GET["seen"])
        return _with_draft(request, approval)


def _with_draft(request: Visit, approval: Approval) -> HttpResponse:
    """The page, with what the reader had typed before they confirmed that it is them."""
    draft = drafts.of(request, approval)
    if draft is None or approval.status != Approval.Status.PENDING:
        return page(request, approval)
    form = response.read(draft, approval.response_schema, _label(approval)) if _answers(draft) else None
    told = "What you typed is here again. Now decide." if assurance.of_session(request).satisfies("fresh") else ""
    notice = Notice(told, "You confirmed that it is you; nothing is decided yet.", "plain") if told else None
    comment = str(draft.get("comment", "")).replace("\r\n", "\n")
    since = _number(str(draft.get("revision", "")))
    more = {"form": form, "choice": draft.get("choice", ""), "sent": draft}
    return page(request, approval, notice=notice, comment=comment, since=since, **more)


def _answers(draft: Mapping[str, Any]) -> bool:
    return any(name.startswith("answer-") and value for name, value in draft.items())


@require_POST
@member
def decision(request: Visit, approval_id: str) -> HttpResponse:
    """Take a verdict. The form names revision and digest; if they are no longer those, nothing is decided and the
    change is shown, with the comment kept."""
    approval = approval_of(request, approval_id)
    comment, verdict = written(request, "comment"), request.POST.get("verdict", "")
    form = response.read(request.POST.dict(), approval.response_schema, _label(approval))
    answer = _decide(request, approval, verdict, comment, form) if verdict != "show" else _overtaken()
    if isinstance(answer, Refused) and answer.code == "needs_assurance":
        drafts.keep(request, approval)
        way = reverse("review", args=[request.workspace.slug, approval.public_id])
        return redirect(confirm_address(request, way))
    drafts.drop(request)
    said = "respond" if verdict == "changes" else verdict
    if isinstance(answer, Decided) or _said_already(request, approval, answer, said):
        return redirect(reverse("review", args=[request.workspace.slug, approval.public_id]) + "#outcome")
    with rows.within(request.workspace):
        return answered(request, approval_of(request, approval_id), answer, comment=comment, form=form)


def answered(
    request: Visit, approval: Approval, refused: Refused, *, comment: str, form: Response | None = None
) -> HttpResponse:
    """The page as it is now, with the reason why nothing was decided, and with what was typed."""
    notice = notices.of(approval, refused)
    if form and refused.code != "invalid_response":
        form = replace(form, sent=False, rest=[], places=[replace(place, fault="") for place in form.places])
    status, since = notices.STATUS.get(refused.code, 409), revision_of(request)
    return page(request, approval, notice=notice, comment=comment, since=since, status=status, form=form)


def _label(approval: Approval) -> str:
    return kinds.kind(approval.kind, approval.tool).respond_label


def _decide(request: Visit, approval: Approval, verdict: str, comment: str, form: Response) -> Decided | Refused:
    if verdict == "changes":
        wanted = wishes.changes(wishes.read(request.POST, Told(request.workspace, approval, request.user).last_args))
        return _put(request, approval, "respond", comment, changes=wanted)
    if verdict not in {"approve", "reject", "respond", "choose", "stop", "retract", "override"}:
        return Refused("unknown_verdict", "Choose one of the answers.")
    if verdict == "respond" and form.faults:
        return Refused("invalid_response", "The answer does not fit yet.", form.faults)
    response = canonical.encode(form.value) if verdict == "respond" else None
    return _put(request, approval, verdict, comment, response=response, choice=request.POST.get("choice", ""))


def _put(request: Visit, approval: Approval, verdict: str, comment: str, **more: Any) -> Decided | Refused:
    revision, digest = revision_of(request), digest_of(request)
    return care.put(request, approval, verdict, revision=revision, digest=digest, message=comment, **more)


def _overtaken() -> Refused:
    return Refused("stale_revision", "")


def revision_of(request: Visit) -> int:
    """The revision that the form was made for; 0 where it names none."""
    return _number(request.POST.get("revision", ""))


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def digest_of(request: Visit) -> str:
    """The digest that the form was made for; nothing where it names none."""
    text = request.POST.get("digest", "")
    return text if decisions.DIGEST.fullmatch(text) else ""


def written(request: Visit, name: str) -> str:
    """What stands in a field of several lines; a browser sends two characters for each end of a line."""
    return request.POST.get(name, "").replace("\r\n", "\n")


def _said_already(request: Visit, approval: Approval, answer: Refused, verdict: str) -> bool:
    """Whether the reader said just this before: a double click or a re-sent form changes nothing and is no error."""
    if answer.code not in turns.SAID:
        return False
    last = turns.last_of(request.user, approval, revision_of(request), digest_of(request))
    return last is not None and last.verdict == verdict


# The page


def page(
    request: Visit,
    approval: Approval,
    *,
    notice: Notice | None = None,
    comment: str = "",
    since: int = 0,
    status: int = 200,
    form: Response | None = None,
    choice: str = "",
    remark: str = "",
    sent: Mapping[str, Any] | None = None,
) -> HttpResponse:
    """The whole page, or the word that what it shows was tampered with."""
    asked = Told(request.workspace, approval, request.user, since=since or _since(request))
    form = form or response.form_of(approval.response_schema, _label(approval))
    said = request.POST if sent is None else sent
    told = {"notice": notice, "comment": comment, "answer": form, "chosen": request.POST.get("choice", choice)}
    try:
        # What was written for a verdict that came too late can still be said.
        told["remark"] = remark or ("" if asked.pending or asked.waits else comment)
        context = {**_context(request, asked), **told, **_whole(asked, said)}
        return render(request, "review/page.html", context, status=status)
    except (Tampered, Forged) as fault:
        return tampered(request, approval, fault)


def _whole(asked: Told, said: Mapping[str, Any]) -> dict[str, Any]:
    """What only the whole page shows, and no news of an open one."""
    lines = wishes.read(said, asked.last_args) if asked.is_call else []
    return {
        "care": care.of(asked, said),
        "folds": folds.folds(asked),
        "seen": seen.exactly(asked),
        "precedents": precedents.of(asked),
        "wishes": lines,
        "wished": any(each.text for each in lines),
    }


def tampered(request: Visit, approval: Approval, fault: Exception) -> HttpResponse:
    """The page in place of one whose rows do not hold together, or were erased: it shows none of them."""
    erased = isinstance(fault, Erased)
    told = {"workspace": request.workspace, "here": "inbox", "approval": approval, "fault": str(fault)}
    page = "review/erased.html" if erased else "review/tampered.html"
    return render(request, page, told, status=410 if erased else 409)


def _since(request: Visit) -> int:
    text = request.GET.get("since", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 1


def _context(request: Visit, asked: Told) -> dict[str, Any]:
    reader = Reader(request.workspace, request.user)
    return {
        "workspace": request.workspace,
        "here": "inbox",
        "review": asked,
        **versions.view_of(request.GET, asked),
        "foreseen": foreseen.of(asked),
        "raw": _Lazy(asked),
        "nudge": partial(levels.nudge_of, asked),
        **_neighbours(request, reader, asked),
    }


class _Lazy:
    """The raw JSON, made when the template asks for it."""

    def __init__(self, asked: Told) -> None:
        self.asked = asked

    def __str__(self) -> str:
        approval = self.asked.approval
        return masked_text(root(tool_of(approval), self.asked.args_at(approval.revision)))


def _neighbours(request: Visit, reader: Reader, asked: Told) -> dict[str, Any]:
    """Where this approval stands in the reader's inbox, and which comes next."""
    waiting = list(reader.tab("for-you").values_list("pk", flat=True)[:PLACE_MOST])
    told: dict[str, Any] = {"waiting": len(waiting) if len(waiting) < PLACE_MOST else f"{PLACE_MOST - 1}+"}
    if asked.approval.pk in waiting:
        at = waiting.index(asked.approval.pk)
        before = _path(request, waiting[at - 1]) if at else ""
        after = _path(request, waiting[at + 1]) if at + 1 < len(waiting) else ""
        told["place"] = {"number": at + 1, "total": told["waiting"], "before": before, "after": after}
    elif waiting and not asked.pending:
        found = Approval.objects.filter(pk=waiting[0]).select_related("requester", "decided_by")
        told["following"] = entries(request.workspace, found)[0]
    return told


def _path(request: Visit, key: Any) -> str:
    return reverse("review", args=[request.workspace.slug, rows.public_id(Approval.PREFIX, key)])


# News for an open page


def _news(request: Visit, approval: Approval, seen: str) -> HttpResponse:
    """Nothing if nothing changed; parts while the form is open, so that a comment stays; else the whole page anew.

    What comes asks once more by itself: it may have been read in the middle of a change, and what the part that it
    replaces had still wanted to ask goes with it.
    """
    asked = Told(request.workspace, approval, request.user)
    if asked.version == seen:
        return HttpResponse(status=204)
    form = _number(request.GET.get("form", ""))
    if not asked.pending or not form:
        answer = page(request, approval, notice=notices.settled(asked, seen))
        answer["HX-Retarget"], answer["HX-Reswap"], answer["HX-Reselect"] = "#page", "innerHTML", "#page > *"
        return answer
    context = {**_context(request, asked), "form": form, "care": care.of(asked, {})}
    if not asked.may_decide:
        context["notice"] = notices.standing_still(asked)
    elif form < approval.revision:
        context |= {"overtaken": len(asked.changes(form, approval.revision)), "notice": notices.overtaking(asked)}
    return render(request, "review/news.html", context)
