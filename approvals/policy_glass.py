"""The word `break_glass` of a rule: who may let one call go alone in an emergency, and who looks at it afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

_TEAM: Final = {"type": "string", "minLength": 1, "maxLength": 200}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["team", "review"],
    "properties": {
        "team": _TEAM,
        "review": {
            "type": "object",
            "additionalProperties": False,
            "required": ["team"],
            "properties": {"team": _TEAM, "within": {"type": ["integer", "string"]}},
        },
    },
}
WITHIN: Final = "1d"
"""How long those have who look at it, where the rule does not say so."""


def together(one: Mapping[str, Any], other: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What two rules leave that both have it: the same people, and the shorter time; None where they name others, or
    the second has none."""
    if other is None:
        return None
    within = min(one["review"]["within"], other["review"]["within"])
    same = (one["team"], one["review"]["team"]) == (other["team"], other["review"]["team"])
    return {"team": one["team"], "review": {"team": one["review"]["team"], "within": within}} if same else None


def teams(rule: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The teams that a rule names for it, each with its place in the rule."""
    if said := rule.get("break_glass"):
        yield "/break_glass/team", said["team"]
        yield "/break_glass/review/team", said["review"]["team"]
