"""Hours: when somebody works, as they say themselves. Reminders wait for it; no deadline does, and nothing else.

A person has one week wherever they belong. The ledger is told that it was set, by whom, and a digest of it together
with random bytes of the row: once the row is gone, the entry says nothing of anybody's days.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfoNotFoundError

from django.db import models, transaction

from approvals import people, rows, workspaces
from approvals.ledger import canonical, entries
from approvals.people import Person, Workspace
from approvals.votes import Refused
from approvals.weeks import Week, read

log = logging.getLogger(__name__)


class WorkingHours(models.Model):
    """The week of one person: ``days`` maps ``mon`` to its first and last minute, by the clock of ``zone``."""

    person = models.OneToOneField(Person, models.CASCADE, primary_key=True, related_name="+")
    zone = models.CharField(max_length=60)
    days = models.JSONField()
    salt = models.BinaryField()

    class Meta:
        verbose_name_plural = "working hours"

    @property
    def week(self) -> Week:
        return Week(self.zone, {day: (worked[0], worked[1]) for day, worked in self.days.items()})


# Questions


def of(person: Person) -> Week | None:
    """When somebody works; None for whoever has not said so."""
    return weeks_of([person.pk]).get(person.pk)


def weeks_of(keys: Iterable[UUID]) -> dict[UUID, Week]:
    """The weeks of those of these people who have one, in one query. A row that says nothing any more, for its zone is
    gone from the database of zones, keeps no reminder back."""
    return {one.person_id: one.week for one in WorkingHours.objects.filter(person__in=list(keys)) if _readable(one)}


def _readable(one: WorkingHours) -> bool:
    try:
        one.week.opens(rows.now())
    except (ZoneInfoNotFoundError, ValueError, TypeError, KeyError, IndexError, AttributeError, OSError) as fault:
        log.error("The working hours of %s cannot be read: %s", rows.public_id(Person.PREFIX, one.person_id), fault)
        return False
    return True


def digest(one: WorkingHours) -> str:
    """What the ledger keeps of a week."""
    facts = {"zone": one.zone, "days": {day: list(worked) for day, worked in one.days.items()}}
    return canonical.sha256_hex(canonical.encode(facts | {"salt": bytes(one.salt).hex()}))


# Verbs


def set_to(person: Person, zone: str, days: dict[str, tuple[str, str]], *, by: Person | None) -> Week | Refused:
    """Say when somebody works, in the place of what was said before. For the person, or an operator at the command
    line, whom ``by`` None stands for. A refusal has every fault at its place."""
    if refused := _not_theirs(person, by):
        return refused
    week = read(zone, days)
    if not isinstance(week, Week):
        return Refused("invalid_hours", "These are no working hours.", faults=week, pointer=week[0].pointer)
    made = WorkingHours(person=person, zone=zone, days=dict(week.days), salt=secrets.token_bytes(16))
    homes = workspaces.of_person(person)
    with transaction.atomic():
        WorkingHours.objects.update_or_create(
            person=person, defaults={"zone": made.zone, "days": made.days, "salt": made.salt}
        )
        _note(person, homes, "person.hours_set", {"digest": digest(made)}, by)
    return week


def clear(person: Person, *, by: Person | None) -> Refused | None:
    """Let reminders come at any time again."""
    if refused := _not_theirs(person, by):
        return refused
    homes = workspaces.of_person(person)
    with transaction.atomic():
        if WorkingHours.objects.filter(person=person).delete()[0]:
            _note(person, homes, "person.hours_cleared", {}, by)
    return None


def _not_theirs(person: Person, by: Person | None) -> Refused | None:
    if by is not None and by.pk != person.pk:
        return Refused("not_allowed", "Only the person themselves may say when they work.")
    return None if person.is_active else Refused("not_active", f"{person.name} is switched off.")


def _note(person: Person, homes: list[Workspace], kind: str, body: dict[str, Any], by: Person | None) -> None:
    told, who = {"person": person.public_id} | body, by.public_id if by else "system"
    for workspace in homes:
        with rows.within(workspace):
            entries.append(workspace.pk, "workspace", kind, told, by=who)


# Leaving


def _of_who_leaves(person: Person, workspace: Workspace, by: str) -> None:
    """Erase the week of whoever was switched off, or belongs nowhere any more."""
    if not Person.objects.filter(pk=person.pk, is_active=True).exists() or not workspaces.keys_of(person):
        WorkingHours.objects.filter(person=person).delete()


people.LEAVING.append(_of_who_leaves)
