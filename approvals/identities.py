"""Identities: who somebody is at an identity provider, by its issuer and their subject there, and by nothing else."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any, Final

from django.db import IntegrityError, models, transaction
from django.http import HttpRequest

from approvals import letters, providers, rows, ways, witness
from approvals.ledger import canonical, keys
from approvals.ledger.about import Broken
from approvals.people import Person
from approvals.providers import Claims, Provider

PENDING: Final = "identity_to_link"
PENDING_SECONDS: Final = 600


class Identity(models.Model):
    """That a subject of an issuer is this person. An address is kept to be shown, and finds nobody."""

    id = models.UUIDField(primary_key=True, default=rows.uuid7, editable=False)
    person = models.ForeignKey(Person, models.PROTECT, related_name="identities")
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)
    email = models.EmailField(blank=True)
    linked_at = models.DateTimeField(db_default=rows.Now(), editable=False)
    mac = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="one_person_of_a_subject")]

    def __str__(self) -> str:
        return self.email or self.subject

    @property
    def public_id(self) -> str:
        return rows.public_id("idn", self.id)

    def holds(self) -> bool:
        """Whether the row is as it was written."""
        try:
            return keys.holds("identity", _signed(self), self.mac)
        except keys.UnknownKey:
            return False


def _signed(one: Identity) -> bytes:
    told = {"id": one.pk.hex, "person": one.person_id.hex, "issuer": one.issuer, "subject": one.subject}
    return canonical.encode(told)


# Questions


def person_of(claims: Claims) -> Person | None:
    """The active person whom these claims are of, as it was linked here."""
    found = Identity.objects.select_related("person").filter(issuer=claims.issuer, subject=claims.subject).first()
    return found.person if found is not None and found.holds() and _lasts(found) else None


def way_of(identity: Identity) -> str:
    """By what the ledger names an identity once it was unlinked."""
    return ways.mark("identity", identity.pk.bytes)


def _lasts(identity: Identity) -> bool:
    """Whether its person is active, and nobody unlinked it by a ledger that proves it."""
    try:
        return identity.person.is_active and not ways.has_ended(identity.person, way_of(identity))
    except Broken:
        return False


def candidate(provider: Provider, claims: Claims) -> Person | None:
    """Whom a first sign-in may be, after they say so themselves: the one person with an address that the provider has
    verified and may vouch for, who is not known there under another subject."""
    if not claims.address_in(provider.domains):
        return None
    person = Person.objects.at(claims.email, is_active=True)
    if person is None or person.identities.filter(issuer=claims.issuer).exists():
        return None
    return None if Identity.objects.filter(issuer=claims.issuer, subject=claims.subject).exists() else person


def of_person(person: Person) -> list[Identity]:
    return list(Identity.objects.filter(person=person).order_by("linked_at"))


def providers_of(person: Any) -> list[Provider]:
    """The providers at which a person is known, by identities that hold and that nobody unlinked."""
    mine = Identity.objects.select_related("person").filter(person_id=person.pk)
    issuers = {one.issuer for one in mine if one.holds() and _lasts(one)}
    return [one for one in providers.every() if one.issuer in issuers]


# Verbs


def link(person: Person, claims: Claims) -> bool:
    """Note that these claims are of this person; False if they are somebody's already."""
    made = Identity(person=person, issuer=claims.issuer, subject=claims.subject, email=claims.email)
    made.mac = keys.sign("identity", _signed(made))
    try:
        with transaction.atomic():
            made.save(force_insert=True)
            witness.note(person, "identity.linked", {"issuer": claims.issuer})
    except IntegrityError:
        return False
    letters.tell_of_change(person, f"{claims.issuer} was linked to your sign-in.")
    return True


def unlink(person: Person, key: Any) -> bool:
    """Forget one of a person's identities; False if it is none of theirs."""
    with transaction.atomic():
        found = Identity.objects.filter(person=person, pk=key).first()
        if found is None:
            return False
        way = way_of(found)
        found.delete()
        witness.note(person, "identity.unlinked", {"issuer": found.issuer, "ended": way})
    letters.tell_of_change(person, f"{found.issuer} was unlinked from your sign-in.")
    return True


def keep_pending(request: HttpRequest, person: Person, claims: Claims) -> None:
    """Link once the sign-in is complete, second factor included, and not before."""
    request.session[PENDING] = {"person": str(person.pk), "claims": asdict(claims), "at": time.time()}


def link_pending(request: Any) -> None:
    """What `keep_pending` kept, if it is of the person who has just signed in."""
    kept = request.session.pop(PENDING, None)
    if kept and kept["person"] == str(request.user.pk) and time.time() - kept["at"] < PENDING_SECONDS:
        link(request.user, Claims(**kept["claims"]))
