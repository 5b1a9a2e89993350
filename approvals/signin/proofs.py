"""Proofs: what of somebody's sign-in is as Placet wrote it, and what whoever can write the database made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from uuid import UUID

from allauth.mfa.models import Authenticator

from approvals import ways
from approvals.identities import Identity
from approvals.identities import way_of as way_of_identity
from approvals.passwords import password_bytes
from approvals.people import Person
from approvals.signin.factors import NAMES, holds, way_of
from approvals.ways import Told

# Questions


def against(person: Person) -> str:
    """Why the ledger lets this person not sign in, though their row does: they were switched off, their password is one
    that was replaced, or a second factor of theirs is gone that nobody removed. Empty if nothing speaks against it.
    Raises ledger.about.Broken where it proves nothing: then nobody knows what is asked of them."""
    return next(filter(None, (_against(told, person) for told in ways.told(person))), "")


def _against(told: Told, person: Person) -> str:
    if person.public_id in told.off:
        return f"No entry switched {person.email} on again."
    if person.public_id in told.gone:
        return f"No entry let {person.email} in again."
    if way_of_password(person) in told.ended:
        return f"The password of {person.email} is one that was replaced."
    held = Counter(NAMES[one.type] for one in _factors_of(person))
    gone = [kind for kind in ways.ASKED_FOR if told.factors.get((person.public_id, kind), 0) > held[kind]]
    return f"No entry removed the {gone[0]} of {person.email} that is gone." if gone else ""


def way_of_password(person: Person) -> str:
    """By what the ledger names the person's password once it was replaced."""
    return ways.mark("password", password_bytes(person))


def _factors_of(person: Person) -> list[Authenticator]:
    return list(Authenticator.objects.filter(user=person).order_by("created_at", "pk"))


def unproven(workspace_id: UUID) -> Iterator[str]:
    """A sentence for whatever of its members' sign-ins was written past Placet: addresses, names, passwords, factors,
    identities."""
    told = ways.told_now(workspace_id)
    for person in Person.objects.filter(memberships__workspace_id=workspace_id).order_by("email"):
        if not person.address_holds():
            yield f"The address {person.email} was not set by Placet."
        if not person.name_holds():
            yield f"The name of {person.email} was not set by Placet."
        if not person.password_holds():
            yield f"The password of {person.email} was not set by Placet."
        yield from _ways_of(person, told)
        if person.public_id not in told.off | told.gone and (gone := _against(told, person)):
            yield gone


def _ways_of(person: Person, told: Told) -> Iterator[str]:
    for one in _factors_of(person):
        what = f"A factor of {person.email} ({NAMES[one.type]})"
        if not holds(one):
            yield f"{what} was not added by Placet."
        elif way_of(one) in told.ended:
            yield f"{what} was removed, and is back."
    for identity in Identity.objects.filter(person=person):
        what = f"An identity of {person.email} at {identity.issuer}"
        if not identity.holds():
            yield f"{what} was not linked by Placet."
        elif way_of_identity(identity) in told.ended:
            yield f"{what} was unlinked, and is back."
