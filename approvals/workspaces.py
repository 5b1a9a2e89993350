"""Workspaces: which there are, and into which a person may come. Asked before anybody stands in one, so through the
entrances of the database, which give keys alone."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from approvals import rows
from approvals.people import Workspace


def entered(person: Any, slug: str) -> Workspace | None:
    """The workspace of this slug if the person is an active member of it; None alike for a foreign and an unknown
    one."""
    if not getattr(person, "is_active", False):
        return None
    return next((keyed(key) for key in _ENTERED(person.pk, slug)), None)


def of_person(person: Any) -> list[Workspace]:
    """The workspaces an active person belongs to, by name."""
    return sorted(filter(None, map(keyed, keys_of(person))), key=lambda one: one.name)


def keys_of(person: Any) -> list[UUID]:
    """The keys of the workspaces an active person belongs to."""
    return list(_OF_PERSON(person.pk)) if getattr(person, "is_active", False) else []


def all_keys_of(person: Any) -> list[UUID]:
    """The same of a person who may be switched off; inside a transaction too."""
    return list(_OF_PERSON(person.pk))


def keyed(key: UUID) -> Workspace | None:
    """The workspace of this key. Outside a transaction of another one."""
    with rows.reading(key):
        return _BY_KEY.first(key=key)


def named(slug: str) -> Workspace | None:
    """The workspace of this slug, for commands that an operator runs."""
    return next((keyed(key) for key in _NAMED(slug)), None)


def only() -> Workspace | None:
    """The workspace, where there is only one: what a command means that names none."""
    found = rows.every_workspace()
    return keyed(found[0]) if len(found) == 1 else None


_BY_KEY = rows.Ready(lambda: Workspace.objects.filter(pk=rows.Slot("key")))
_ENTERED = rows.entrance(
    "placet_workspace_entered",
    "uuid",
    "text",
    query="""SELECT w.id FROM public.approvals_workspace w WHERE w.slug = $2 AND EXISTS
        (SELECT FROM public.approvals_membership m WHERE m.workspace_id = w.id AND m.person_id = $1)""",
)
_OF_PERSON = rows.entrance(
    "placet_workspaces_of",
    "uuid",
    query="SELECT m.workspace_id FROM public.approvals_membership m WHERE m.person_id = $1",
)
_NAMED = rows.entrance(
    "placet_workspace_named", "text", query="SELECT w.id FROM public.approvals_workspace w WHERE w.slug = $1"
)
