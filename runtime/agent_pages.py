"""The pages of agents: the list, one agent with who operates it and its credentials, and what is done about both."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Final

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from approvals import gate, rows
from approvals.gate import Refused
from approvals.ledger import about
from approvals.rows import bounded
from runtime import halts, issuing
from runtime.credentials import AgentCredential
from runtime.definitions import Agent, AgentVersion, genuine
from runtime.pages import Visit, member

SIZE: Final = 50
KINDS: Final = {"graph": "Graph", "scripted": "Scripted"}
OVERLAPS: Final = ((0, "end at once"), (1, "for an hour"), (24, "for a day"), (168, "for a week"))
"""For how many hours an old secret may be good beside the new one."""
VERSIONS: Final = 20


@require_safe
@member
def agents(request: Visit) -> HttpResponse:
    """The agents of the workspace, by name, with what is stopped."""
    with rows.within(request.workspace):
        return render(request, "agents/list.html", _list(request))


def _list(request: Visit) -> dict[str, Any]:
    after = request.GET.get("after", "").replace("\x00", "")[:120]
    found = Agent.objects.filter(workspace=request.workspace).order_by("name")
    page = list((found.filter(name__gt=after) if after else found)[: SIZE + 1])
    held = gate.halts.on(request.workspace.pk)
    live = AgentCredential.objects.filter(agent__in=page, revoked_at=None).exclude(expires_at__lte=rows.now())
    counts = Counter(live.values_list("agent_id", flat=True)[:1000])
    return {
        "here": "tools",
        "tab": "agents",
        "after": after,
        "entries": [(one, gate.halts.over(held, one.name), counts[one.pk], KINDS[one.kind]) for one in page[:SIZE]],
        "total": bounded.total(found),
        "next": page[SIZE - 1].name if len(page) > SIZE else "",
        "may": gate.may(request.user, "administer", request.workspace),
    }


# One agent


@require_safe
@member
def agent(request: Visit, agent_id: str) -> HttpResponse:
    """One agent: what it is, who operates it, its credentials, and whether it is stopped."""
    found = _agent_of(request, agent_id)
    asked = {name: request.GET.get(name, "")[:254] for name in ("label", "email", "days", "per_minute")}
    return _shown(request, found, asked)


def _agent_of(request: Visit, agent_id: str) -> Agent:
    key = rows.parse_id(Agent.PREFIX, agent_id)
    found = Agent.objects.filter(workspace=request.workspace, pk=key).first() if key else None
    if found is None:
        raise Http404
    return found


def _shown(
    request: Visit, found: Agent, asked: dict[str, str] | None = None, fault: Refused | None = None, **more: Any
) -> HttpResponse:
    """The page, with what was typed and what is wrong with it."""
    workspace, person = request.workspace, request.user
    with rows.within(workspace):
        administers, operators = gate.may(person, "administer", workspace), gate.holders("operate", found)
        known = list(AgentVersion.objects.filter(agent=found).order_by("-number")[:VERSIONS])
        told: dict[str, Any] = {
            "here": "tools",
            "tab": "agents",
            "agent": found,
            "kind": KINDS[found.kind],
            "may": administers,
            "operators": operators,
            "members": [one for one in gate.rights.members(workspace) if one not in operators] if administers else [],
            "halts": [one for one in gate.halts.on(workspace.pk) if one.agent in {gate.halts.ALL, found.name}],
            "board": halts.board(workspace, person),
            "versions": [(one, _definition(one)) for one in known],
            "asked": {"days": str(issuing.YEAR)} | {name: text for name, text in (asked or {}).items() if text},
            "fault": fault,
            "overlaps": OVERLAPS,
        }
        told["limits"] = _limits(known)
        told |= _credentials(found) if administers or person in operators else {"kept": True}
    return render(request, "agents/page.html", told | more, status=422 if fault else 200)


def _definition(version: AgentVersion) -> str:
    """The definition as text; nothing where it is not as it was written."""
    return json.dumps(version.document, indent=2, ensure_ascii=False) if genuine(version) else ""


def _limits(known: list[AgentVersion]) -> dict[str, Any]:
    budget = known[0].document.get("budget", {}) if known and genuine(known[0]) else {}
    currency = budget.get("currency", "")
    return {"units": [(unit, cap) for unit, cap in budget.items() if unit != "currency"], "currency": currency}


def _credentials(found: Agent) -> dict[str, Any]:
    try:
        return {"credentials": issuing.listed(found)}
    except about.Broken as fault:
        return {"problem": str(fault)}


# Credentials


@require_POST
@member
def issue(request: Visit, agent_id: str) -> HttpResponse:
    """A new credential; its secret stands on the answer to this press, and nowhere else."""
    found = _agent_of(request, agent_id)
    asked = {
        name: request.POST.get(name, "").replace("\x00", "").strip()[:254]
        for name in ("label", "email", "days", "per_minute")
    }
    if way := gate.confirm_at(request, f"{_here(request, found)}?{urlencode(asked)}#issue"):
        return redirect(way)
    wish = _wish(asked)
    answer = wish if isinstance(wish, Refused) else issuing.issue(request.workspace, found, wish, by=request.user)
    return _made(request, found, answer, asked)


def _wish(asked: dict[str, str]) -> issuing.Wish | Refused:
    for name in ("days", "per_minute"):
        if (text := asked[name]) and not (text.isascii() and text.isdigit() and len(text) < 10):
            return Refused("invalid", "A whole number.", pointer=f"/{name}")
    days, per_minute = asked["days"] or issuing.YEAR, asked["per_minute"]
    return issuing.Wish(asked["label"], asked["email"], int(days), int(per_minute) if per_minute else None)


def _made(
    request: Visit, found: Agent, answer: issuing.Made | Refused, asked: dict[str, str] | None = None
) -> HttpResponse:
    if not isinstance(answer, Refused):
        credential, secret = answer
        return _shown(request, found, made=credential, secret=secret)
    if answer.code == "not_allowed":
        return render(request, "403.html", status=403)
    return _shown(request, found, asked, answer)


@require_POST
@member
def exchange(request: Visit, credential: str) -> HttpResponse:
    """A successor for a credential, beside which the old secret is good for a while."""
    held = _credential_of(request, credential)
    if way := gate.confirm_at(request, _here(request, held.agent)):
        return redirect(way)
    given = request.POST.get("overlap", "")
    hours = int(given) if given in {str(hours) for hours, _ in OVERLAPS} else -1
    return _made(request, held.agent, issuing.exchange(request.workspace, held, hours=hours, by=request.user))


@require_POST
@member
def revoke(request: Visit, credential: str) -> HttpResponse:
    """End a credential at once."""
    held = _credential_of(request, credential)
    refused = issuing.end(request.workspace, held, by=request.user)
    if refused and refused.code == "not_allowed":
        return render(request, "403.html", status=403)
    if refused:
        messages.error(request, refused.message)
    else:
        messages.success(request, f"The credential {held} is revoked. What its runs began goes on.")
    return redirect(_here(request, held.agent))


def _credential_of(request: Visit, credential: str) -> AgentCredential:
    key = rows.parse_id(AgentCredential.PREFIX, credential)
    known = AgentCredential.objects.select_related("agent")
    found = known.filter(workspace=request.workspace, pk=key).first() if key else None
    if found is None:
        raise Http404
    return found


def _here(request: Visit, found: Agent) -> str:
    return reverse("agent", args=[request.workspace.slug, found.public_id])


# Who operates it


@require_POST
@member
def operators(request: Visit, agent_id: str) -> HttpResponse:
    """Let a member operate the agent, or no more."""
    found, here = _agent_of(request, agent_id), redirect("agent", request.workspace.slug, agent_id)
    gives = request.POST.get("do") == "give"
    if gives and (way := gate.confirm_at(request, here.url)):
        return redirect(way)
    known = gate.rights.members(request.workspace)
    person = next((one for one in known if one.public_id == request.POST.get("person")), None)
    if person is None:
        messages.error(request, "Choose somebody who belongs to the workspace.")
        return here
    does = gate.rights.give if gives else gate.rights.take
    answer = does(person, "operate", found, by=request.user)
    if isinstance(answer, Refused) and answer.code == "not_allowed":
        return render(request, "403.html", status=403)
    if isinstance(answer, Refused):
        messages.error(request, answer.message)
    else:
        messages.success(request, f"{person.name} operates {found.name}{'' if gives else ' no more'}.")
    return here
