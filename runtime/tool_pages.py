"""The pages of tools: the list, one tool with its arguments and versions, and the switch."""

from __future__ import annotations

import json
from typing import Any, Final
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from approvals import gate, rows
from approvals.ledger import about, keys
from approvals.rows import bounded
from runtime import definitions, schema_lines, tool_story
from runtime.definitions import Tool
from runtime.pages import Visit, member

SIZE: Final = 50
EFFECTS: Final = {
    "pure": ("Only reads", "It changes nothing, so it may be used as often as needed."),
    "keyed": ("Once per call", "It honours the key of a call: sent twice, it acts once."),
    "natural": ("Twice is as once", "Doing it a second time changes nothing more."),
    "lookup": ("Can be looked up", "If no answer comes, it can be asked whether it happened."),
    "unsafe": ("No promise", "If no answer comes, nobody knows whether it happened, and people are asked."),
}
"""What a tool promises about being used twice: in short, and as a sentence."""


@require_safe
@member
def tools(request: Visit) -> HttpResponse:
    """The tools of the workspace, by name."""
    with rows.within(request.workspace):
        return render(request, "tools/list.html", _list(request))


def _list(request: Visit) -> dict[str, Any]:
    q, after = (request.GET.get(name, "").replace("\x00", "")[:200] for name in ("q", "after"))
    found = Tool.objects.filter(workspace=request.workspace, is_active=True).order_by("name").defer("secret")
    found = found.filter(name__icontains=q) if q else found
    page = list((found.filter(name__gt=after) if after else found)[: SIZE + 1])
    off, problem = _off(request)
    return {
        "here": "tools",
        "tab": "tools",
        "q": q,
        "after": after,
        "entries": [_line(tool, off) for tool in page[:SIZE]],
        "total": bounded.total(found),
        "next": page[SIZE - 1].name if len(page) > SIZE else "",
        "problem": problem,
        "may": gate.may(request.user, "administer", request.workspace),
    }


def _off(request: Visit) -> tuple[Any, str]:
    """The tools that are off; else why nobody can tell."""
    try:
        return definitions.off(request.workspace.pk), ""
    except (about.Broken, keys.UnknownKey) as fault:
        return {}, str(fault)


def _line(tool: Tool, off: Any) -> dict[str, Any]:
    ours = tool.document.get("placet", {})
    return {
        "tool": tool,
        "genuine": definitions.genuine(tool),
        "promise": EFFECTS.get(tool.effect, (tool.effect, ""))[0],
        "risk": ours.get("risk", ""),
        "off": tool.name in off,
        "behind": tool.kind == Tool.Kind.FUNCTION or "url" in tool.config,
    }


# One tool


@require_safe
@member
def tool(request: Visit, tool_id: str) -> HttpResponse:
    """One tool as it is in force, by the id of any version of it."""
    with rows.within(request.workspace):
        return render(request, "tools/page.html", _told(request, _tool_of(request, tool_id)))


def _tool_of(request: Visit, tool_id: str) -> Tool:
    """The version in force of the tool of which this is a version."""
    key = rows.parse_id(Tool.PREFIX, tool_id)
    named = Tool.objects.filter(workspace=request.workspace, pk=key).values("name") if key else None
    found = Tool.objects.filter(workspace=request.workspace, name__in=named, is_active=True) if named else None
    tool = found.first() if found else None
    if tool is None:
        raise Http404
    return tool


def _told(request: Visit, tool: Tool) -> dict[str, Any]:
    off, problem = _off(request)
    switched = off.get(tool.name)
    document, masked = tool.document, gate.masked_now(request.workspace.pk, tool.name)
    given = gate.ordered(document.get("inputSchema", {}), tool.order)
    administers = gate.may(request.user, "administer", request.workspace)
    return _line(tool, off) | {
        "here": "tools",
        "tab": "tools",
        "about": str(document.get("description", "")),
        "effect": EFFECTS.get(tool.effect, (tool.effect, "")),
        "where": urlsplit(tool.config["url"]).netloc if "url" in tool.config else "",
        "lines": schema_lines.lines(given, masked),
        "open": schema_lines.is_open(given),
        "answers": schema_lines.lines(document.get("outputSchema") or {}),
        "masked": [place or "everything" for place in masked],
        "raw": json.dumps(document, indent=2, ensure_ascii=False),
        "versions": tool_story.versions(request.workspace.pk, tool.name),
        "lately": tool_story.lately(request.workspace.pk, tool.name),
        "days": tool_story.LATELY.days,
        "switched": switched,
        "by": tool_story.who([switched.by]).get(switched.by, "somebody") if switched else "",
        "problem": problem,
        "may": administers,
        "administrators": [] if administers else gate.holders("administer", request.workspace),
    }


@require_POST
@member
def switch(request: Visit, tool_id: str) -> HttpResponse:
    """Switch a tool off, or on again; to let it be used again takes a fresh sign-in."""
    tool = _tool_of(request, tool_id)
    here = redirect("tool", request.workspace.slug, tool.public_id)
    to = request.POST.get("to")
    if to == "on" and (way := gate.confirm_at(request, here.url)):
        return redirect(way)
    does = {"off": definitions.switch_off, "on": definitions.switch_on}.get(to or "")
    if does is None:
        return here
    if refused := does(request.workspace, tool.name, by=request.user):
        if refused.code == "not_allowed":
            return render(request, "403.html", status=403)
        messages.error(request, refused.message)
    else:
        messages.success(request, f"{tool.name} is switched off." if to == "off" else f"{tool.name} is used again.")
    return here
