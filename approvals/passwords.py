"""Passwords: that a stored hash is the one this person chose, that an address and a name are theirs, and which of a
person's sessions still count."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable
from typing import Any, Final

from asgiref.sync import sync_to_async
from django.contrib.auth.models import AbstractBaseUser
from django.db import models, transaction

from approvals import rows
from approvals.ledger import keys

log = logging.getLogger(__name__)


class Proven(AbstractBaseUser):
    """A person's password, address and name, with proof that they were set here for this person: whoever may write into
    the database can put none of their own in their place. An address is never changed, so there is one proof of it.
    Somebody whose name was not set here is called by their address, or by their id where that was not either.
    ``sign_outs`` counts how often all sessions were ended."""

    email: Any
    name: Any
    password_mac = models.BinaryField(default=b"")
    address_mac = models.BinaryField(default=b"")
    name_mac = models.BinaryField(default=b"")
    sign_outs = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True

    @classmethod
    def from_db(cls, db: Any, field_names: Any, values: Any, **how: Any) -> Any:
        """A row as it is read: what is shown of who decided is never a name that somebody else wrote there."""
        person = super().from_db(db, field_names, values, **how)
        if person.__dict__.keys() >= {"name", "name_mac", "email", "address_mac"} and not person.name_holds():
            person.name = person.email if person.address_holds() else rows.public_id("per", person.pk)
        return person

    replaced: bytes = b""
    """What the proof of the password was over that was replaced, until somebody wrote down that it was."""
    _checking: bool = False
    """While a password is checked it may be stored anew, by a better hash: it is the same one."""

    def set_password(self, raw_password: str | None) -> None:
        if self.password and not self._state.adding and not self._checking:
            self.replaced = self.replaced or password_bytes(self)
        super().set_password(raw_password)
        self.password_mac = keys.sign("password", password_bytes(self))

    def check_password(self, raw_password: str | None) -> bool:
        """Whether this is the person's password; never, where the hash is not one that was set here."""
        self._checking = True
        try:
            right = super().check_password(raw_password)
        finally:
            self._checking = False
        if not right:
            return False
        if not self.password_holds():
            log.error("the password of %s was not set by Placet", self.pk)
            return False
        return True

    async def acheck_password(self, raw_password: str | None) -> bool:
        return await sync_to_async(self.check_password)(raw_password)

    def password_holds(self) -> bool:
        """Whether the stored hash was written here, for this person."""
        try:
            return keys.holds("password", password_bytes(self), self.password_mac)
        except keys.UnknownKey:
            return False

    def address_holds(self) -> bool:
        """Whether the address was written here, for this person: nobody is written to or found by another."""
        try:
            return keys.holds("address", address_bytes(self), self.address_mac)
        except keys.UnknownKey:
            return False

    def name_holds(self) -> bool:
        """Whether the name was written here, for this person."""
        try:
            return keys.holds("name", name_bytes(self), self.name_mac)
        except keys.UnknownKey:
            return False

    def save(self, *args: Any, **how: Any) -> None:
        changed = set(how.get("update_fields") or ())
        if self._state.adding:
            self.address_mac = keys.sign("address", address_bytes(self))
        if self._state.adding or "name" in changed:
            self.name_mac = keys.sign("name", name_bytes(self))
        if how.get("update_fields") is not None:
            how["update_fields"] = changed | {f"{each}_mac" for each in changed & {"password", "name"}}
        with transaction.atomic():
            super().save(*args, **how)
            before, self.replaced = self.replaced, b""
            for tells in REPLACED if before else ():
                tells(self, before)

    def get_session_auth_hash(self) -> str:
        """What a session must hold to count: it changes with the password and with every signing out everywhere."""
        return self._session_hash(super().get_session_auth_hash())

    def get_session_auth_fallback_hash(self) -> Any:
        for told in super().get_session_auth_fallback_hash():
            yield self._session_hash(told)

    def _session_hash(self, told: str) -> str:
        if not self.sign_outs:
            return told
        return hmac.new(told.encode(), str(self.sign_outs).encode(), "sha256").hexdigest()


REPLACED: Final[list[Callable[[Any, bytes], None]]] = []
"""Who is told that a password was set past the pages, as by `changepassword`: of the person, and with what the proof of
the password before it was over. Inside the transaction in which it is saved."""


def password_bytes(person: Any) -> bytes:
    """What the proof of a password is over: whose it is, and the hash."""
    return f"{person.pk.hex}:{person.password}".encode()


def address_bytes(person: Any) -> bytes:
    """What the proof of an address is over: whose it is, and the address."""
    return f"{person.pk.hex}:{person.email}".encode()


def name_bytes(person: Any) -> bytes:
    """What the proof of a name is over: whose it is, and the name."""
    return f"{person.pk.hex}:{person.name}".encode("utf-8", "surrogatepass")
