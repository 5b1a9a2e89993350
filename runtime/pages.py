"""The pages of runs: the list, one run with its timeline, what became of one call, and the button that stops a run."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from approvals import gate, rows
from approvals.ledger import sealing
from runtime import attention, calls, checkpoints, halts, lasted, remedies, view
from runtime import runs as run_rows
from runtime.calls import Call
from runtime.checkpoints import Checkpoint
from runtime.narrative import Event, Narrative
from runtime.runs import Run
from runtime.uses import use_of

P = ParamSpec("P")

LINES = 150
"""How many lines of a timeline stand on a page: the last ones, and what came before them on the pages before."""

STATES = {
    "suspended_approval": ("Waiting for a person", "wait"),
    "requires_action": ("Waiting for its caller", "wait"),
    "sleeping": ("Sleeping", ""),
    "ready": ("Ready", ""),
    "in_progress": ("Working", ""),
    "completed": ("Done", "good"),
    "failed": ("Failed", "bad"),
    "cancelled": ("Stopped", ""),
    "parked": ("Parked", "bad"),
}


class Visit(HttpRequest):
    """A request of a signed-in member of the workspace."""

    user: Any
    workspace: Any
    my_workspaces: list[Any]


def member(view: Callable[Concatenate[Visit, P], HttpResponse]) -> Callable[..., HttpResponse]:
    """Let in members of the workspace alone; to others it does not exist. Forms come from our own pages."""

    @wraps(view)
    def enter(request: Any, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if request.method == "POST" and request.headers.get("Sec-Fetch-Site", "none") not in {"same-origin", "none"}:
            return HttpResponse("This form came from another site.", status=403, content_type="text/plain")
        if not request.user.is_authenticated:
            back_to = request.get_full_path() if request.method == "GET" else _page_of(request.path)
            return HttpResponse(status=401) if request.headers.get("HX-Request") else redirect_to_login(back_to)
        request.my_workspaces = gate.workspaces_of(request.user)
        request.workspace = next((one for one in request.my_workspaces if one.slug == slug), None)
        if request.workspace is None:
            raise Http404
        rows.enter(request.workspace)
        return view(request, *args, **kwargs)

    return never_cache(enter)


def _page_of(path: str) -> str:
    """The page on which the form of this address stands."""
    path = re.sub("/credentials/[^/]+/[a-z]+$", "/agents", re.sub("/halt(/end)?$", "/runs", path))
    path = re.sub("/start/[a-z]+$", "/start", path)
    return re.sub("/(stop|resume|switch|credentials|operators)$", "", path)


def state_of(run: Run) -> tuple[str, str]:
    """Where a run stands, in words, and their tone."""
    halted = run.status == Run.Status.SLEEPING and run.reason_code == halts.CODE
    return ("Agent stopped", "wait") if halted else STATES[run.status]


def title_of(run: Run) -> str:
    try:
        return run_rows.title_of(run)
    except sealing.Erased:
        return "An erased run"
    except sealing.Tampered:
        return "Its title is not the one that was sealed"


def _why(run: Run) -> str:
    try:
        return run.told
    except sealing.Tampered:
        return "What was said about its end is not what was sealed."


# One run


@require_safe
@member
def run(request: Visit, run_id: str) -> HttpResponse:
    """A run's timeline. Its state is for those who operate the agent or audit the workspace."""
    with rows.within(request.workspace):
        found = run_of(request, run_id)
        operates = gate.may(request.user, "operate", found.agent)
        with_state = operates or reads_state(request.user, found)
        narrative = Narrative(found, with_state=with_state)
        if request.headers.get("HX-Request") and request.GET.get("seen") == narrative.version:
            return HttpResponse(status=204)
        words, tone = state_of(found)
        context = _window(request, narrative.events()) | {
            "here": "runs",
            "run": found,
            "title": title_of(found),
            "why": _why(found),
            "remedy": remedies.of(found),
            "lasted": lasted.of(found),
            "operates": operates,
            "state": words,
            "tone": tone,
            "timeline": narrative,
            "may_stop": operates and found.status not in run_rows.FINAL and not found.cancel_by,
            "may_resume": operates and found.status in {"failed", "parked"} and not found.cancel_by,
            "may_read_state": with_state,
            "fault": _fault(found) if with_state else "",
        }
        return render(request, "runs/page.html", context)


