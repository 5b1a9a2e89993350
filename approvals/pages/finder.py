"""The finder: what of a list the address asks for, and the words and lists by which a reader says so."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from django.db.models import Q
from django.http import HttpRequest

from approvals import people, rows, sought
from approvals.approvals import Approval
from approvals.pages.entries import RISKS
from approvals.people import Person, Workspace
from approvals.rows import bounded

FIELDS: Final = ("q", "risk", "agent", "tool", "asker")
WORDS_MOST: Final = 8
"""So many words of a search are looked for."""
NAMED: Final = ("tool", "tool_title", "agent", "requester__name")
OPTIONS_MOST: Final = 100


def filters_of(request: HttpRequest) -> dict[str, str]:
    """What the address asks for; NUL, which no text column can hold, is left out."""
    return {name: request.GET.get(name, "").replace("\x00", "")[:200].strip() for name in FIELDS}


def wanted(workspace: Workspace, filters: Mapping[str, str]) -> Q:
    """What makes an approval one of those that the filters of the address leave."""
    condition = Q(**{name: filters[name] for name in ("risk", "agent", "tool") if filters[name]})
    if filters["asker"]:
        key = rows.parse_id(Person.PREFIX, filters["asker"])
        condition &= Q(requester=key) if key else Q(pk__in=[])
    numbers = sought.numbers() if filters["q"] else set[int]()
    for said in filters["q"].split()[:WORDS_MOST]:
        condition &= _has(workspace, said, numbers)
    return condition


def _has(workspace: Workspace, said: str, numbers: Collection[int]) -> Q:
    """That it stands in what an approval is called, or that its words are among those of the arguments."""
    condition = sought.having(workspace.pk, said, numbers) or Q()
    for name in NAMED:
        condition |= Q(**{f"{name}__icontains": said})
    return condition


def choices(workspace: Workspace, filters: Mapping[str, str]) -> list[dict[str, Any]]:
    """The lists beside the search."""
    lists = (
        ("risk", "Risk", list(RISKS.items())),
        ("agent", "Agent", [(name, name) for name in _said(workspace, "agent") if name]),
        ("tool", "Tool", [(name, name) for name in _said(workspace, "tool") if name]),
        ("asker", "Asked by", _askers(workspace)),
    )
    return [
        {"name": name, "label": label, "value": filters[name], "options": options} for name, label, options in lists
    ]


def _said(workspace: Workspace, field: str) -> list[Any]:
    return bounded.values(Approval, field, workspace.pk, most=OPTIONS_MOST)


def _askers(workspace: Workspace) -> list[tuple[str, str]]:
    """Those on whose behalf agents ever asked here."""
    known = people.names(_said(workspace, "requester"))
    named = sorted((name, key) for key, name in known.items())
    return [(rows.public_id(Person.PREFIX, key), name) for name, key in named]
