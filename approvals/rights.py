"""Rights, as somebody who administers a workspace gives and takes them, and what stands in the way."""

from __future__ import annotations

from typing import Any

from django.db.models import Model

from approvals import changes, people, rows, vouched
from approvals.approvals import Approval
from approvals.people import Membership, Person, Team, Workspace, home
from approvals.policies import NeedsApproval
from approvals.policy_text import PolicyFault
from approvals.votes import Refused


def members(workspace: Workspace) -> list[Person]:
    """Who belongs to the workspace and is not switched off, by name."""
    return list(Person.objects.filter(memberships__workspace=workspace, is_active=True).order_by("name", "email"))


def give(person: Person, right: str, thing: Model, *, by: Person | None, reason: str = "") -> Approval | Refused | None:
    """Give a member a right on one thing of a workspace. Where people have to approve it first they are asked, and the
    approval is returned. ``by`` None is an operator at the command line, for whom nobody is asked."""
    workspace = _home(thing)
    with rows.within(workspace):
        if refused := _not_allowed(workspace, by) or _no_member(workspace, person):
            return refused
        try:
            people.grant(person, right, thing, by=by.public_id if by else "system")
            return None
        except PolicyFault as fault:
            return Refused("tampered", fault.message)
        except NeedsApproval as asks:
            if by is None or not isinstance(thing, Team):
                return Refused("needs_approval", str(asks))
        return changes.propose(workspace, changes.of_team(thing, joining=person), by=by, reason=reason)


def take(person: Person, right: str, thing: Model, *, by: Person | None) -> Refused | None:
    """Take a right on one thing away, at once: votes that rest on it stop counting. The last person who administers a
    workspace keeps that right, but for an operator at the command line."""
    workspace = _home(thing)
    with rows.within(workspace):
        if refused := _not_allowed(workspace, by):
            return refused
        if not people.may(person, right, thing):
            return Refused("not_held", f"{person.name} does not have this right.")
        if by is not None and (refused := last_of(person, right, thing)):
            return refused
        people.revoke(person, right, thing, by=by.public_id if by else "system")
    return None


def last_of(person: Person, right: str, thing: Model) -> Refused | None:
    """That nobody else administers the workspace."""
    if right != "administer" or any(one.pk != person.pk for one in people.holders(right, thing)):
        return None
    told = f"{person.name} is the only one who administers the workspace. Let somebody else do so first."
    return Refused("last_administrator", told)


def _home(thing: Model) -> Workspace:
    return thing if isinstance(thing, Workspace) else Workspace.objects.get(pk=home(thing))


def _not_allowed(workspace: Workspace, by: Person | None) -> Refused | None:
    """Whoever does it must have the right from the ledger: one that was written past Placet would beget others."""
    if by is None or vouched.may(by, "administer", workspace):
        return None
    return Refused("not_allowed", "Only those who administer the workspace may give and take rights.")


def _no_member(workspace: Workspace, person: Person) -> Refused | None:
    found: Any = Membership.objects.filter(workspace=workspace, person=person, person__is_active=True)
    return None if found.exists() else Refused("no_member", f"{person.name} is no active member of the workspace.")
