"""Leaving: what those who administer a workspace do about a member's sign-in and membership, and what ends with it.

The commands of an operator and the page of a person both come here. Membership is a workspace's; a sign-in is a
person's, and may be ended by whoever administers one of their workspaces.
"""

from __future__ import annotations

from typing import Final

from django.db.models import Q

from approvals import (
    departures,
    letters,
    people,
    resets,
    rights,
    rows,
    shortfalls,
    signin,
    vouched,
    witness,
    workspaces,
)
from approvals.deputies import Absence
from approvals.invitations import Invitation
from approvals.people import Person, Team, Workspace
from approvals.said import Decision
from approvals.votes import Refused

_RIGHTS: Final = {"administer": "Administers the workspace.", "audit": "May read everything in the workspace."}


# What ends


def what_ends(person: Person, workspace: Workspace) -> list[str]:
    """A sentence for everything that ends at once when a person leaves the workspace or is switched off."""
    held = people.rights_of(person, workspace)
    decides = sorted(thing.name for _, thing in held if isinstance(thing, Team))
    told = [f"Decides for {', '.join(decides)}."] if decides else []
    told += [_RIGHTS[right] for right, _ in held if right in _RIGHTS]
    told += [f"Operates {thing}." for right, thing in held if right == "operate"]
    return told + _theirs(person, workspace) + [one for tells in departures.TELLS if (one := tells(person, workspace))]


def _theirs(person: Person, workspace: Workspace) -> list[str]:
    votes = Decision.objects.filter(workspace=workspace, person=person, approval__status="pending")
    away = Absence.objects.filter(Q(person=person) | Q(deputy=person), workspace=workspace, ended_at=None)
    sent = Invitation.objects.filter(workspace=workspace, invited_by=person, status=Invitation.Status.OPEN)
    waiting, loans, open_ones = (
        votes.values("approval").distinct().count(),
        away.filter(ends_at__gt=rows.Now()).count(),
        sent.count(),
    )
    return [
        *_counted(waiting, "approval that waits loses their vote", "approvals that wait lose their vote"),
        *_counted(loans, "absence or loan of seats ends", "absences and loans of seats end"),
        *_counted(open_ones, "invitation of theirs counts no more", "invitations of theirs count no more"),
    ]


def _counted(count: int, one: str, many: str) -> list[str]:
    return [f"{count} {one if count == 1 else many}."] if count else []


def shortfall(person: Person, workspace: Workspace) -> list[str]:
    """The rules that nobody could satisfy without them."""
    return shortfalls.without(workspace.pk, person)


# Verbs


def leave(person: Person, workspace: Workspace, *, by: Person | None) -> Refused | None:
    """End a membership, and with it every right; ``by`` None is an operator at the command line."""
    if by is not None and not vouched.may(by, "administer", workspace):
        return NOT_ALLOWED
    if by is not None and (refused := rights.last_of(person, "administer", workspace)):
        return refused
    people.leave(person, workspace, by=_named(by))
    return None


def switch_off(person: Person, *, by: Person | None) -> Refused | None:
    """Let a person in nowhere any more: sessions, links and votes end at once, in every workspace."""
    if refused := _not_over(person, by):
        return refused
    if by is not None and by.pk == person.pk:
        return Refused("yourself", "Somebody else has to switch you off.")
    departures.deactivate(person, by=_named(by))
    return None


def switch_on(person: Person, *, by: Person | None) -> Refused | None:
    """Let somebody in again who was switched off."""
    if refused := _not_over(person, by):
        return refused
    departures.reactivate(person, by=_named(by))
    return None


def sign_out(person: Person, *, by: Person | None) -> Refused | None:
    """End every session of a person."""
    if refused := _not_over(person, by):
        return refused
    signin.end_sessions(person)
    witness.note(person, "signin.all_ended", by=_named(by))
    return None


def drop_factors(person: Person, *, by: Person | None) -> int | Refused:
    """Take the second factors of somebody away who lost them; how many there were."""
    return _not_over(person, by) or signin.drop_factors(person, by=_named(by))


def write_reset(person: Person, *, by: Person | None) -> Refused | None:
    """Write to a person, with a link to a new password. It goes to their address alone: whoever could read it would
    speak for them."""
    if refused := _not_over(person, by):
        return refused
    if not person.is_active or not person.address_holds():
        return Refused("no_sign_in", f"{person.name} may not sign in.")
    token = resets.make(person, by=_named(by))
    told = {"person": person, "link": letters.link("reset", token), "minutes": resets.LASTS.seconds // 60}
    if letters.send(person.email, "A new password for Placet", "reset", told):
        return None
    resets.end_all(person)
    return Refused("no_letter", "No letter could be sent: whoever runs Placet has to name a mail server.")


NOT_ALLOWED: Final = Refused("not_allowed", "Only those who administer the workspace may do this.")


def _not_over(person: Person, by: Person | None) -> Refused | None:
    """That whoever says so administers none of the person's workspaces."""
    if by is None or any(_administers(by, workspace) for workspace in _shared(person, by)):
        return None
    return Refused("not_allowed", f"{by.email} may not administer a workspace of {person.email}.")


def _shared(person: Person, by: Person) -> list[Workspace]:
    theirs = set(workspaces.all_keys_of(person))
    return [one for one in workspaces.of_person(by) if one.pk in theirs]


def _administers(by: Person, workspace: Workspace) -> bool:
    with rows.reading(workspace):
        return vouched.may(by, "administer", workspace)


def _named(by: Person | None) -> str:
    return by.public_id if by else "system"
