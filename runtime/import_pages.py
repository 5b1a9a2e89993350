"""The page on which a list of tools is taken in: pasted or uploaded, looked at first, then taken."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from approvals import gate
from runtime import outgoing, tools
from runtime.definitions import intake
from runtime.pages import Visit, member
from runtime.tool_pages import EFFECTS

LONGEST = {"document": 2 * 1024 * 1024, "url": 2000, "reason": 500}


@require_http_methods(["GET", "HEAD", "POST"])
@member
def page(request: Visit) -> HttpResponse:
    """Ask for a list, show what taking it in would change, and take it in, for those who administer the workspace."""
    if not gate.may(request.user, "administer", request.workspace):
        return render(request, "403.html", status=403)
    if request.method != "POST":
        return _shown(request, {"effect": "unsafe"})
    asked = _asked(request)
    if asked["effect"] not in tools.EFFECTS:
        return _shown(request, asked, fault=("effect", "Choose what they promise."))
    try:
        if asked["url"]:
            outgoing.check_url(asked["url"])
    except ValueError as error:
        return _shown(request, asked, fault=("url", str(error)))
    try:
        listed = intake.read(asked["document"].encode(), url=asked["url"], effect=asked["effect"])
    except intake.Unreadable as error:
        return _shown(request, asked, fault=("document", str(error)))
    return _take(request, asked, listed) if request.POST.get("do") == "take" else _shown(request, asked, listed)


def _asked(request: Visit) -> dict[str, str]:
    asked = {name: request.POST.get(name, "").replace("\x00", "")[:most] for name, most in LONGEST.items()}
    asked["effect"] = request.POST.get("effect", "")
    if (file := request.FILES.get("file")) and file.size and file.size <= LONGEST["document"]:
        asked["document"] = file.read().decode("utf-8", "replace")
    return asked | {"url": asked["url"].strip(), "reason": asked["reason"].strip()}


def _take(request: Visit, asked: dict[str, str], listed: intake.Listed) -> HttpResponse:
    here = reverse("import_tools", args=[request.workspace.slug])
    if way := gate.confirm_at(request, here):
        return _shown(request, asked, listed, confirm=way)  # what was pasted is too long to travel along
    if not gate.vouched_may(request.user, "administer", request.workspace):
        return render(request, "403.html", status=403)
    try:
        taken, waiting = intake.take(request.workspace, listed, by=request.user, reason=asked["reason"])
    except ValueError as error:
        return _shown(request, asked, listed, fault=("document", str(error)))
    if taken:
        messages.success(request, f"{taken} tool{' was' if taken == 1 else 's were'} taken in.")
    for one in waiting:
        told = "waits until people approved it." if one.approval else f"is not taken in: nobody is asked. {one.reason}"
        messages.add_message(request, messages.INFO if one.approval else messages.ERROR, f"{one.change} {told}")
    return redirect("tools", request.workspace.slug)


def _shown(
    request: Visit,
    asked: dict[str, str],
    listed: intake.Listed | None = None,
    *,
    fault: tuple[str, str] = ("", ""),
    confirm: str = "",
) -> HttpResponse:
    coming = intake.compare(request.workspace.pk, listed) if listed else None
    told: dict[str, Any] = {
        "here": "tools",
        "asked": asked,
        "effects": [(word, *EFFECTS[word]) for word in tools.EFFECTS],
        "coming": coming,
        "changes": sum(one.what != "same" for one in coming or ()),
        "asks": any(one.asks for one in coming or ()),
        "where": fault[0],
        "fault": fault[1],
        "confirm": confirm,
    }
    return render(request, "tools/import.html", told, status=422 if fault[1] else 200)
