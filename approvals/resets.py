"""Resets: a way back for somebody who forgot their password, by a link that is sent to their address.

Nobody learns here whether an address has an account: what is answered, and how fast, is the same.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from threading import Thread
from typing import Final

from django.db import DatabaseError, connections, models, transaction

from approvals import letters, passwords, rows, tokens, ways, witness
from approvals.ledger import canonical, keys
from approvals.passwords import password_bytes
from approvals.people import Person

log = logging.getLogger(__name__)

LASTS: Final = timedelta(minutes=30)


class Reset(models.Model):
    """That whoever holds the secret may give this person a new password, until they have one."""

    id = models.UUIDField(primary_key=True, default=rows.uuid7, editable=False)
    person = models.ForeignKey(Person, models.CASCADE, related_name="+")
    secret_hash = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    mac = models.BinaryField()

    def __str__(self) -> str:
        return str(self.person_id)

    def counts(self) -> bool:
        """Whether it was made here for the password that the person still has, who may sign in, and has not expired."""
        try:
            right = keys.holds("reset", _signed(self), self.mac)
        except keys.UnknownKey:
            return False
        return right and self.person.address_holds() and self.person.is_active and self.expires_at > rows.now()


def _signed(one: Reset) -> bytes:
    # With the password and the end of all sessions in it, a link ends with what it was made for; with the address, it
    # counts for nobody else than whom it was sent to.
    told = {"id": one.pk.hex, "person": one.person_id.hex, "secret": one.secret_hash}
    told |= {"expires": one.expires_at.isoformat(), "password": one.person.password, "address": one.person.email}
    return canonical.encode(told | {"sign_outs": one.person.sign_outs})


# Questions


def open_with(token: str) -> Reset | None:
    """The reset of this link, if it still counts."""
    secret = tokens.hashed(token)
    found = Reset.objects.select_related("person").filter(secret_hash=secret).first() if secret else None
    return found if found is not None and found.counts() else None


# Verbs


def ask(email: str) -> Thread:
    """Write to the person with this address, if there is one. What it takes to do so is done apart, so that the answer
    is as quick where there is nobody."""
    work = Thread(target=_ask, args=(email.strip().lower(),), daemon=True)
    work.start()
    return work


def _ask(email: str) -> None:
    try:
        person = Person.objects.at(email, is_active=True)
        if person is None:
            return
        token = make(person)
        told = {"person": person, "link": letters.link("reset", token), "minutes": LASTS.seconds // 60}
        letters.send(person.email, "A new password for Placet", "reset", told)
    except DatabaseError as fault:
        log.error("no reset could be made: %s", type(fault).__name__)
    finally:
        connections.close_all()


def make(person: Person, *, by: str = "system") -> str:
    """A new reset of a person; earlier ones end. Returns its secret, which is nowhere kept."""
    token = tokens.fresh()
    made = Reset(person=person, secret_hash=tokens.hashed(token), expires_at=rows.now() + LASTS)
    made.mac = keys.sign("reset", _signed(made))
    with transaction.atomic():
        end_all(person)
        made.save(force_insert=True)
        witness.note(person, "reset.asked", by=by)
    return token


def end_all(person: Person) -> None:
    """End every reset of a person."""
    Reset.objects.filter(person=person).delete()


def use(token: str, password: str) -> Person | None:
    """Give the person of this link a new password, once; every session of theirs ends. None if it does not count."""
    with transaction.atomic():
        secret = tokens.hashed(token)
        held = Reset.objects.select_for_update().filter(secret_hash=secret).first() if secret else None
        if held is None or not held.counts():
            return None
        person: Person = held.person
        replaced = ways.mark("password", password_bytes(person))
        person.set_password(password)
        person.replaced = b""  # it is told here
        person.save(update_fields=["password"])
        end_all(person)
        witness.note(person, "signin.password_reset", {"ended": replaced})
    letters.tell_of_change(person, "Your password was reset by a link that was sent to this address.")
    return person


def _set_by_an_operator(person: Person, before: bytes) -> None:
    """A password that a command sets ends what a reset ends: the one before it, links to a new one, and sessions."""
    end_all(person)
    witness.note(person, "signin.password_reset", {"ended": ways.mark("password", before)}, by="system")
    letters.tell_of_change(person, "Whoever runs Placet set a new password for you.")


passwords.REPLACED.append(_set_by_an_operator)
