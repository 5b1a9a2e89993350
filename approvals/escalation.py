"""Escalation: levels at which more people may decide, because nobody had by then. It adds people and asks no less.

Which level has begun is read from what was signed, the rule and the end of the approval, and from the clock. So the
sweep tells of a level, and opens nothing by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from approvals.deputies import Eligible
from approvals.people import Given
from approvals.policy_text import PolicyFault

if TYPE_CHECKING:
    from approvals.approvals import Approval

Rule = Mapping[str, Any]
WORD: Final = "escalate"
MOST: Final = 5
"""The most levels of a rule."""


# Questions


def levels(rule: Rule) -> Sequence[Mapping[str, Any]]:
    """The levels of a rule: for each ``teams`` and ``deadline``, how long it lasts in seconds."""
    found: Sequence[Mapping[str, Any]] = rule.get(WORD, ())
    return found


def lasts(rule: Rule) -> int:
    """How many seconds people have in all, the last level included."""
    seconds: int = rule["deadline"] + sum(level["deadline"] for level in levels(rule))
    return seconds


def begins(approval: Approval, rule: Rule, level: int) -> datetime:
    """When a level of an approval begins, the first being 1: counted back from its end, which is signed."""
    left = sum(each["deadline"] for each in levels(rule)[level - 1 :])
    return approval.expires_at + timedelta(seconds=approval.frozen_seconds - left)


def reached(approval: Approval, rule: Rule, now: datetime) -> int:
    """How many levels have begun."""
    return sum(begins(approval, rule, number) <= now for number in range(1, len(levels(rule)) + 1))


def reached_by_both(approval: Approval, rule: Rule, other: Rule, now: datetime) -> int:
    """The same by its own rule and by another, had it been asked under that: the lesser of the two."""
    opened = approval.expires_at + timedelta(seconds=approval.frozen_seconds - lasts(rule))
    waited = (now - opened).total_seconds()
    ends = accumulate((level["deadline"] for level in levels(other)[:-1]), initial=other["deadline"])
    return min(reached(approval, rule, now), sum(end <= waited for end in ends) if levels(other) else 0)


def added(rule: Rule, level: int) -> list[str]:
    """The teams that may decide at a level beside those that the rule names, by slug."""
    return sorted({team for each in levels(rule)[:level] for team in each["teams"]})


def with_more(able: Eligible, seats: Iterable[str], teams: Iterable[str]) -> Eligible:
    """The same people and deputies, where whoever may decide for one of these teams may take any of the seats."""
    wanted, more = set(seats), list(teams)

    def lifted(held: Mapping[str, Given]) -> dict[str, Given]:
        own = {seat: thing for seat, thing in held.items() if seat in wanted}
        through = next((held[team] for team in more if team in held), None)
        return dict.fromkeys(wanted, through) | own if through else own

    lent = {
        key: tuple(replace(each, seats=taken) for each in lents if (taken := lifted(each.seats)))
        for key, lents in able.lent.items()
    }
    own = {key: taken for key, held in able.own.items() if (taken := lifted(held))}
    return Eligible(own, {key: lents for key, lents in lent.items() if lents})


# What a rule says


def same(one: Any, other: Any) -> Any:
    """The levels of two rules together: those that both have, and else none. Whoever one of them adds, the other does
    not."""
    return one if one == other else []


def check_end(rule: Rule, pointer: str) -> None:
    """That levels and ``on_deadline: escalate`` come together. Raises PolicyFault."""
    says = rule.get("on_deadline") == "escalate"
    if says and WORD not in rule:
        raise PolicyFault(f"{pointer}/escalate", "required", "Say to whom it escalates, and how long each level lasts.")
    if not says and WORD in rule:
        raise PolicyFault(f"{pointer}/on_deadline", "escalate", "A rule with levels says on_deadline: escalate.")
