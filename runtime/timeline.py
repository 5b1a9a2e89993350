"""A run's story: everything that happened in it, in order, from its checkpoints, its attempts and its chain of the
ledger."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from runtime import events
from runtime.attempts import NOTHING_HAPPENED
from runtime.calls import Attempt, Call
from runtime.runs import Run


@dataclass(frozen=True)
class Moment:
    """One thing that happened: an event of the run, or the end of an attempt (``attempt.…``)."""

    at: datetime
    kind: str
    by: str = ""
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sent:
    """A call and how often it was sent. ``outcomes`` are those of its attempts, in order; an empty one is not known.
    ``settled``: people were asked what had become of it, and may have had it sent again."""

    call: str
    tool: str
    effect: str
    status: str
    key: str
    outcomes: tuple[str, ...]
    settled: bool = False


# Questions


def moments(run: Run) -> list[Moment]:
    """What happened, by the database's clock: the run's events, and between them the ends of its sendings."""
    told = [Moment(each.at, each.kind, each.by, each.facts) for each in events.events(run)]
    return sorted([*told, *_attempts(run)], key=lambda moment: moment.at)


def _attempts(run: Run) -> list[Moment]:
    ended = Attempt.objects.filter(call__run=run, ended_at__isnull=False).select_related("call").order_by("ended_at")
    return [Moment(each.ended_at, f"attempt.{each.outcome}", facts=_facts(each)) for each in ended if each.ended_at]


def _facts(attempt: Attempt) -> dict[str, Any]:
    facts = {
        "subject": attempt.call.public_id,
        "attempt": attempt.number,
        "key": attempt.call.key,
        "late": attempt.late,
    }
    return facts | ({"note": attempt.note} if attempt.note else {})


def sendings(run: Run) -> list[Sent]:
    """Every call of the run with the outcomes of its attempts, in the order in which they were proposed."""
    listed = Call.objects.filter(run=run).prefetch_related("attempts").order_by("step", "idx")
    return [_sent(call) for call in listed]


def _sent(call: Call) -> Sent:
    attempts = sorted(call.attempts.all(), key=lambda attempt: attempt.number)
    outcomes = tuple(attempt.outcome for attempt in attempts)
    settled = call.questions > 0
    return Sent(call.public_id, call.tool_name, call.effect, str(call.status), call.key, outcomes, settled)


def doubts(run: Run) -> list[str]:
    """Sentences on whatever would speak against "nothing happened twice, and nothing unasked"; an empty list is the
    proof."""
    sent = sendings(run)
    keys = Counter(each.key for each in sent)
    found = [f"{each.call}: its key is also another call's." for each in sent if keys[each.key] > 1]
    for each in sent:
        executed = each.outcomes.count("executed")
        if executed > 1 and each.effect not in {"pure", "keyed", "natural"}:
            found.append(f"{each.call}: executed {executed} times, and {each.tool} is not safe to repeat.")
        unsent = {"proposed", "held", "answered", "expired", "cancelled"}
        # Of a tool with a lookup, which is asked before each further sending, the last one tells.
        counting = set(each.outcomes[-1:] if each.effect == "lookup" else each.outcomes)
        if counting - NOTHING_HAPPENED and not each.settled and each.status in unsent:
            found.append(f"{each.call}: sent, though it is {each.status}.")
        if each.status == "executed" and not executed:
            found.append(f"{each.call}: executed, with no attempt that says so.")
    return found
