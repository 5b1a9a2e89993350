"""Which arguments are secret: said by the schema, by the field's name, by the look of the value, or by policy.

A secret is shown on no surface: not in a table, a difference, a form, a message or a log. It is replaced or left.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

from approvals.ledger import canonical

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

NAMES = frozenset(
    {"password", "passwords", "passwd", "passphrase", "passcode", "pwd", "pin", "otp", "totp", "cvv", "cvc"}
    | {
        "secret",
        "secrets",
        "credential",
        "credentials",
        "authorization",
        "bearer",
        "cookie",
        "cookies",
        "jwt",
        "token",
        "tokens",
    }
    | {"apikey", "apikeys", "accesskey", "secretkey", "privatekey", "signingkey", "connectionstring"}
)
"""A field is secret if its last word, or its last two words together, are in this list."""
AS_NUMBERS = frozenset({"password", "passcode", "pin", "otp", "totp", "cvv", "cvc"})
"""The names that keep a bare number secret: the rest count things when they hold one."""
CONTAINERS = frozenset({"credential", "credentials", "secret", "secrets", "passwords", "tokens"})
"""Everything inside an object of such a name is secret too."""
NOT_SECRET = frozenset(
    {"page", "skip", "continuation", "next", "previous", "prev", "sync", "delta", "cursor", "sort"}
    | {"start", "end", "max", "min", "stop", "num", "total"}
)
"""Words before "token" that name a place in a list, or a count, and no key to anything."""

BY_POLICY = "policy masks it"
SHORTEST_KEY = 15
"""No key that is known by its look has fewer characters."""
_LOOKS = (
    (re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"), "it holds a private key"),
    (re.compile(r"\A\s*(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{16,}\s*\Z"), "it looks like a payment key"),
    (
        re.compile(r"\A\s*(?:gh[pousr]_[0-9A-Za-z]{36,}|github_pat_\w{22,}|glpat-[\w-]{20,})\s*\Z"),
        "it looks like a code host's token",
    ),
    (re.compile(r"\A\s*xox[abeoprs]-[0-9A-Za-z-]{10,}\s*\Z"), "it looks like a chat token"),
    (re.compile(r"\A\s*(?:AKIA|ASIA)[0-9A-Z]{16}\s*\Z"), "it looks like a cloud key"),
    (re.compile(r"\A\s*(?:[Bb]earer\s+)?eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*\s*\Z"), "it looks like a signed token"),
)


def masked(schema_node: Mapping[str, Any] | bool, name: str, pointer: str, also: Collection[str] = ()) -> str | None:
    """Why the value at this place is secret, as the end of a sentence, or None.

    ``schema_node`` is the resolved schema of the place, ``name`` the last property name on the way to it (an entry of a
    list bears its list's name) and ``also`` the pointers that a policy masks. A yes-or-no is never secret.
    """
    node = schema_node if isinstance(schema_node, Mapping) else {}
    if by_policy(pointer, also):
        return BY_POLICY
    if node.get("writeOnly") is True or node.get("x-secret") is True or node.get("format") == "password":
        return "the tool marks it secret"
    if _harmless(node):
        return None
    if _secret_name(name, _kinds(node)):
        return "its name says so"
    return "it belongs to a secret" if inside_secret(pointer) else None


def by_policy(pointer: str, also: Collection[str]) -> bool:
    """Whether a policy masks the place, or one that it is inside of."""
    return any(pointer == place or pointer.startswith(place + "/") for place in also)


def inside_secret(pointer: str) -> bool:
    """Whether a place is inside of one that has the name of a container of secrets."""
    return _names_container(pointer.rpartition("/")[0])


def looks_secret(value: object) -> str | None:
    """Why a text looks like a well-known kind of key, or None. Whole texts only, and any with a private key in it."""
    if not isinstance(value, str) or len(value) < SHORTEST_KEY:
        return None
    return next((reason for pattern, reason in _LOOKS if pattern.search(value)), None)


@lru_cache(maxsize=4096)
def _names_container(pointer: str) -> bool:
    return any(_joined(part) in CONTAINERS for part in canonical.split(pointer))


@lru_cache(maxsize=4096)
def _secret_name(name: str, kinds: frozenset[str]) -> bool:
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words or not kinds - {"object", "array"}:
        return False
    if words[-1] in ("token", "tokens") and len(words) > 1 and words[-2] in NOT_SECRET:
        return False
    names = NAMES if "string" in kinds else AS_NUMBERS
    return words[-1] in names or "".join(words[-2:]) in names


def _joined(name: str) -> str:
    return "".join(word.lower() for word in _WORDS.findall(name)[-1:])


def _kinds(node: Mapping[str, Any]) -> frozenset[str]:
    """The types a value of this node may have; all that carry a value where the schema does not say."""
    declared = node.get("type", ["string", "integer", "number"])
    kinds = [declared] if isinstance(declared, str) else declared if isinstance(declared, list) else []
    return frozenset(kind for kind in kinds if isinstance(kind, str))


def _harmless(node: Mapping[str, Any]) -> bool:
    return bool(_kinds(node)) and _kinds(node) <= {"boolean", "null"}
