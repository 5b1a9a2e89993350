"""Keys that live outside the database: root keys from the environment, one derived key for every purpose, and MACs."""

from __future__ import annotations

import hmac
from functools import lru_cache
from hashlib import sha256
from typing import Literal

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.db import models

Purpose = Literal[
    "approval",
    "blob",
    "call",
    "check",
    "checkpoint",
    "commitment",
    "credential",
    "decision",
    "idempotency",
    "ledger",
    "policy",
    "ruling",
    "sealing",
    "tool",
]

MAC_BYTES = 34


class UnknownKey(Exception):
    """PLACET_KEYS has no key of the number that a stored value names: nothing can be said about that value."""


class KeysDoNotFit(Exception):
    """PLACET_KEYS is not what the stored data were made with; the message is for whoever starts the process."""


class KeyCheck(models.Model):
    """What a root key answers to a fixed question, kept so that a wrong key is noticed when a process starts."""

    number = models.PositiveIntegerField(primary_key=True)
    value = models.BinaryField()


def current() -> int:
    """The number of the root key in use: the highest."""
    return max(settings.PLACET_KEYS)


def derive(purpose: Purpose, number: int) -> bytes:
    """The 32-byte key of a purpose under one root key (HKDF-SHA-256, RFC 5869). Raises UnknownKey."""
    try:
        root = settings.PLACET_KEYS[number]
    except KeyError:
        raise UnknownKey(f"PLACET_KEYS has no key {number}.") from None
    return _derived(purpose, root)


@lru_cache(maxsize=256)
def _derived(purpose: str, root: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=f"placet/1/{purpose}".encode()).derive(root)


def sign(purpose: Purpose, data: bytes, *, number: int | None = None) -> bytes:
    """2 bytes of key number and 32 of HMAC-SHA-256, with the key in use unless a number is given. Raises UnknownKey."""
    number = current() if number is None else number
    return number.to_bytes(2, "big") + hmac.digest(derive(purpose, number), data, sha256)


def holds(purpose: Purpose, data: bytes, mac: bytes | memoryview) -> bool:
    """Whether the MAC is one of ours over exactly these bytes, for this purpose.

    Raises UnknownKey when it names a key that PLACET_KEYS lacks: that is no answer, and never a yes.
    """
    mac = bytes(mac)
    return len(mac) == MAC_BYTES and hmac.compare_digest(sign(purpose, data, number=key_number(mac)), mac)


def key_number(mac: bytes | memoryview) -> int:
    """The number of the root key that a MAC names."""
    return int.from_bytes(bytes(mac)[:2], "big")


def check_fits() -> None:
    """Note the keys that are new here, and compare every key with what was noted before.

    Raises KeysDoNotFit when a key differs or is gone: going on would write what nobody can read or prove later.
    """
    fresh = [KeyCheck(number=number, value=check_value(number)) for number in sorted(settings.PLACET_KEYS)]
    KeyCheck.objects.bulk_create(fresh, ignore_conflicts=True)
    for number, value in KeyCheck.objects.order_by("number").values_list("number", "value"):
        if number not in settings.PLACET_KEYS:
            raise KeysDoNotFit(f"The data here need key {number}, which PLACET_KEYS does not hold: put it back.")
        if not hmac.compare_digest(bytes(value), check_value(number)):
            raise KeysDoNotFit(
                f"Key {number} of PLACET_KEYS is not the key {number} that these data were made with: restore that one."
            )


def check_value(number: int) -> bytes:
    """A public value by which two holders of a root key know that they hold the same one."""
    return hmac.digest(derive("check", number), b"placet", sha256)
