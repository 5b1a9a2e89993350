"""Erasing a person: who it may be, what goes and what stays, and the deed itself."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from approvals import forgetting, fresh
from approvals.ledger_places import administers, tabs
from approvals.pages.door import Visit, member
from approvals.people import Person
from approvals.votes import Refused


@require_http_methods(["GET", "HEAD", "POST"])
@member
def page(request: Visit) -> HttpResponse:
    """Choose somebody, see what would go; POST erases them, by a fresh sign-in and with their address typed."""
    if not administers(request.workspace, request.user):
        return render(request, "ledger/erasing.html", _told(request, refused=True), status=403)
    named = request.POST.get("person", "") if request.method == "POST" else request.GET.get("person", "")
    people = forgetting.known(request.workspace)
    chosen = next((one for one in people if one.public_id == named), None)
    if named and chosen is None:
        raise Http404
    if request.method != "POST" or chosen is None:
        return render(request, "ledger/erasing.html", _told(request, people=people, chosen=chosen))
    return _erased(request, people, chosen)


def _erased(request: Visit, people: list[Person], chosen: Person) -> HttpResponse:
    if confirm := fresh.confirm_at(request, f"{_here(request)}?{urlencode({'person': chosen.public_id})}"):
        return redirect(confirm)
    typed, told = request.POST.get("typed", "").strip()[:254], f"{chosen.name}’s words here are erased."
    if typed.lower() != chosen.email:
        fault = Refused(
            "not_typed", f"Type {chosen.email}, so that nobody else is erased by mistake.", pointer="/typed"
        )
    else:
        answer = forgetting.forget(request.workspace, chosen, by=request.user)
        if not isinstance(answer, Refused):
            messages.success(request, told + (" Nothing here names them any more." if answer.account else ""))
            return redirect(_here(request))
        fault = answer
    told_again = _told(request, people=people, chosen=chosen, fault=fault, typed=typed)
    return render(request, "ledger/erasing.html", told_again, status=422)


def _told(request: Visit, *, chosen: Person | None = None, **more: Any) -> dict[str, Any]:
    told: dict[str, Any] = {
        "here": "ledger",
        "tabs": tabs(request.workspace, request.user, "retention"),
        "chosen": chosen,
    }
    if chosen is not None:
        told["traces"] = forgetting.traces(request.workspace, chosen)
    return told | more


def _here(request: Visit) -> str:
    return reverse("erasing", args=[request.workspace.slug])
