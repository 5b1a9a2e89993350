"""Floors: what a document asks at least where the risk is high, or medium, or low. No rule of it can make do with less.

Where the law wants two people, or a sign-in of a moment ago, it is said once, and a rule that undercuts it is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from approvals.policy_text import PolicyFault
from approvals.policy_words import ASSURANCES, MESSAGES, RISKS, higher, level

_PEOPLE = {"type": "integer", "minimum": 1, "maximum": 20}
_FLOOR = {
    "type": "object",
    "additionalProperties": False,
    "minProperties": 1,
    "properties": {"people": _PEOPLE, "assurance": ASSURANCES, "require_message_on": MESSAGES},
}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "minProperties": 1,
    "properties": {risk: {"if": {"type": "integer"}, "then": _PEOPLE, "else": _FLOOR} for risk in RISKS},
}
_SAID: Final = ("assurance", "require_message_on")


def written(said: Mapping[str, Any], pointer: str) -> dict[str, Any]:
    """The floors with every default written out: a bare number is so many people. Raises PolicyFault."""
    whole: dict[str, dict[str, Any]] = {
        risk: {"people": floor} if isinstance(floor, int) else {"people": 1} | floor for risk, floor in said.items()
    }
    for risk, floor in whole.items():
        if "assurance" in floor:
            level(floor["assurance"], f"{pointer}/{risk}/assurance")
    return whole


def raised(rule: dict[str, Any], document: Mapping[str, Any], pointer: str) -> dict[str, Any]:
    """The rule with what the floor of its risk asks, where it says nothing of it itself. Raises PolicyFault for a rule
    that says less, and for one that does not say its risk."""
    floors: Mapping[str, Any] = document.get("at_least", {})
    if not floors or rule["verdict"] == "deny":
        return rule
    if "risk" not in rule:
        told = "Say the risk: the document says what is asked at least for each."
        raise PolicyFault(f"{pointer}/risk", "at_least", told)
    floor = floors.get(rule["risk"])
    if floor is None:
        return rule
    _people(rule, floor, pointer)
    _glass(rule, floor, pointer)
    return {name: floor[name] for name in _SAID if name in floor} | _not_less(rule, floor, pointer)


def _glass(rule: Mapping[str, Any], floor: Mapping[str, Any], pointer: str) -> None:
    if floor["people"] > 1 and "break_glass" in rule:
        many = floor["people"]
        told = f"One person could let it go alone, and the document wants {many} where the risk is {rule['risk']}."
        raise PolicyFault(f"{pointer}/break_glass", "at_least", told)


def _people(rule: Mapping[str, Any], floor: Mapping[str, Any], pointer: str) -> None:
    wanted, found = floor["people"], sum(need["count"] for need in rule["approvals"])
    if found < wanted:
        people = "people" if wanted > 1 else "person"
        told = f"The document wants at least {wanted} {people} where the risk is {rule['risk']}, and this asks {found}."
        place = "approvals" if rule["verdict"] == "require_approval" else "verdict"
        raise PolicyFault(f"{pointer}/{place}", "at_least", told)


def _not_less(rule: dict[str, Any], floor: Mapping[str, Any], pointer: str) -> dict[str, Any]:
    asked = floor.get("assurance", rule.get("assurance", "click"))
    if "assurance" in rule and higher(rule["assurance"], asked) != rule["assurance"]:
        told = f"The document wants {asked} at least where the risk is {rule['risk']}."
        raise PolicyFault(f"{pointer}/assurance", "at_least", told)
    missing = [
        word for word in floor.get("require_message_on", []) if word not in rule.get("require_message_on", [word])
    ]
    if missing:
        told = f"The document wants a message on {' and '.join(missing)} where the risk is {rule['risk']}."
        raise PolicyFault(f"{pointer}/require_message_on", "at_least", told)
    return rule
