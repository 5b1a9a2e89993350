"""Tokens: the secret in a one-time link. Only its hash is kept; it has 256 random bits, so there is nothing to slow
down."""

from __future__ import annotations

import re
import secrets
from typing import Final

from approvals.ledger import canonical

_SHAPE: Final = re.compile("[A-Za-z0-9_-]{43}")


def fresh() -> str:
    return secrets.token_urlsafe(32)


def hashed(token: str) -> str:
    """What is kept of a token; nothing for a text that cannot be one."""
    return canonical.sha256_hex(token.encode()) if _SHAPE.fullmatch(token) else ""
