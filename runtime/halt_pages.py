"""The two addresses that stop an agent or a workspace, and let it go on: one press each, from the page of runs."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from approvals import gate, rows
from runtime import attention, halts
from runtime.definitions import Agent
from runtime.pages import Visit, back_to, member


@require_POST
@member
def begin(request: Visit) -> HttpResponse:
    """Stop what the form names, or everything where it names nothing. Pressing twice is pressing once."""
    return _answered(request, gate.halts.begin(request.workspace, _agent(request), by=request.user))


@require_POST
@member
def end(request: Visit) -> HttpResponse:
    """Let it go on."""
    return _answered(request, halts.resume(request.workspace, _agent(request), by=request.user))


def _agent(request: Visit) -> Agent | None:
    name = request.POST.get("agent", "").replace("\x00", "")[:200]
    found = Agent.objects.filter(workspace=request.workspace, name=name).first() if name else None
    if name and found is None:
        raise Http404
    return found


def _answered(request: Visit, answer: gate.halts.Halt | gate.halts.Refused) -> HttpResponse:
    if isinstance(answer, gate.halts.Refused) and answer.code == "not_allowed":
        return render(request, "403.html", status=403)
    attention.forget(request.workspace, request.user)
    back = rows.parse_id(Agent.PREFIX, request.POST.get("back", ""))
    if back and Agent.objects.filter(workspace=request.workspace, pk=back).exists():
        return redirect("agent", request.workspace.slug, rows.public_id(Agent.PREFIX, back))
    return redirect(back_to(request, "runs"), request.workspace.slug)
