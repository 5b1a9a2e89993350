"""What people settled: every approval that ended, by filters, in pages of a bounded size. The ledger's first page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from approvals import rows
from approvals.approvals import ENDED, Approval
from approvals.decisions import Decision
from approvals.pages import narrowing
from approvals.pages.door import Visit, member
from approvals.pages.entries import Entry, entries
from approvals.pages.ledger_head import head
from approvals.pages.narrowing import SIZES, Option
from approvals.people import Person, Workspace
from approvals.rows import bounded

ORDERS = {"newest": ("-decided_at", "-pk"), "oldest": ("decided_at", "pk")}
"""The orders that an address may ask for. No column is ever named by the reader."""

VERDICTS = {
    "approved": "Approved",
    "answered": "Answered",
    "rejected": "Rejected",
    "expired": "Expired",
    "cancelled": "Withdrawn",
    "edited": "Edited",
}
OUTCOMES = {"executed": "Ran", "failed": "Failed", "unknown": "Outcome unknown", "none": "Did not run"}
FIELDS = ("verdict", "outcome", "tool", "agent", "person", "from", "to", "order", "size", "after")


@require_safe
@member
def ledger(request: Visit) -> HttpResponse:
    """One page of what was settled."""
    with rows.within(request.workspace):
        return render(request, "history/page.html", _context(request))


@require_safe
@member
def moved(request: Visit) -> HttpResponse:
    """Where the history was before the ledger had it."""
    query = request.GET.urlencode()
    here = reverse("ledger", args=[request.workspace.slug])
    return redirect(f"{here}?{query}" if query else here)


def _context(request: Visit) -> dict[str, Any]:
    asked = narrowing.asked(request, FIELDS)
    size = narrowing.size(asked["size"])
    order = asked["order"] if asked["order"] in ORDERS else "newest"
    found, choices = _narrowed(request.workspace, asked), _choices(request.workspace, asked)
    listed = list(
        _after(found, asked["after"], order)
        .order_by(*ORDERS[order])
        .select_related("requester", "decided_by")[: size + 1]
    )
    shown = entries(request.workspace, listed[:size])
    return {
        "workspace": request.workspace,
        "here": "ledger",
        **head(request, "ledger", asked, choices),
        "asked": asked,
        "choices": choices,
        "entries": shown,
        "total": bounded.total(found),
        "order": order,
        "size": size,
        "sizes": SIZES,
        "next": _cursor(shown[-1]) if len(listed) > size else "",
    }


def _narrowed(workspace: Workspace, asked: Mapping[str, str]) -> QuerySet[Approval]:
    found = Approval.objects.filter(ENDED, workspace=workspace, decided_at__isnull=False)
    for name in ("tool", "agent"):
        found = found.filter(**{name: asked[name]}) if asked[name] else found
    if asked["verdict"] == "edited":
        found = found.filter(revision__gt=1)
    elif asked["verdict"] in VERDICTS:
        found = found.filter(status=asked["verdict"])
    if asked["outcome"] in OUTCOMES:
        found = found.filter(outcome=asked["outcome"])
    return found.filter(_of_person(asked["person"]), narrowing.between("decided_at", asked["from"], asked["to"]))


def _of_person(public_id: str) -> Q:
    key = rows.parse_id(Person.PREFIX, public_id)
    if key is None:
        return Q()
    decided = Decision.objects.filter(person_id=key).values("approval_id")
    return Q(pk__in=decided) | Q(requester_id=key) | Q(decided_by_id=key)


def _cursor(entry: Entry) -> str:
    assert entry.when is not None
    return narrowing.cursor(entry.when, entry.approval.pk.hex)


def _after(found: QuerySet[Approval], cursor: str, order: str) -> QuerySet[Approval]:
    read = narrowing.read_cursor(cursor)
    key = narrowing.key_of(read[1][0]) if read and len(read[1]) == 1 else None
    if read is None or key is None:
        return found
    moment, side = read[0], "lt" if order == "newest" else "gt"
    return found.filter(
        Q(**{f"decided_at__{side}": moment}) | Q(decided_at=moment, **{f"pk__{side}": key}),
        **{f"decided_at__{side}e": moment},
    )


def _choices(workspace: Workspace, asked: Mapping[str, str]) -> list[dict[str, Any]]:
    lists: list[tuple[str, str, list[Option]]] = [
        ("verdict", "Verdict", list(VERDICTS.items())),
        ("outcome", "Outcome", list(OUTCOMES.items())),
        ("tool", "Tool", [(one, one) for one in bounded.values(Approval, "tool", workspace.pk, most=100) if one]),
        ("agent", "Agent", [(one, one) for one in bounded.values(Approval, "agent", workspace.pk, most=100) if one]),
        ("person", "Person", members(workspace)),
    ]
    return [narrowing.choice(name, label, asked[name], options) for name, label, options in lists]


def members(workspace: Workspace) -> list[Option]:
    """Whom a filter may name."""
    found = Person.objects.filter(memberships__workspace=workspace).order_by("name")[:200]
    return [(one.public_id, one.name) for one in found]
