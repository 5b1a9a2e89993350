"""Departures: a person who leaves for good is switched off, and all that speaks for them ends at once.

Their votes stop counting and their rights are void since both are read of active people alone, at the click and again
at dispatch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.db import models, transaction

from approvals import people, policies, resets, rows, workspaces
from approvals.invitations import withdraw_all
from approvals.ledger import entries
from approvals.people import Person, Workspace

TELLS: Final[list[Callable[[Person, Workspace], str]]] = []
"""What else would end when a person leaves a workspace or is switched off, as a sentence, or nothing: functions of the
person and the workspace. What ends it is one of `people.LEAVING`."""


def deactivate(person: Person, *, by: str) -> None:
    """Switch a person off: sessions, links to a new password and invitations end, in every workspace they belong to.
    Doing it twice changes nothing more."""
    homes = workspaces.of_person(person)
    with transaction.atomic():
        resets.end_all(person)
        off = Person.objects.filter(pk=person.pk, is_active=True)
        if not off.update(is_active=False, sign_outs=models.F("sign_outs") + 1):
            return
        for workspace in homes:
            with rows.within(workspace):
                body = {"person": person.public_id}
                entries.append(workspace.pk, "workspace", "person.deactivated", body, by=by)
                for ends in people.LEAVING:
                    ends(person, workspace, by)
    person.refresh_from_db()


def reactivate(person: Person, *, by: str) -> None:
    """Let a person in again, with the memberships and rights that nobody took meanwhile, but for seats in teams whose
    people have to be approved: those are asked for anew. Old sessions stay ended."""
    with transaction.atomic():
        if not Person.objects.filter(pk=person.pk, is_active=False).update(is_active=True):
            return
        person.refresh_from_db()
        for workspace in workspaces.of_person(person):
            with rows.within(workspace):
                body = {"person": person.public_id}
                entries.append(workspace.pk, "workspace", "person.reactivated", body, by=by)
                _take_guarded(person, workspace, by)


def _take_guarded(person: Person, workspace: Workspace, by: str) -> None:
    """Meanwhile people may have approved a team without them, and nobody was asked whether they come back into it."""
    for right, thing in people.rights_of(person, workspace):
        try:
            for guards in people.GIVING:
                guards(person, right, thing)
        except (policies.NeedsApproval, policies.PolicyFault):
            people.revoke(person, right, thing, by=by)


def _invitations(person: Person, workspace: Workspace, by: str) -> None:
    withdraw_all(person.email, workspace, by)


people.LEAVING.append(_invitations)
