"""Standing: how far a rule lets people say yes beforehand. Without this word of the rule nobody can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from approvals.policy_text import PolicyFault

MOST_USES: Final = 1000
LARGEST: Final = 2**53 - 1
SUM: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["of", "at_most"],
    "properties": {
        "of": {"type": "string", "pattern": "^(/([^/~]|~[01])+)+$"},
        "at_most": {"type": "integer", "minimum": 1, "maximum": LARGEST},
    },
}


def schema(duration: Mapping[str, Any]) -> dict[str, Any]:
    """The shape of the word: for how long, how often, and up to which sum of one argument."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["for", "uses"],
        "properties": {
            "for": duration,
            "uses": {"type": "integer", "minimum": 1, "maximum": MOST_USES},
            "sum": SUM,
        },
    }


def not_held(rule: Mapping[str, Any], pointer: str) -> None:
    """Raises PolicyFault where the rule also holds its calls back: a call under a grant is sent without a yes of its
    own, so there would be nothing to stop."""
    if "hold_after" in rule:
        told = "A call under a standing grant is not held back: say hold_after or standing, not both."
        raise PolicyFault(pointer, "standing", told)


def narrower(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """What two rules that both let people say yes beforehand let them say."""
    both: dict[str, Any] = {name: min(one[name], other[name]) for name in ("for", "uses")}
    sums = [each["sum"] for each in (one, other) if "sum" in each]
    return both | ({"sum": min(sums, key=_most)} if sums else {})


def _most(limit: Mapping[str, Any]) -> int:
    most: int = limit["at_most"]
    return most
