"""Forgetting: what a person wrote in a workspace goes, and who they were, where they belong to no other one.

That they decided, what and when, stays: their votes are named by an id, and the ledger has never held more of them.
What agents wrote about them goes with the runs in which it stands (`manage.py run erase`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db import models, transaction

from approvals import departures, people, resets, rows, signin, workspaces
from approvals.comments import Comment
from approvals.glass import GlassReview
from approvals.halts import Halt
from approvals.hours import WorkingHours
from approvals.identities import Identity
from approvals.invitations import Invitation
from approvals.ledger import entries, followed, keys
from approvals.passwords import address_bytes, name_bytes
from approvals.people import Membership, Person, Workspace
from approvals.said import Decision
from approvals.votes import Refused

NAME: Final = "Erased person"
DOMAIN: Final = "erased.invalid"
"""Where the address of a person who was erased is: no mail server ever has this domain."""
ERASED: Final = "person.erased"


@dataclass(frozen=True)
class Traces:
    """What there is of a person in a workspace. ``words`` go: comments, reasons beside a verdict, notes; ``decisions``
    stay, without them. ``account``: name, address and ways to sign in go too, for there is no other workspace that they
    belong to."""

    member: bool
    comments: int
    reasons: int
    notes: int
    decisions: int
    account: bool

    @property
    def words(self) -> int:
        return self.comments + self.reasons + self.notes


# Questions


def traces(workspace: Workspace, person: Person) -> Traces:
    """What erasing somebody would take, and what it would leave."""
    homes = set(workspaces.all_keys_of(person))
    with rows.within(workspace):
        made = Decision.objects.filter(workspace=workspace, person=person)
        return Traces(
            member=workspace.pk in homes,
            comments=_comments(workspace, person).count(),
            reasons=_reasons(workspace, person).count(),
            notes=_notes(workspace, person).count() + _stops(workspace, person).count(),
            decisions=made.count(),
            account=not homes - {workspace.pk},
        )


def known(workspace: Workspace) -> list[Person]:
    """Whom there is something to erase of: the members, and whoever decided or commented here before they left."""
    with rows.within(workspace):
        said = Decision.objects.filter(workspace=workspace).values("person_id")
        wrote = Comment.objects.filter(workspace=workspace).values("person_id")
        members = Membership.objects.filter(workspace=workspace).values("person_id")
        either = models.Q(pk__in=said) | models.Q(pk__in=wrote) | models.Q(pk__in=members)
        return list(Person.objects.filter(either).exclude(email__endswith=f"@{DOMAIN}").order_by("name", "email")[:500])


def _comments(workspace: Workspace, person: Person) -> models.QuerySet[Comment]:
    return Comment.objects.filter(workspace=workspace, person=person).exclude(text=b"")


def _reasons(workspace: Workspace, person: Person) -> models.QuerySet[Decision]:
    return Decision.objects.filter(workspace=workspace, person=person).exclude(message=b"")


def _notes(workspace: Workspace, person: Person) -> models.QuerySet[GlassReview]:
    return GlassReview.objects.filter(workspace=workspace, reviewed_by=person).exclude(note=b"")


def _stops(workspace: Workspace, person: Person) -> models.QuerySet[Halt]:
    return Halt.objects.filter(workspace=workspace, begun_by=person).exclude(reason=b"")


# The verb


def forget(workspace: Workspace, person: Person, *, by: Person | None) -> Traces | Refused:
    """Erase a person: their membership, rights and words here, and, where they belong nowhere else, who they were.
    Returns what there was. ``by`` is somebody who administers the workspace, or None for an operator."""
    if by is not None and not people.may(by, "administer", workspace):
        return Refused("not_allowed", "Only those who administer the workspace erase somebody.")
    if by == person:
        return Refused("yourself", "Somebody else has to erase you: who did it stays on record.")
    if _alone(workspace, person):
        return Refused("last", f"Nobody else administers {workspace.name}. Give somebody the right first.")
    who = by.public_id if by else "system"
    found = traces(workspace, person)
    if by is not None and not (found.member or found.decisions or found.words):
        return Refused("nothing", "Nothing of this person is kept here.")
    with rows.within(workspace):
        people.leave(person, workspace, by=who)
        _comments(workspace, person).update(text=b"")
        _reasons(workspace, person).update(message=b"")
        _notes(workspace, person).update(note=b"")
        _stops(workspace, person).update(reason=b"")
        told = {"person": person.public_id, "words": found.words, "account": found.account}
        # An open one is withdrawn by leaving; what was accepted or withdrawn proves nothing any more.
        Invitation.objects.filter(workspace=workspace, email=person.email).exclude(status="open").delete()
        entries.append(workspace.pk, followed.CHAIN, ERASED, told, by=who)
    if found.account:
        _forget_account(person, who)
    return found


def _alone(workspace: Workspace, person: Person) -> bool:
    if not people.may(person, "administer", workspace):
        return False
    members = Person.objects.filter(memberships__workspace=workspace, is_active=True).exclude(pk=person.pk)
    return not any(people.may(one, "administer", workspace) for one in members)


def _forget_account(person: Person, by: str) -> None:
    """Nothing of the row says any more who it was; it stays, since votes name it."""
    departures.deactivate(person, by=by)
    with transaction.atomic():
        signin.drop_factors(person, by=by)
        resets.end_all(person)
        Identity.objects.filter(person=person).delete()
        WorkingHours.objects.filter(person=person).delete()
        person.name, person.email = NAME, f"{person.pk.hex}@{DOMAIN}"
        person.address_mac = keys.sign("address", address_bytes(person))
        person.name_mac = keys.sign("name", name_bytes(person))
        person.set_password(None)
        person.save()
