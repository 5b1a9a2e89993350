"""Saved filters: what somebody looks for in the ledger again and again, under a name of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.db import IntegrityError, models, transaction
from django.utils.http import urlencode

from approvals import people, rows
from approvals.people import Person, Workspace
from approvals.votes import Refused

NAME_MOST: Final = 60
MOST: Final = 30
"""So many may one person save in a workspace."""


class SavedFilter(rows.Row):
    """A filter of one list (``page``, the name of its address), as pairs of a name and a value; seen by its person
    alone."""

    PREFIX = "flt"

    person = models.ForeignKey(Person, models.PROTECT, related_name="+")
    page = models.CharField(max_length=20)
    name = models.CharField(max_length=NAME_MOST)
    asked = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "person", "page", "name"], name="one_saved_filter_of_a_name")
        ]

    @property
    def query(self) -> str:
        """It as the query of an address."""
        return urlencode(self.asked)


def of(workspace: Workspace, person: Person, page: str) -> list[SavedFilter]:
    """The reader's own for one list, by name."""
    found = SavedFilter.objects.filter(workspace=workspace, person=person, page=page)
    return list(found.order_by("name")[:MOST])


def save(workspace: Workspace, person: Person, page: str, name: str, asked: Mapping[str, str]) -> SavedFilter | Refused:
    """Keep a filter under a name."""
    name, wanted = " ".join(name.split())[:NAME_MOST], {key: value for key, value in asked.items() if value}
    if not name:
        return Refused("needs_name", "A saved filter needs a name.", pointer="/name")
    if not wanted:
        return Refused("nothing", "No filter is set: choose one first, then save it.", pointer="/name")
    with rows.within(workspace):
        mine = SavedFilter.objects.filter(workspace=workspace, person=person)
        if mine.count() >= MOST:
            return Refused("too_many", f"You have saved {MOST} filters. Remove one first.", pointer="/name")
        made = SavedFilter(workspace=workspace, person=person, page=page, name=name, asked=wanted)
        try:
            with transaction.atomic():
                made.save(force_insert=True)
        except IntegrityError:
            return Refused("taken", f"You have a filter called {name} already.", pointer="/name")
    return made


def _of_who_leaves(person: Person, workspace: Workspace, by: str) -> None:
    SavedFilter.objects.filter(workspace=workspace, person=person).delete()


people.LEAVING.append(_of_who_leaves)
