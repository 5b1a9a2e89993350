"""What stands above the ledger's lists: where the last verification stands, saved filters, and the head of what is
printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.utils import timezone

from approvals import saved_filters, verifications
from approvals.ledger import anchors, followed
from approvals.ledger.entries import Chain
from approvals.ledger_places import sees_all, tabs
from approvals.pages import verification
from approvals.pages.door import Visit

PASSING: Final = {"after", "size", "order"}
"""What an address has beside its filter."""


def head(request: Visit, page: str, asked: Mapping[str, str], choices: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """For the template of a list, in a number of queries that is always the same."""
    last = verifications.last(request.workspace.pk)
    told: dict[str, Any] = {
        "tabs": tabs(request.workspace, request.user, page),
        "verified": last,
        "state": verification.state(last),
    }
    told |= {"sheet": _sheet(request, asked, choices), "may_export": sees_all(request.workspace, request.user)}
    return told | {"saved": _saved(request, page, asked)}


def _saved(request: Visit, page: str, asked: Mapping[str, str]) -> dict[str, Any]:
    """The reader's own filters, and what saving the present one would keep."""
    now = {name: value for name, value in asked.items() if value and name not in PASSING}
    mine = saved_filters.of(request.workspace, request.user, page)
    current = next((one for one in mine if one.asked == now), None)
    return {"page": page, "mine": mine, "now": now, "current": current, "name_most": saved_filters.NAME_MOST}


def _sheet(request: Visit, asked: Mapping[str, str], choices: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What is printed above the list: of which workspace, by which filter, when, and at which head of the ledger."""
    known, now = anchors.readable(), timezone.now()
    chain = Chain.objects.filter(workspace=request.workspace, name=followed.CHAIN).first()
    return {
        "filter": list(_worded(asked, choices)),
        "at": now,
        "seq": chain.seq if chain else 0,
        "hash": bytes(chain.hash).hex() if chain else "",
        "anchor": {"number": known.number, "at": known.at, "root": known.root} if known and known.number else None,
        "site": f"{request.scheme}://{request.get_host()}",
    }


def _worded(asked: Mapping[str, str], choices: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, str]]:
    for one in choices:
        if one["value"]:
            yield one["label"], dict(one["options"]).get(one["value"], one["value"])
    for name in ("from", "to"):
        if asked[name]:
            yield name.capitalize(), asked[name]
