"""The policy as every member reads it: the rules in force as sentences, each version, and what two differ in."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from approvals import policies, policy_drafts, policy_source, policy_uses, policy_versions, rows, shadows
from approvals.pages.door import Visit, member
from approvals.pages.matter import address_of
from approvals.pages.policy import compared, seating, trial
from approvals.people import Team, Workspace
from approvals.policies import Policy
from approvals.policy_versions import Version
from approvals.rulings import UNPROVEN

VIEWS: Final = {"changes": "Changes", "rules": "Rules", "json": "JSON"}
LISTED: Final = 8
"""So many versions stand beside the rules before the reader asks for all."""
EMPTY: Final[dict[str, Any]] = {"rules": []}


@require_http_methods(["GET", "HEAD", "POST"])
@member
def page(request: Visit) -> HttpResponse:
    """One version of the policy: its rules, its document, or what it says otherwise than an earlier one. A POST tries
    a call on it and changes nothing."""
    with rows.within(request.workspace):
        current = policies.current(request.workspace.pk)
        if current is None:
            first = address_of("start", request.workspace.slug)
            return render(request, "policy/none.html", _around(request) | {"first_steps": first})
        shown = _numbered(request, "version") or current
        return render(request, "policy/page.html", _around(request) | _told(request, current, shown))


def _around(request: Visit) -> dict[str, Any]:
    """The drafts that the reader may see."""
    told: dict[str, Any] = {"here": "policy", "may_write": policy_drafts.may_write(request.user, request.workspace)}
    drafts = policy_drafts.open_ones(request.workspace) if told["may_write"] else []
    mine = next((one for one in drafts if one.author_id == request.user.pk), None)
    return told | {"drafts": drafts, "my_draft": mine}


def _numbered(request: Visit, name: str) -> Policy | None:
    """The version that the address names; None where it names none. Raises Http404 for one that there is not."""
    said = request.GET.get(name, "")
    if not said:
        return None
    found = policy_versions.numbered(request.workspace.pk, int(said)) if said.isdecimal() and len(said) < 10 else None
    if found is None:
        raise Http404
    return found


def _told(request: Visit, current: Policy, shown: Policy) -> dict[str, Any]:
    workspace = request.workspace
    earlier = _numbered(request, "from") or policy_versions.numbered(workspace.pk, shown.version - 1)
    view = request.GET.get("view", "rules")
    view = view if view in VIEWS else "rules"
    told: dict[str, Any] = {
        "shown": shown,
        "current": current,
        "earlier": earlier,
        "view": view,
        "views": _switch(view, shown, current, earlier),
        "versions": listed(workspace, most=None if "all" in request.GET else LISTED),
        "more_versions": "all" not in request.GET and current.version > LISTED,
    }
    told |= _shadow(workspace) if shown.pk == current.pk else {}
    told["version"] = next((each for each in told["versions"] if each.number == shown.version), None)
    try:
        document = shown.contents
        before = earlier.contents if earlier else EMPTY
    except UNPROVEN as fault:
        return told | {"problem": str(fault)}
    told |= _of_document(workspace, document, before, view) | trial.choices(workspace, document)
    if request.method == "POST":
        tried = trial.tried(workspace, trial.typed(request), document, document, names(workspace))
        told |= {"tried": tried, "matched": tried.matched}
    return told | (_used(workspace, told["lines"]) if shown.pk == current.pk and view == "rules" else {})


def _shadow(workspace: Workspace) -> dict[str, Any]:
    """Until when it asks nobody, and what people would have been asked about; nothing where it asks them."""
    until = shadows.stands_until(workspace.pk)
    if until is None:
        return {}
    return {"shadow_until": until, "held": shadows.would_have_held(workspace.pk, timedelta(days=policy_uses.DAYS))}


def _of_document(
    workspace: Workspace, document: Mapping[str, Any], before: Mapping[str, Any], view: str
) -> dict[str, Any]:
    teams = names(workspace)
    change = view == "changes"
    return {
        "lines": compared.lines(before, document, teams) if change else compared.plain(document, teams),
        "tops": compared.tops(before if change else document, document),
        "text": policy_source.written(document) if view == "json" else "",
        "seating": seating.seating(workspace, document["rules"]),
    }


def _used(workspace: Workspace, lines: list[compared.Line]) -> dict[str, Any]:
    uses = policy_uses.lately(workspace.pk)
    words = f"in {policy_uses.DAYS} days" if uses.whole else f"of the newest {policy_uses.MOST:,}"
    return {"lines": compared.counted(lines, uses.by_rule, words)}


def _switch(view: str, shown: Policy, current: Policy, earlier: Policy | None) -> list[tuple[str, str, bool]]:
    words = VIEWS | {"rules": "In force" if shown.pk == current.pk else f"Version {shown.version}"}
    return [(name, words[name], name == view) for name in VIEWS if name != "changes" or earlier]


def names(workspace: Workspace) -> dict[str, str]:
    """The names of the workspace's teams by their slugs."""
    return dict(Team.objects.filter(workspace=workspace).values_list("slug", "name"))


def listed(workspace: Workspace, *, most: int | None) -> list[Version]:
    """The versions, the newest first."""
    return policy_versions.versions(workspace.pk, most=most)
