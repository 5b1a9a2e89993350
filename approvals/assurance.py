"""How sure we are that the right person speaks: a click, a signed-in session, or a sign-in of the last minutes.

The sign-in writes into the session by which methods somebody proved who they are, and when (`signin.py`). It is judged
when a form arrives, never when its page was shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

from django.http import HttpRequest
from django.utils import timezone

Level = Literal["click", "session", "fresh"]
LEVELS: Final[tuple[Level, ...]] = ("click", "session", "fresh")
"""What a rule may ask for, from the weakest to the strongest."""
FRESH_SECONDS: Final = 300
"""How long a sign-in is fresh."""
SKEW_SECONDS: Final = 5
"""How far a proof may lie ahead of this host's clock: the one that wrote it may have another."""
RECORDS: Final = "account_authentication_methods"
OWNER: Final = "account_authentication_methods_user"
"""Where the session keeps the proofs, and whose they are."""
FACTORS: Final = {"totp": "totp", "webauthn": "passkey", "recovery_codes": "recovery_code"}


@dataclass(frozen=True)
class Assurance:
    """How sure we are of a person: the level, by which methods (password, totp, passkey, recovery_code, oidc), and when
    the last of them was used; None where that is not known."""

    level: Level
    methods: tuple[str, ...] = ()
    at: datetime | None = None

    def satisfies(self, needed: str) -> bool:
        """Whether it is as good as a rule asks. A level that is not known here is met by nothing."""
        return needed in LEVELS and LEVELS.index(self.level) >= LEVELS.index(needed)


CLICK: Final = Assurance("click")
"""Somebody pressed a button where another service says who they are."""
SESSION: Final = Assurance("session")
"""Somebody is signed in here; how is not known."""


def of_session(request: HttpRequest, *, at: datetime | None = None) -> Assurance:
    """How sure the request's session makes us of its person, now or ``at``: ``fresh`` with the methods of the last
    minutes, else ``session`` with all of it, else ``click`` for nobody."""
    if not request.user.is_authenticated:
        return CLICK
    proofs = _proofs(request)
    fresh = [proof for proof in proofs if _age(proof, at or timezone.now()) < FRESH_SECONDS]
    level: Level = "fresh" if fresh else "session"
    used = fresh or proofs
    last = max((proof["at"] for proof in used), default=None)
    return Assurance(level, _methods(used), datetime.fromtimestamp(last, UTC) if last is not None else None)


def _proofs(request: HttpRequest) -> list[dict[str, Any]]:
    """What the session says of its own person, each with the time at which the person proved it themselves."""
    if request.session.get(OWNER) != str(request.user.pk):
        return []
    told = request.session.get(RECORDS)
    return [_dated(proof) for proof in told if isinstance(proof, dict)] if isinstance(told, list) else []


def _dated(proof: dict[str, Any]) -> dict[str, Any]:
    """An identity provider may know somebody from hours ago: what counts is when it asked them, or nothing if it does
    not say."""
    at = proof.get("at")
    if proof.get("method") == "oidc":
        at = min(at or 0, proof.get("auth_time") or 0)
    return proof | {"at": float(at) if isinstance(at, int | float) else 0.0}


def _age(proof: dict[str, Any], now: datetime) -> float:
    """Seconds since the proof; one from the future is as good as none."""
    age = now.timestamp() - proof["at"]
    return age if age >= -SKEW_SECONDS else float("inf")


def _methods(proofs: Iterable[dict[str, Any]]) -> tuple[str, ...]:
    named = (FACTORS.get(str(one.get("type"))) if one.get("method") == "mfa" else one.get("method") for one in proofs)
    return tuple(dict.fromkeys(str(name) for name in named if name))
