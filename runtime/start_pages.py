"""The first steps of a workspace: an agent, a tool, who may say yes, and a first call. Each is done once what it makes
is there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from approvals import gate, rows
from approvals.gate import Refused
from approvals.ledger import canonical
from runtime import issuing, one_call
from runtime.credentials import AgentCredential
from runtime.definitions import Agent, Tool
from runtime.pages import Visit, member
from runtime.runs import Run

NAME_MOST: Final = 120
ARGS_MOST: Final = 100_000
OFFERED: Final = 200


@dataclass(frozen=True)
class Step:
    """One of the four: ``state`` is done, now (the first that is not) or later."""

    key: str
    words: str
    state: str


@dataclass(frozen=True)
class Facts:
    """What a workspace has of what the steps need."""

    agent: bool
    tools: list[Tool]
    come: Any

    @property
    def steps(self) -> list[Step]:
        """The steps in their order."""
        done = {
            "agent": ("Connect an agent", self.agent),
            "tool": ("Take in a tool", bool(self.tools)),
            "yes": ("Say who may say yes", bool(self.come.version)),
            "call": ("Approve a first call", self.come.approved),
        }
        first = next((key for key, (_, is_done) in done.items() if not is_done), "")
        return [
            Step(key, words, "done" if is_done else "now" if key == first else "later")
            for key, (words, is_done) in done.items()
        ]


def _facts(workspace: Any) -> Facts:
    usable = AgentCredential.objects.filter(workspace=workspace, revoked_at=None, agent__is_active=True)
    usable = usable.filter(Q(expires_at=None) | Q(expires_at__gt=rows.Now()))
    known = usable.exists() or Run.objects.filter(workspace=workspace).exists()
    tools = Tool.objects.filter(workspace=workspace, is_active=True).order_by("name")[:OFFERED]
    return Facts(known, list(tools), gate.starting.come(workspace))


@require_safe
@member
def page(request: Visit) -> HttpResponse:
    """The four steps; with ``part`` only how far they are, for an open page."""
    if "part" in request.GET:
        with rows.within(request.workspace):
            return render(request, "start/progress.html", {"steps": _facts(request.workspace).steps})
    return _shown(request)


def _shown(request: Visit, *, status: int = 200, **more: Any) -> HttpResponse:
    with rows.within(request.workspace):
        facts = _facts(request.workspace)
        told: dict[str, Any] = {
            "here": "inbox",
            "facts": facts,
            "steps": facts.steps,
            "may": gate.may(request.user, "administer", request.workspace),
            "ways": [(each.key, each.sentence.format("the team")) for each in gate.starting.WAYS],
            "people": gate.starting.members(request.workspace),
            "examples": {tool.name: _example(tool) for tool in facts.tools},
            "typed": {},
            "chosen": [request.user.public_id],
            "site": settings.PLACET_URL.rstrip("/"),
        }
        told |= _first_tool(facts, more.get("typed", {}))
        return render(request, "start/page.html", told | more, status=status)


def _first_tool(facts: Facts, typed: Mapping[str, str]) -> dict[str, Any]:
    """The tool that the first call is of, and its arguments."""
    tool = next((each for each in facts.tools if each.name == typed.get("tool")), None) or next(iter(facts.tools), None)
    return {"tool": tool, "args": typed.get("args") or (_example(tool) if tool else "{}")}


def _example(tool: Tool) -> str:
    """The least that a tool takes, as JSON to be filled in."""
    schema = tool.document.get("inputSchema", {})
    inner = schema.get("properties", {})
    least = {name: _least(inner.get(name)) for name in schema.get("required", []) if isinstance(name, str)}
    return json.dumps(least, indent=2, ensure_ascii=False)


def _least(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return ""
    for word in ("const", "default"):
        if word in schema:
            return schema[word]
    for word in ("enum", "examples"):
        if schema.get(word):
            return schema[word][0]
    kind = schema.get("type")
    plain: dict[str, Any] = {"integer": schema.get("minimum", 1), "number": schema.get("minimum", 1), "boolean": False}
    plain |= {"array": [], "object": {}, "null": None}
    return plain.get(kind, "") if isinstance(kind, str) else ""


# What it does


def _administers(request: Visit) -> bool:
    return bool(gate.vouched_may(request.user, "administer", request.workspace))


def _here(request: Visit, step: str) -> str:
    return f"{reverse('start', args=[request.workspace.slug])}#{step}"


@require_POST
@member
def connect(request: Visit) -> HttpResponse:
    """A scripted agent with a credential; its secret stands on the answer to this press, and nowhere else."""
    if not _administers(request):
        return render(request, "403.html", status=403)
    if way := gate.confirm_at(request, _here(request, "agent")):
        return redirect(way)
    name = request.POST.get("agent", "").replace("\x00", "").strip()
    if not name or len(name) > NAME_MOST or not name.isprintable():
        told = f"Give the agent a name of at most {NAME_MOST} characters."
        return _wrong(request, Refused("invalid", told, pointer="/agent"), agent=name[:NAME_MOST])
    try:
        agent = one_call.scripted(request.workspace.pk, name, by=request.user.public_id)
    except one_call.PlaysNoScripts as fault:
        return _wrong(request, Refused("invalid", str(fault), pointer="/agent"), agent=name)
    answer = issuing.issue(request.workspace, agent, issuing.Wish(label="First steps"), by=request.user)
    if isinstance(answer, Refused):
        return _wrong(request, answer, agent=name)
    return _shown(request, made=answer[0], secret=answer[1])


@require_POST
@member
def decide(request: Visit) -> HttpResponse:
    """The first policy and the people whom it asks."""
    if not _administers(request):
        return render(request, "403.html", status=403)
    if way := gate.confirm_at(request, _here(request, "yes")):
        return redirect(way)
    team, chosen = request.POST.get("team", "").replace("\x00", "").strip(), request.POST.getlist("person")
    with rows.within(request.workspace):
        reads = [tool.name for tool in _facts(request.workspace).tools if tool.effect == "pure"]
    answer = gate.starting.begin(
        request.workspace, by=request.user, team=team, chosen=chosen, way=request.POST.get("way", ""), reads=reads
    )
    if isinstance(answer, Refused):
        return _wrong(request, answer, chosen=chosen, team=team[:200], way=request.POST.get("way", ""))
    messages.success(request, f"Version {answer.version} of the policy is in force.")
    return redirect(_here(request, "call"))


@require_POST
@member
def call(request: Visit) -> HttpResponse:
    """A first call, proposed in the reader's name; a rehearsal is nobody's, since nothing of it is ever sent."""
    if not _administers(request):
        return render(request, "403.html", status=403)
    typed = {name: request.POST.get(name, "").replace("\x00", "")[:ARGS_MOST] for name in ("tool", "args")}
    rehearsal = request.POST.get("how") != "real"
    with rows.within(request.workspace):
        known = Tool.objects.filter(workspace=request.workspace, name=typed["tool"], is_active=True).exists()
        agent = Agent.objects.filter(workspace=request.workspace, kind="scripted", is_active=True).order_by("name")
        name = next(iter(agent.values_list("name", flat=True)), "first-steps")
    if not known:
        raise Http404
    try:
        args = canonical.parse(typed["args"])
    except canonical.Unrepresentable as fault:
        line = f"Line {fault.line}: " if fault.line else ""
        told = f"The arguments are no JSON object. {line}{fault.message}"
        return _wrong(request, Refused("invalid", told, pointer="/args"), typed=typed)
    if not isinstance(args, dict):
        return _wrong(request, Refused("invalid", "The arguments are a JSON object.", pointer="/args"), typed=typed)
    run = one_call.start(
        request.workspace.pk,
        name,
        {"tool": typed["tool"], "args": args, "reason": "A first call, to see how approving goes."},
        title="A first call",
        by=request.user.public_id,
        requester_id=None if rehearsal else request.user.pk,
        rehearsal=rehearsal,
    )
    messages.success(
        request, "The call is proposed. It waits here in a moment, unless policy lets it go or refuses it."
    )
    return redirect(f"{_here(request, 'call').replace('#', f'?run={run.public_id}#')}")


def _wrong(request: Visit, refused: Refused, **typed: Any) -> HttpResponse:
    return _shown(request, status=422, fault=refused, **typed)
