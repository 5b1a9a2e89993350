"""Bearers: secrets that programs show in ``Authorization: Bearer …``, and the signed rows that know them by their hash.

A secret is shown once and kept as SHA-256 only: it has 256 random bits, so there is nothing to slow down. Each kind has
its own first letters, by which people, and programs that look for lost secrets, tell what it opens.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, Protocol

from django.http import HttpRequest

from approvals import rows
from approvals.ledger import canonical, keys

SHOWN: Final = 8
"""So many first characters are kept, by which people tell secrets apart."""
LONGEST: Final = 200


class Bearer(Protocol):
    """A row that knows a secret: signed, and ended for good once it is revoked."""

    revoked_at: datetime | None
    mac: bytes | memoryview

    def save(self, *, update_fields: list[str]) -> None: ...


def drawn(head: str) -> str:
    """A new secret of the kind with these first letters."""
    return head + secrets.token_urlsafe(32)


def hashed(secret: str) -> str:
    """What is kept of a secret."""
    return canonical.sha256_hex(secret.encode("utf-8", "replace"))


def carried(request: HttpRequest, head: str) -> str | None:
    """The secret of this kind that a request carries; None for any other request."""
    scheme, _, said = request.headers.get("Authorization", "").partition(" ")
    secret = said.strip()
    fits = scheme.lower() == "bearer" and secret.startswith(head) and len(secret) <= LONGEST
    return secret if fits else None


def revoked(held: Bearer, signed: Callable[[Any], bytes]) -> bool:
    """End a row that is locked, at once and for good. False if it was ended before."""
    if held.revoked_at is not None:
        return False
    held.revoked_at = rows.now()
    held.mac = keys.sign("credential", signed(held))
    held.save(update_fields=["revoked_at", "mac"])
    return True
