"""Absences: how somebody says that they are away, or lends their seats, and how that ends early."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import product
from typing import Final

from django.db.models import Q

from approvals import deputies, people, rows, vouched
from approvals.deputies import Absence
from approvals.ledger import entries, keys
from approvals.ledger.about import Broken
from approvals.people import Person, Workspace
from approvals.policies import NeedsApproval, PolicyFault
from approvals.votes import Refused

LONGEST: Final = timedelta(days=90)
"""How long an absence lasts at most."""
AHEAD: Final = timedelta(days=366)
"""How long before its beginning it may be announced."""
AT_ONCE: Final = 10
"""How many absences of one person may stand or be ahead at a time."""


# Questions


def standing(workspace: Workspace, person: Person | None = None) -> list[Absence]:
    """The absences that are in force or ahead, of everybody or of one person, the next to begin first."""
    found = Absence.objects.filter(workspace=workspace, ended_at__isnull=True, ends_at__gt=rows.Now())
    found = found.filter(person=person) if person else found
    return list(found.select_related("person", "deputy").order_by("starts_at", "pk"))


# Verbs


def announce(
    workspace: Workspace,
    person: Person,
    *,
    kind: str,
    ends_at: datetime,
    starts_at: datetime | None = None,
    deputy: Person | None = None,
    teams: Sequence[str] = (),
    by: Person | None,
) -> Absence | Refused:
    """Say that a person is away until then, or lends their seats, from now on or from a later moment. ``teams`` narrows
    what is lent; none means every seat they hold. ``by`` is the person, somebody who administers the workspace, or None
    for an operator: those lend for another no more than is held now, and nothing past a rule for the people of a team.
    What waits already is covered at once."""
    with rows.within(workspace):
        rows.one_at_a_time(f"absences {workspace.pk.hex} {person.pk.hex}")
        now = rows.now()
        begins = max(starts_at or now, now)
        refused = _not_theirs(workspace, person, by) or _unbounded(now, begins, ends_at)
        refused = refused or _not_lendable(workspace, person, kind, deputy, teams)
        if deputy and not refused and (by is None or by.pk != person.pk):
            teams = teams or sorted(people.seats_of(person, workspace.pk))  # what comes later its holder may lend
            refused = _past_the_rule(workspace, person, deputy, teams)
        if refused:
            return refused
        if len(standing(workspace, person)) >= AT_ONCE:
            return Refused("too_many", f"{person.name} has {AT_ONCE} absences that stand or are ahead: end one first.")
        made = Absence(workspace=workspace, person=person, kind=kind, deputy=deputy, teams=sorted(set(teams)))
        made.starts_at, made.ends_at = begins, ends_at
        made.mac = keys.sign("absence", deputies.signed(made))
        made.save(force_insert=True)
        entries.append(workspace.pk, "workspace", deputies.ANNOUNCED, deputies.facts(made), by=_named(by))
    return made


def end(absence: Absence, workspace: Workspace, *, by: Person | None) -> Refused | None:
    """End an absence before its time; votes that were given in the lender's place stop counting at once."""
    with rows.within(workspace):
        if refused := _not_theirs(workspace, absence.person, by):
            return refused
        if not _end(absence, _named(by)):
            return Refused("no_longer", "This absence has ended already.")
    return None


def _end(absence: Absence, by: str) -> bool:
    open_still = Absence.objects.filter(pk=absence.pk, ended_at__isnull=True, ends_at__gt=rows.Now())
    if not open_still.update(ended_at=rows.Now()):
        return False
    body = {"absence": absence.public_id}
    entries.append(absence.workspace_id, "workspace", deputies.ENDED, body, by=by)
    return True


def _named(by: Person | None) -> str:
    return by.public_id if by else "system"


# Why not


def _not_theirs(workspace: Workspace, person: Person, by: Person | None) -> Refused | None:
    if by is None or by.pk == person.pk or vouched.may(by, "administer", workspace):
        return None
    return Refused("not_allowed", "Only the person, or somebody who administers the workspace, may say so.")


def _unbounded(now: datetime, begins: datetime, ends_at: datetime) -> Refused | None:
    if ends_at <= begins:
        return Refused("ends_first", "It ends before it begins.", pointer="/ends_at")
    if ends_at - begins > LONGEST:
        return Refused("too_long", f"An absence lasts at most {LONGEST.days} days.", pointer="/ends_at")
    if begins - now > AHEAD:
        return Refused("too_far", "It begins more than a year from now.", pointer="/starts_at")
    return None


def _not_lendable(
    workspace: Workspace, person: Person, kind: str, deputy: Person | None, teams: Sequence[str]
) -> Refused | None:
    if not _is_member(person, workspace):
        return Refused("no_member", f"{person.name} is no member of the workspace.", pointer="/person")
    if deputy is None:
        lends = kind == Absence.Kind.DELEGATION or teams
        return Refused("needs_deputy", "Say to whom the seats are lent.", pointer="/deputy") if lends else None
    if deputy.pk == person.pk:
        return Refused("own_deputy", "Nobody is their own deputy.", pointer="/deputy")
    if not _is_member(deputy, workspace):
        return Refused("no_member", f"{deputy.name} is no member of the workspace.", pointer="/deputy")
    held = people.seats_of(person, workspace.pk)
    if missing := sorted(set(teams) - held):
        told = f"{person.name} may not decide for {missing[0]}, and only who holds a seat can lend it."
        return Refused("not_held", told, pointer="/teams")
    if not held:
        return Refused("not_held", f"{person.name} holds no seat that could be lent.", pointer="/deputy")
    return None


def _past_the_rule(workspace: Workspace, person: Person, deputy: Person, teams: Sequence[str]) -> Refused | None:
    """Whether somebody else lends seats of a team into which nobody comes before people approved it;
    those who decide for it come into nothing new."""
    try:
        named = vouched.teams(workspace.pk, teams).values()
        lent = [team for team in named if not vouched.explained(deputy, "decide", team)]
        for team, guards in product(lent, people.GIVING):
            guards(deputy, "decide", team)
    except (NeedsApproval, PolicyFault, Broken) as asks:
        return Refused("needs_approval", f"{asks} Only {person.name} may lend this seat.", pointer="/deputy")
    return None


def _is_member(person: Person, workspace: Workspace) -> bool:
    return Person.objects.filter(pk=person.pk, is_active=True, memberships__workspace=workspace).exists()


# Leaving


def _of_who_leaves(person: Person, workspace: Workspace, by: str) -> None:
    """End what somebody who leaves has lent, and what was lent to them."""
    theirs = Absence.objects.filter(Q(person=person) | Q(deputy=person), workspace=workspace, ended_at__isnull=True)
    for absence in theirs.order_by("created_at"):
        _end(absence, by)


people.LEAVING.append(_of_who_leaves)
