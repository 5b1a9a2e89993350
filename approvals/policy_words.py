"""The words of a rule: for each its schema, how it is checked and written out, and what two rules that both say it come
to.

A word stands here once it is enforced, and not before. It is written out only where a rule says it, so that what was
signed before there was such a word still holds: whoever reads a rule reads it with `rule.get(word, default)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from approvals import assurance, escalation, policy_freezes, policy_glass, policy_standing
from approvals.policy_text import PolicyFault

DEADLINE_MAX: Final = 90 * 24 * 3600
"""The longest deadline in seconds: 90 days."""
RISKS: Final = ("low", "medium", "high")
VERDICTS: Final = ("approve", "edit", "reject", "respond", "choose", "stop", "retract")
"""What people may say."""
DURATION: Final[dict[str, Any]] = {"type": ["integer", "string"]}
ASSURANCES: Final[dict[str, Any]] = {"enum": [*assurance.LEVELS, "passkey"]}
MESSAGES: Final[dict[str, Any]] = {
    "type": "array",
    "items": {"enum": [*VERDICTS]},
    "minItems": 1,
    "uniqueItems": True,
}
LEVELS: Final[dict[str, Any]] = {
    "type": "array",
    "minItems": 1,
    "maxItems": escalation.MOST,
    "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["teams", "deadline"],
        "properties": {
            "teams": {
                "type": "array",
                "items": {"type": "string", "minLength": 1, "maxLength": 40},
                "minItems": 1,
                "maxItems": 20,
                "uniqueItems": True,
            },
            "deadline": DURATION,
        },
    },
}
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True)
class Place:
    """Where a word stands: its pointer, the rule that says it, and the whole document."""

    pointer: str
    rule: Mapping[str, Any]
    document: Mapping[str, Any]


@dataclass(frozen=True)
class Word:
    """A word that a rule may say. ``check`` gives what is written out, or raises PolicyFault; ``both`` says what the
    stricter of two rules has where both say it, None for nothing; ``verdicts`` are the rules that may say it."""

    schema: dict[str, Any]
    check: Callable[[Any, Place], Any]
    both: Callable[[Any, Any], Any]
    for_calls: bool = False
    verdicts: frozenset[str] = frozenset({"require_approval"})
    alone: bool = True
    """Whether it holds for two rules together where only one of them says it."""


def seconds(value: int | str, pointer: str = "") -> int:
    """A duration in seconds: a number of them, or one with s, m, h or d. Raises PolicyFault."""
    found = re.fullmatch(r"([1-9][0-9]{0,8})([smhd])?", str(value), re.ASCII)
    length = int(found[1]) * _UNITS[found[2] or "s"] if found else 0
    if not 1 <= length <= DEADLINE_MAX:
        raise PolicyFault(pointer, "duration", "Give seconds, or a number with s, m, h or d, of at most 90 days.")
    return length


def level(value: str, pointer: str) -> str:
    """A level of assurance. Raises PolicyFault for one that nobody could reach."""
    if value not in assurance.LEVELS:
        told = f"No decision can be signed by a {value} yet, so nobody could decide; say click, session or fresh."
        raise PolicyFault(pointer, "assurance", told)
    return value


def higher(one: str, other: str) -> str:
    """The level of assurance of these two that says more."""
    levels: list[str] = [*assurance.LEVELS]
    return max(one, other, key=levels.index)


def _level(value: str, place: Place) -> str:
    return level(value, place.pointer)


def _as_said(value: Any, _: Place) -> Any:
    return value


def _duration(value: int | str, place: Place) -> int:
    return seconds(value, place.pointer)


def _longer_than_the_hold(value: int | str, place: Place) -> int:
    """How long a yes is good for. Raises PolicyFault where it is over before the call may go."""
    length, hold = seconds(value, place.pointer), place.rule.get("hold_after")
    if hold is not None and length <= seconds(hold):
        told = "The yes would be too old before the hold is over: say a longer time."
        raise PolicyFault(place.pointer, "valid_for", told)
    return length


def _standing(value: Mapping[str, Any], place: Place) -> dict[str, Any]:
    policy_standing.not_held(place.rule, place.pointer)
    return {**value, "for": seconds(value["for"], f"{place.pointer}/for")}


def _windows(names: list[str], place: Place) -> list[dict[str, Any]]:
    return policy_freezes.named(names, place.pointer, place.document)


def _glass(said: Mapping[str, Any], place: Place) -> dict[str, Any]:
    within = seconds(said["review"].get("within", policy_glass.WITHIN), f"{place.pointer}/review/within")
    return {"team": said["team"], "review": {"team": said["review"]["team"], "within": within}}


def _all(one: list[str], other: list[str]) -> list[str]:
    return one + [each for each in other if each not in one]


def _levels(levels: list[dict[str, Any]], place: Place) -> list[dict[str, Any]]:
    written = [
        {"teams": level["teams"], "deadline": seconds(level["deadline"], f"{place.pointer}/{index}/deadline")}
        for index, level in enumerate(levels)
    ]
    if seconds(place.rule.get("deadline", "1d")) + sum(level["deadline"] for level in written) > DEADLINE_MAX:
        raise PolicyFault(place.pointer, "duration", "With its deadline the levels last longer than 90 days.")
    return written


def _batch(said: bool, place: Place) -> bool:
    """Whether it may be answered together with others. Raises PolicyFault where something else in the rule wants it to
    be answered by itself."""
    rule = place.rule
    alone = {
        "risk": rule.get("risk") == "high",
        "assurance": rule.get("assurance") in {"fresh", "passkey"},
        "require_message_on": "approve" in rule.get("require_message_on", ()),
    }
    if said and (word := next((name for name, wants in alone.items() if wants), "")):
        told = f"By its {word} each of these is read and answered by itself, so none could be one of several."
        raise PolicyFault(place.pointer, "batch", told)
    return said


def _both_say_so(one: bool, other: bool | None) -> bool | None:
    return True if one and other else None


def _sooner_than_the_end(value: int | str, place: Place) -> int:
    length = seconds(value, place.pointer)
    if length >= seconds(place.rule.get("deadline", "1d")):
        raise PolicyFault(place.pointer, "remind_after", "Nobody would be reminded before the deadline.")
    return length


WORDS: Final[dict[str, Word]] = {
    "assurance": Word(ASSURANCES, _level, higher),
    "require_message_on": Word(MESSAGES, _as_said, _all),
    "hold_after": Word(DURATION, _duration, max, for_calls=True),
    "valid_for": Word(DURATION, _longer_than_the_hold, min, for_calls=True),
    "standing": Word(policy_standing.schema(DURATION), _standing, policy_standing.narrower, for_calls=True),
    "break_glass": Word(policy_glass.SCHEMA, _glass, policy_glass.together, for_calls=True, alone=False),
    "freeze": Word(
        policy_freezes.NAMES,
        _windows,
        policy_freezes.together,
        for_calls=True,
        verdicts=frozenset({"require_approval", "allow"}),
    ),
    "escalate": Word(LEVELS, _levels, escalation.same, alone=False),
    "remind_after": Word(DURATION, _sooner_than_the_end, min),
    "batch": Word({"type": "boolean"}, _batch, _both_say_so, for_calls=True, alone=False),
}


def written(rule: Mapping[str, Any], pointer: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """The words of this table that a rule says, checked and written out. Raises PolicyFault."""
    said = [(name, word) for name, word in WORDS.items() if name in rule]
    done = {name: word.check(rule[name], Place(f"{pointer}/{name}", rule, document)) for name, word in said}
    if {"hold_after", "freeze"} & set(done) and rule["verdict"] == "require_approval" and "valid_for" not in done:
        # It is not sent at once, so the deadline, by which people decide, is no measure of how good the yes still is.
        done["valid_for"] = done.get("hold_after", 0) + seconds(rule.get("deadline", "1d"), f"{pointer}/deadline")
    return done


def stricter(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What two rules say together in these words: never less than either. None is
    what they do not share."""
    said: dict[str, Any] = {}
    for name, word in WORDS.items():
        if (name in before and name in after) or (name in before and not word.alone):
            said[name] = word.both(before[name], after.get(name))
        elif (name in before or name in after) and word.alone:
            said[name] = before[name] if name in before else after[name]
    return said


def riskiest(risks: Iterable[str]) -> str:
    """The highest of these risks. At least one is needed."""
    return max(risks, key=RISKS.index)
