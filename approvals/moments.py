"""Moments: from when an approved call may go, and how long the yes is good for. All are read from what was signed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from approvals import policy_freezes
from approvals.said import Decision

Rule = Mapping[str, Any]


@dataclass(frozen=True)
class Wait:
    """Why an approved call does not go yet, as a sentence, and when it is looked at again."""

    why: str
    until: datetime


def given_at(yeses: Iterable[Decision]) -> datetime:
    """When the last of the yeses that count was given. At least one is needed."""
    return max(yes.decided_at for yes in yeses)


def first_at(yeses: Iterable[Decision]) -> datetime:
    """When the first of them was: each of the yeses has to be young enough, and not only the last."""
    return min(yes.decided_at for yes in yeses)


def frozen(rule: Rule | None, now: datetime) -> Wait | None:
    """Whether the rule of today has a freeze now."""
    windows = (rule or {}).get("freeze", ())
    until = policy_freezes.frozen_until(windows, now)
    if until is None:
        return None
    names = [window["name"] for window in windows if policy_freezes.frozen_until([window], now)]
    return Wait(f"Nothing is sent during {' and '.join(names)}.", until)


def held_back(rules: Iterable[Rule], given: datetime, now: datetime) -> Wait | None:
    """Whether the time is still on in which people may stop what was approved: the longest that these rules say."""
    longest = max((rule.get("hold_after", 0) for rule in rules), default=0)
    until = given + timedelta(seconds=longest)
    return Wait("It was approved, and may be stopped until it is sent.", until) if until > now else None


def stale_at(rules: Iterable[Rule], first: datetime, last: datetime) -> datetime | None:
    """When the first of the yeses is too old to be acted on: the shortest time that these rules say; None where none
    does. Where one of them holds the call back for longer, it counts from the end of that."""
    held = list(rules)
    lengths = [rule["valid_for"] for rule in held if "valid_for" in rule]
    if not lengths:
        return None
    hold = max(rule.get("hold_after", 0) for rule in held)
    length = timedelta(seconds=min(lengths))
    return first + length if min(lengths) > hold else last + timedelta(seconds=hold) + length
