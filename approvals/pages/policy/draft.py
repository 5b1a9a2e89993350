"""A draft of the next version: written, explained, tried on calls and cases, and switched on or given to people."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from approvals import assurance, changes, policy_drafts, policy_rebase, policy_source, policy_uses, rows
from approvals.approvals import Approval
from approvals.pages.account import confirm_address
from approvals.pages.door import Visit, member
from approvals.pages.policy import backtested, compared, seating, trial
from approvals.pages.policy.drafting import Drafted
from approvals.pages.policy.page import names
from approvals.policies import PolicyFault
from approvals.policy_drafts import Draft
from approvals.rulings import UNPROVEN
from approvals.votes import Refused

P = ParamSpec("P")
VIEWS: Final = {"changes": "Changes", "rules": "Rules", "json": "Text"}
REASON_MOST: Final = 2000


def writer(view: Callable[Concatenate[Visit, P], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Let in members who administer the workspace; other members are told that they do not. A draft that cannot be
    proved is told of in place of its page."""

    @wraps(view)
    def enter(request: Visit, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not policy_drafts.may_write(request.user, request.workspace):
            raise PermissionDenied
        try:
            return view(request, *args, **kwargs)
        except UNPROVEN as fault:
            messages.error(request, f"The draft is not as it was kept, so it is not shown. {fault} Begin another one.")
            return redirect("policy", request.workspace.slug)

    return member(enter)


def draft_of(request: Visit, public_id: str) -> Draft:
    """The draft of this id in the visitor's workspace. Raises Http404."""
    found = policy_drafts.named(request.workspace, public_id)
    if found is None:
        raise Http404
    return found


def address(request: Visit, draft: Draft, name: str = "policy_draft") -> str:
    return reverse(name, args=[request.workspace.slug, draft.public_id])


def number_of(request: Visit) -> int:
    """The number of the draft that the form was read at; 0 for what is none."""
    said = request.POST.get("number", "")
    return int(said) if said.isdecimal() and len(said) < 10 else 0


@require_POST
@writer
def begin(request: Visit) -> HttpResponse:
    """Begin a draft with what is in force, or go on with one's own."""
    answer = policy_drafts.begin(request.workspace, by=request.user)
    if isinstance(answer, Refused):
        messages.error(request, answer.message)
        return redirect("policy", request.workspace.slug)
    return redirect(address(request, answer))


@require_http_methods(["GET", "HEAD", "POST"])
@writer
def page(request: Visit, draft_id: str) -> HttpResponse:
    """The draft: its rules with what differs from the version in force. A POST tries a call on it and changes
    nothing."""
    draft = draft_of(request, draft_id)
    return shown(request, draft, trying=request.method == "POST")


def shown(request: Visit, draft: Draft, *, trying: bool = False, status: int = 200, **more: Any) -> HttpResponse:
    """The page of a draft."""
    with rows.within(request.workspace):
        drafted = Drafted(request.workspace, draft, request.user)
        told = _told(request, drafted) | more
        if trying and drafted.document is not None:
            told |= _tried(request, drafted)
        return render(request, "policy/draft.html", told, status=status)


def _told(request: Visit, drafted: Drafted) -> dict[str, Any]:
    view = request.GET.get("view", "changes")
    view = view if view in VIEWS else "changes"
    told: dict[str, Any] = {
        "here": "policy",
        "drafted": drafted,
        "draft": drafted.draft,
        "view": view,
        "views": [(name, word, name == view) for name, word in VIEWS.items()],
        "days": policy_uses.DAYS,
        "edit_of": drafted.draft if drafted.may_change and drafted.source is not None else None,
        "rule_fault": _rule_at_fault(drafted),
    }
    if drafted.document is None:
        return told | {"view": "json"}
    return told | _of_document(request, drafted, drafted.document, view)


def _of_document(request: Visit, drafted: Drafted, document: dict[str, Any], view: str) -> dict[str, Any]:
    workspace, teams = request.workspace, names(request.workspace)
    change = view == "changes"
    lines = compared.lines(drafted.in_force, document, teams)
    tops = compared.tops(drafted.in_force, document)
    told = {
        "lines": lines if change else compared.plain(document, teams),
        "tops": tops if change else compared.tops(document, document),
        "seating": seating.seating(workspace, document["rules"]),
        "changed": sum(bool(line.news) for line in lines)
        + sum(any(r.kind != "same" for r in runs) for _, runs in tops),
        "asked_of": trial.told(drafted.asking, teams) if drafted.asking else "",
    } | trial.choices(workspace, document, drafted.in_force)
    if "backtest" in request.GET:
        told["backtest"] = backtested.backtest(workspace, document, teams, request.GET.get("before", ""))
    return told


def _rule_at_fault(drafted: Drafted) -> str:
    """The name of the rule that is wrong, where one is and it has a name."""
    parts = drafted.fault.pointer.split("/") if drafted.fault else []
    rules = (drafted.source or {}).get("rules", [])
    if len(parts) < 3 or parts[1] != "rules" or not parts[2].isdecimal() or int(parts[2]) >= len(rules):
        return ""
    return str(rules[int(parts[2])].get("id", ""))


def _tried(request: Visit, drafted: Drafted) -> dict[str, Any]:
    assert drafted.document is not None
    found = trial.tried(
        request.workspace, trial.typed(request), drafted.document, drafted.in_force, names(request.workspace)
    )
    return {"tried": found, "matched": found.matched}


# What changes it


@require_POST
@writer
def act(request: Visit, draft_id: str) -> HttpResponse:
    """Throw it away, take over what was switched on meanwhile, switch it on, or take back what people are asked."""
    draft = draft_of(request, draft_id)
    way = _ACTS.get(request.POST.get("do", ""))
    if way is None:
        raise Http404
    return way(request, draft)


def _discard(request: Visit, draft: Draft) -> HttpResponse:
    refused = policy_drafts.discard(draft, by=request.user, number=number_of(request))
    if refused:
        return refusal(request, draft, refused)
    messages.success(request, "The draft was thrown away.")
    return redirect("policy", request.workspace.slug)


def _rebase(request: Visit, draft: Draft) -> HttpResponse:
    with rows.within(request.workspace):
        drafted = Drafted(request.workspace, draft, request.user)
        if drafted.document is None or drafted.current is None:
            unread = Refused("unreadable", "Mend the text first: what cannot be read cannot be put on top of another.")
            return refusal(request, draft, unread)
        done = policy_rebase.rebased(drafted.base, drafted.in_force, drafted.document)
        version = drafted.current.version
    answer = policy_drafts.save(
        draft, by=request.user, number=number_of(request), text=policy_source.text(done.document), based_on=version
    )
    if isinstance(answer, Refused):
        return refusal(request, draft, answer)
    told = f"The draft now stands on version {version}."
    if done.both:
        told += f" Both changed {', '.join(done.both)}: yours stayed. Look at the differences before you switch it on."
    messages.success(request, told)
    return redirect(address(request, draft))


def _switch_on(request: Visit, draft: Draft) -> HttpResponse:
    reason = request.POST.get("reason", "").replace("\x00", "").strip()[:REASON_MOST]
    if not _asks(request, draft) and not assurance.of_session(request).satisfies("fresh"):
        return redirect(confirm_address(request, address(request, draft)))
    try:
        answer = policy_drafts.switch_on(
            request.workspace, draft, by=request.user, number=number_of(request), reason=reason
        )
    except PolicyFault as fault:
        return refusal(request, draft, Refused("invalid", fault.message, pointer=fault.pointer), reason=reason)
    if isinstance(answer, Refused):
        return refusal(request, draft, answer, reason=reason)
    if isinstance(answer, Approval):
        messages.success(request, "Nothing has changed yet: people are asked to approve this version.")
        return redirect(address(request, draft))
    messages.success(request, f"Version {answer.version} is in force.")
    return redirect("policy", request.workspace.slug)


def _asks(request: Visit, draft: Draft) -> bool:
    """Whether people have to approve it, so that pressing the button puts nothing in force."""
    with rows.within(request.workspace):
        return Drafted(request.workspace, draft, request.user).asking is not None


def _withdraw(request: Visit, draft: Draft) -> HttpResponse:
    if draft.approval is None:
        raise Http404
    if refused := changes.withdraw(request.workspace, draft.approval, by=request.user):
        return refusal(request, draft, refused)
    messages.success(request, "Nobody is asked any more. The draft can be changed again.")
    return redirect(address(request, draft))


_ACTS: Final[dict[str, Callable[[Visit, Draft], HttpResponse]]] = {
    "discard": _discard,
    "rebase": _rebase,
    "switch": _switch_on,
    "withdraw": _withdraw,
}


def refusal(request: Visit, draft: Draft, refused: Refused, **typed: Any) -> HttpResponse:
    """The page of the draft, with why nothing was done."""
    fresh = policy_drafts.named(request.workspace, draft.public_id) or draft
    return shown(request, fresh, status=422, refused=refused, **typed)
