"""Boxes: small secrets that belong to no workspace, closed with a key that lives outside the database."""

from __future__ import annotations

import os
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from approvals.ledger import keys
from approvals.ledger.keys import Purpose
from approvals.ledger.sealing import Tampered

_NUMBER: Final = 2
_NONCE: Final = 12


def close(purpose: Purpose, clear: bytes, *, place: str) -> bytes:
    """2 bytes of key number, 12 of nonce, and the bytes under AES-256-GCM, bound to their place. Raises UnknownKey."""
    number, nonce = keys.current(), os.urandom(_NONCE)
    sealed = AESGCM(keys.derive(purpose, number)).encrypt(nonce, clear, place.encode())
    return number.to_bytes(_NUMBER, "big") + nonce + sealed


def reopen(purpose: Purpose, box: bytes, *, place: str) -> bytes:
    """What was closed for this purpose and place. Raises Tampered for anything else, UnknownKey if the key is gone."""
    number, nonce, sealed = int.from_bytes(box[:_NUMBER], "big"), box[_NUMBER:][:_NONCE], box[_NUMBER + _NONCE :]
    try:
        return AESGCM(keys.derive(purpose, number)).decrypt(nonce, sealed, place.encode())
    except (InvalidTag, ValueError) as fault:
        raise Tampered("What was closed here is not as it was closed.") from fault