def _window(request: Visit, events: list[Event]) -> dict[str, Any]:
    """The newest lines of the timeline, or those before the one that the address names."""
    until = request.GET.get("until", "")
    end = int(until) if until.isascii() and until.isdigit() and len(until) <= 9 else 0
    end = min(end, len(events)) or len(events)
    start = max(end - LINES, 0)
    return {"events": events[start:end], "earlier": start, "later": len(events) - end, "lines": LINES}


def run_of(request: Visit, run_id: str) -> Run:
    key = rows.parse_id(Run.PREFIX, run_id)
    known = Run.objects.select_related("agent", "requester", "version", "thread")
    found = known.filter(workspace=request.workspace, pk=key).first() if key else None
    if found is None:
        raise Http404
    return found


def reads_state(person: Any, run: Run) -> bool:
    """Whether somebody may read what the run keeps: those who operate its agent, or audit the workspace."""
    return gate.may(person, "operate", run.agent) or gate.may(person, "audit", run.workspace)


def _fault(run: Run) -> str:
    """Why the run's state cannot be trusted, as far as its last checkpoint tells."""
    made = Checkpoint.objects.filter(run=run, seq=run.head_seq).defer("body").first()
    if made is None:
        return "The run's last checkpoint is missing."
    try:
        view.check_head(run, made)
    except checkpoints.Unreadable as fault:
        return str(fault)
    return ""


@require_POST
@member
def resume(request: Visit, run_id: str) -> HttpResponse:
    """Let a failed or parked run go on from its last commit, for those who operate its agent."""
    found = run_of(request, run_id)
    if not gate.may(request.user, "operate", found.agent):
        return render(request, "403.html", status=403)
    run_rows.resume(found, by=request.user.public_id)
    attention.forget(request.workspace, request.user)
    if back_to(request, "run") == "attention":
        return redirect("attention", request.workspace.slug)
    return redirect("run", request.workspace.slug, found.public_id)


def back_to(request: Visit, page: str) -> str:
    """The name of the page that a press leads to: where it was made, if that is the operators' list."""
    return "attention" if request.POST.get("back") == "attention" else page


@require_POST
@member
def stop(request: Visit, run_id: str) -> HttpResponse:
    """End the run, for those who operate its agent: what it still asks is withdrawn, nothing more is sent."""
    found = run_of(request, run_id)
    if not gate.may(request.user, "operate", found.agent):
        return render(request, "403.html", status=403)
    reason = request.POST.get("reason", "").replace("\x00", "").strip()[:500] or f"Stopped by {request.user.name}."
    run_rows.cancel(found, by=request.user.public_id, reason=reason, person_id=request.user.pk)
    attention.forget(request.workspace, request.user)
    return redirect("run", request.workspace.slug, found.public_id)


# One call


@require_safe
@member
def call(request: Visit, call_id: str) -> HttpResponse:
    """What became of a call: each attempt, the key it was sent with, and what came back."""
    with rows.within(request.workspace):
        key = rows.parse_id(Call.PREFIX, call_id)
        known = Call.objects.select_related("tool", "run")
        found = known.filter(workspace=request.workspace, pk=key).first() if key else None
        if found is None:
            raise Http404
        attempts = list(found.attempts.order_by("number"))
        use = use_of(found, "", attempts, masked=gate.masked(found.workspace_id, found.run.public_id))
        context = {"here": "runs", "use": use, "call": found, "answer": _answer(found)}
        return render(request, "runs/call.html", context)


def _answer(found: Call) -> dict[str, Any]:
    attempt = found.attempts.filter(pk=found.attempt_id).first() if found.attempt_id else None
    try:
        return calls.answer_of(attempt) if attempt else {}
    except sealing.Tampered:
        return {"message": "The answer is not the one that was sealed."}
