"""Shadow: until a moment that a document names, what its rules would ask people about goes, and is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from approvals import policy_freezes
from approvals.policy_text import PolicyFault

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["until"],
    "properties": {"until": {"type": "string"}},
}


def checked(shadow: Mapping[str, Any], pointer: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """The shadow as it is written out. Raises PolicyFault where it has no end, and beside what a document asks at
    least: that is asked, shadow or not."""
    try:
        policy_freezes.instant(shadow["until"])
    except ValueError as fault:
        told = "Give a moment with its offset, such as 2026-12-20T18:00:00+01:00."
        raise PolicyFault(f"{pointer}/until", "instant", told) from fault
    if "at_least" in document:
        raise PolicyFault(pointer, "at_least", "The document says what is asked at least, and a shadow asks nobody.")
    return dict(shadow)


def until(document: Mapping[str, Any]) -> datetime | None:
    """When the shadow of a document ends, past or to come; None where it has none."""
    return policy_freezes.instant(document["shadow"]["until"]) if "shadow" in document else None
