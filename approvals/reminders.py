"""Reminders: those who are asked and have not decided are told again, each within their working hours.

Each person has a time of their own: so long after they were last told as the rule says, or at once after a nudge. Where
they do not work then it comes when they do, once. Nothing else waits for anybody's hours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from approvals import approvals, deputies, due_steps, hours, rows
from approvals.approvals import Approval
from approvals.due_steps import DueStep
from approvals.people import Person
from approvals.votes import Ballot
from approvals.weeks import Week

MOST: Final = 20
"""So often one person is told about one approval before its reminders end for them; what a nudge told counts."""
SOONEST: Final = timedelta(minutes=1)
"""How soon it is looked again where nobody was told: somebody may have come back, or taken a vote back."""


@dataclass(frozen=True)
class History:
    """Whom an approval's reminders and nudges told: when last, and how often; and when it was last nudged."""

    last: Mapping[UUID, datetime]
    times: Mapping[UUID, int]
    nudged: datetime | None = None

    def due(self, person: UUID, every: timedelta | None, now: datetime) -> datetime | None:
        """When a person is to be told, whenever they work; None for never again. Whom nobody told is due now."""
        last = self.last.get(person)
        if last is None or (self.nudged and last < self.nudged):
            return now
        return last + every if every and self.times[person] < MOST else None


def history_of(approval: Approval) -> History:
    """The history of an approval, in one query."""
    last: dict[UUID, datetime] = {}
    times: dict[UUID, int] = {}
    nudged = None
    for step in due_steps.done_of(approval):
        assert step.done_at is not None, "only what was done has been told"
        if step.step == DueStep.Step.ESCALATE:
            continue
        for told in step.told:
            if key := rows.parse_id(Person.PREFIX, told):
                last[key], times[key] = step.done_at, times.get(key, 0) + 1
        nudged = step.done_at if step.step == DueStep.Step.NUDGE else nudged
    return History(last, times, nudged)


@dataclass(frozen=True)
class Round:
    """Who is told at a moment, and when somebody is next to be; None where nobody is."""

    told: frozenset[UUID]
    following: datetime | None


def round_of(
    asked: set[UUID], known: History, weeks: Mapping[UUID, Week], every: timedelta | None, now: datetime
) -> Round:
    """Whom to tell now among those who are asked, and when to look again."""
    told, ahead = set(), []
    for person in asked:
        due = known.due(person, every, now)
        if due is None:
            continue
        opens = opening(weeks.get(person), max(due, now))
        if opens <= now:
            told.add(person)
        else:
            ahead.append(opens)
    if every and (told or ahead or not asked):
        ahead.append(now + (every if told else max(every, SOONEST)))
    return Round(frozenset(told), min(ahead, default=None))


def opening(week: Week | None, at: datetime) -> datetime:
    """The first moment from this one on at which whoever has this week may be told: at once without one."""
    return week.opens(at) if week else at


# Verbs


def remind(due: DueStep, vote: Ballot, now: datetime) -> bool:
    """Remind those who are still asked and work now, and write down when somebody is next to be."""
    approval = vote.approval
    every = timedelta(seconds=seconds) if (seconds := vote.rule.get("remind_after")) else None
    asked = due_steps.still_asked(vote) - deputies.away(approval.workspace_id)
    found = round_of(asked, history_of(approval), hours.weeks_of(asked), every, now)
    if not found.told:
        _look_later(due, found.following)
        return False
    told = due_steps.named(found.told)
    due_steps.done(due, told, now)
    body: dict[str, Any] = {"number": due.number, "told": told}
    approvals.record(approval, "approval.reminded", body, by="system")
    rows.publish(approval.workspace_id, approval.public_id)
    if found.following:
        look_at(approval, found.following)
    return True


def _look_later(due: DueStep, at: datetime | None) -> None:
    if at is None:
        due.delete()
    else:
        DueStep.objects.filter(pk=due.pk).update(due_at=at)


def look_at(approval: Approval, at: datetime) -> None:
    """See to it that the sweep looks by then whom to remind, sooner if it would have anyway. Under the approval's
    lock."""
    steps = DueStep.objects.filter(approval=approval, step=DueStep.Step.REMIND)
    waits = steps.filter(done_at__isnull=True).first()
    if waits is not None:
        DueStep.objects.filter(pk=waits.pk).update(due_at=min(waits.due_at, at))
        return
    number = max(steps.values_list("number", flat=True), default=0) + 1
    made = DueStep(workspace_id=approval.workspace_id, approval=approval, step=DueStep.Step.REMIND, number=number)
    made.due_at = at
    made.save(force_insert=True)
