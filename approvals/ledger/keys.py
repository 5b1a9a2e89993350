"""Keys that live outside the database: root keys from the environment, one derived key for every purpose, and MACs."""

from __future__ import annotations

import hmac
import os
from functools import lru_cache
from hashlib import sha256
from typing import Final, Literal

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.db import models

Purpose = Literal[
    "absence",
    "address",
    "anchor",
    "approval",
    "attempt",
    "blob",
    "call",
    "check",
    "checkpoint",
    "comment",
    "commitment",
    "credential",
    "decision",
    "factor",
    "grant",
    "idempotency",
    "identity",
    "invitation",
    "keeping",
    "ledger",
    "name",
    "password",
    "policy",
    "preview",
    "reset",
    "ruling",
    "sealing",
    "search",
    "session",
    "tool",
]

MAC_BYTES = 34


class UnknownKey(Exception):
    """PLACET_KEYS has no key of the number that a stored value names: nothing can be said about that value."""


class KeysDoNotFit(Exception):
    """PLACET_KEYS is not what the stored data were made with; the message is for whoever starts the process."""


class KeyCheck(models.Model):
    """One root key that data here were made with: ``value`` is what it answers to a fixed question, so that a wrong key
    is noticed when a process starts; ``kept`` is the key itself, sealed with the later root key ``kept_by``."""

    number = models.PositiveIntegerField(primary_key=True)
    value = models.BinaryField()
    kept = models.BinaryField(null=True)
    kept_by = models.PositiveIntegerField(null=True)


def current() -> int:
    """The number of the root key in use: PLACET_KEY_IN_USE, else the highest."""
    return settings.PLACET_KEY_IN_USE or max(settings.PLACET_KEYS)


def derive(purpose: Purpose, number: int) -> bytes:
    """The 32-byte key of a purpose under one root key (HKDF-SHA-256, RFC 5869). Raises UnknownKey."""
    return _derived(purpose, root(number))


def root(number: int) -> bytes:
    """A root key: from PLACET_KEYS or, once retired, as a later one keeps it in the database. Raises UnknownKey."""
    held = settings.PLACET_KEYS.get(number)
    return held if held is not None else _retired(number)


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

    Raises KeysDoNotFit when a key differs or is gone: going on would write what nobody can read or prove later. A key
    that a rotation has retired may be gone.
    """
    fresh = [KeyCheck(number=number, value=check_value(number)) for number in sorted(settings.PLACET_KEYS)]
    KeyCheck.objects.bulk_create(fresh, ignore_conflicts=True)
    for number, value in KeyCheck.objects.order_by("number").values_list("number", "value"):
        try:
            root(number)
        except UnknownKey:
            raise KeysDoNotFit(
                f"The data here need key {number}, which PLACET_KEYS does not hold: put it back."
            ) from None
        if not hmac.compare_digest(bytes(value), check_value(number)):
            raise KeysDoNotFit(
                f"Key {number} of PLACET_KEYS is not the key {number} that these data were made with: restore that one."
            )


def check_value(number: int) -> bytes:
    """A public value by which two holders of a root key know that they hold the same one."""
    return hmac.digest(derive("check", number), b"placet", sha256)


# Retired keys. A later root key keeps each of them, so that what they proved can still be proved without them.

_NONCE: Final = 12
_opened: dict[tuple[int, int, bytes], bytes] = {}


def retire(check: KeyCheck) -> bool:
    """Let the key in use keep an older root key. False if it does already. Raises UnknownKey."""
    keeper = current()
    if check.number >= keeper or check.kept_by == keeper:
        return False
    nonce = os.urandom(_NONCE)
    sealed = AESGCM(derive("keeping", keeper)).encrypt(nonce, root(check.number), _keeping(check.number, keeper))
    same = KeyCheck.objects.filter(number=check.number, kept_by=check.kept_by)
    return same.update(kept=nonce + sealed, kept_by=keeper) == 1


def _retired(number: int) -> bytes:
    found = KeyCheck.objects.filter(number=number).values_list("kept", "kept_by").first()
    kept, keeper = found or (None, None)
    if kept is None or keeper is None or keeper <= number:
        raise UnknownKey(f"PLACET_KEYS has no key {number}.")
    place = (number, keeper, bytes(kept))
    if place not in _opened:
        _opened[place] = _open_kept(*place)
    return _opened[place]


def _open_kept(number: int, keeper: int, kept: bytes) -> bytes:
    try:
        opener = AESGCM(derive("keeping", keeper))
        return opener.decrypt(kept[:_NONCE], kept[_NONCE:], _keeping(number, keeper))
    except (InvalidTag, ValueError):
        raise UnknownKey(f"PLACET_KEYS has no key {number}, and the one kept here is not as it was kept.") from None


def _keeping(number: int, keeper: int) -> bytes:
    return b"placet kept key 1\0" + number.to_bytes(2, "big") + keeper.to_bytes(2, "big")
