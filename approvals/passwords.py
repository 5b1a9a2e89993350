"""Passwords: that a stored hash is the one this person chose, that an address is theirs, and which of a person's
sessions still count."""

from __future__ import annotations

import hmac
import logging
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib.auth.models import AbstractBaseUser
from django.db import models

from approvals.ledger import keys

log = logging.getLogger(__name__)


class Proven(AbstractBaseUser):
    """A person's password and address, with proof that they were set here for this person: whoever may write into the
    database can put none of their own in their place. An address is never changed, so there is one proof of it.
    ``sign_outs`` counts how often all sessions were ended."""

    email: Any
    password_mac = models.BinaryField(default=b"")
    address_mac = models.BinaryField(default=b"")
    sign_outs = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True

    def set_password(self, raw_password: str | None) -> None:
        super().set_password(raw_password)
        self.password_mac = keys.sign("password", password_bytes(self))

    def check_password(self, raw_password: str | None) -> bool:
        """Whether this is the person's password; never, where the hash is not one that was set here."""
        right = super().check_password(raw_password)
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

    def save(self, *args: Any, **how: Any) -> None:
        if self._state.adding:
            self.address_mac = keys.sign("address", address_bytes(self))
        if how.get("update_fields") is not None and "password" in how["update_fields"]:
            how["update_fields"] = {*how["update_fields"], "password_mac"}
        super().save(*args, **how)

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


def password_bytes(person: Any) -> bytes:
    """What the proof of a password is over: whose it is, and the hash."""
    return f"{person.pk.hex}:{person.password}".encode()


def address_bytes(person: Any) -> bytes:
    """What the proof of an address is over: whose it is, and the address."""
    return f"{person.pk.hex}:{person.email}".encode()
