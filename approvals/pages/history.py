"""The history: every approval that ended, by filters, in pages of a bounded size."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from django.views.decorators.http import require_safe

from approvals import rows
from approvals.approvals import ENDED, Approval
from approvals.decisions import Decision
from approvals.pages.door import Visit, member
from approvals.pages.entries import Entry, entries
from approvals.people import Person, Workspace
from approvals.rows import bounded

SIZES = (25, 50, 100)
"""How many rows a page may have; anything else in the address gives the first of them."""

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
def history(request: Visit) -> HttpResponse:
    """One page of the history."""
    with rows.within(request.workspace):
        return render(request, "history/page.html", _context(request))


def _context(request: Visit) -> dict[str, Any]:
    asked = _asked(request)
    size = int(asked["size"]) if asked["size"] in map(str, SIZES) else SIZES[0]
    order = asked["order"] if asked["order"] in ORDERS else "newest"
    found = _narrowed(request.workspace, asked)
    listed = list(
        _after(found, asked["after"], order)
        .order_by(*ORDERS[order])
        .select_related("requester", "decided_by")[: size + 1]
    )
    shown = entries(request.workspace, listed[:size])
    return {
        "workspace": request.workspace,
        "here": "history",
        "asked": asked,
        "choices": _choices(request.workspace, asked),
        "entries": shown,
        "total": bounded.total(found),
        "order": order,
        "size": size,
        "sizes": SIZES,
        "next": _cursor(shown[-1]) if len(listed) > size else "",
    }


def _asked(request: HttpRequest) -> dict[str, str]:
    return {name: request.GET.get(name, "").replace("\x00", "")[:200].strip() for name in FIELDS}


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
    return found.filter(_of_person(asked["person"]), _between(asked["from"], asked["to"]))


def _of_person(public_id: str) -> Q:
    key = rows.parse_id(Person.PREFIX, public_id)
    if key is None:
        return Q()
    decided = Decision.objects.filter(person_id=key).values("approval_id")
    return Q(pk__in=decided) | Q(requester_id=key) | Q(decided_by_id=key)


def _between(first: str, last: str) -> Q:
    condition = Q()
    if start := _day(first):
        condition &= Q(decided_at__gte=_midnight(start))
    if end := _day(last):
        condition &= Q(decided_at__lt=_midnight(end) + timedelta(days=1))
    return condition


def _day(text: str) -> date | None:
    try:
        day = parse_date(text)
    except ValueError:
        return None
    return day if day and 1970 <= day.year <= 9000 else None


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


# Where the next page begins: behind a moment and a key, so that rows which arrive meanwhile move nothing.


def _cursor(entry: Entry) -> str:
    assert entry.when is not None
    return f"{entry.when.isoformat()}~{entry.approval.pk.hex}"


def _after(found: QuerySet[Approval], cursor: str, order: str) -> QuerySet[Approval]:
    read = _read(cursor)
    if read is None:
        return found
    moment, key = read
    side = "lt" if order == "newest" else "gt"
    return found.filter(Q(**{f"decided_at__{side}": moment}) | Q(decided_at=moment, **{f"pk__{side}": key}))


def _read(cursor: str) -> tuple[datetime, UUID] | None:
    moment, _, key = cursor.partition("~")
    try:
        when = parse_datetime(moment.replace(" ", "+"))
        return (when, UUID(hex=key)) if when and when.tzinfo else None
    except ValueError:
        return None


def _choices(workspace: Workspace, asked: Mapping[str, str]) -> list[dict[str, Any]]:
    people = Person.objects.filter(memberships__workspace=workspace).order_by("name")[:200]
    lists: list[tuple[str, str, list[tuple[str, str]]]] = [
        ("verdict", "Verdict", list(VERDICTS.items())),
        ("outcome", "Outcome", list(OUTCOMES.items())),
        ("tool", "Tool", [(one, one) for one in bounded.values(Approval, "tool", workspace.pk, most=100) if one]),
        ("agent", "Agent", [(one, one) for one in bounded.values(Approval, "agent", workspace.pk, most=100) if one]),
        ("person", "Person", [(one.public_id, one.name) for one in people]),
    ]
    return [{"name": name, "label": label, "value": asked[name], "options": options} for name, label, options in lists]
