"""Nudges: whoever waits for an answer asks, with one press, that those who can still give it be told once more.

It goes the way reminders go, working hours included, and decides nothing: no deadline, level or vote moves by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from approvals import approvals, deputies, due_steps, expiry, halts, hours, people, reminders, revisions, rows, votes
from approvals.approvals import Approval
from approvals.due_steps import DueStep
from approvals.people import Person
from approvals.rulings import UNPROVEN
from approvals.votes import Refused

PAUSE: Final = timedelta(minutes=15)
"""An approval is nudged at most once in this time, whoever presses."""
NOWHERE: Final = Refused("not_found", "There is no such approval.")


@dataclass(frozen=True)
class Nudged:
    """Who was told at once, how many are told when their working hours begin, and when it may be pressed again."""

    told: list[Person]
    later: int
    again_at: datetime

    def __str__(self) -> str:
        names = ", ".join(person.name for person in self.told) or "Nobody at once"
        later = f"; when their working hours begin: {self.later} more" if self.later else ""
        return f"Told: {names}{later}."


# Questions


def may(approval: Approval, person: Person) -> bool:
    """Whether somebody may nudge: the member for whom the agent asks, or who operates the agent or administers the
    workspace."""
    members = people.Membership.objects.filter(workspace=approval.workspace_id, person=person, person__is_active=True)
    if not members.exists():
        return False
    if person.pk == approval.requester_id or people.may(person, "administer", approval.workspace):
        return True
    agent = import_string(settings.PLACET_AGENT_NAMED)(approval.workspace_id, approval.agent)
    return agent is not None and people.may(person, "operate", agent)


def again_at(approval: Approval) -> datetime | None:
    """When an approval may be nudged again; None where nobody has nudged it so far."""
    pressed = _pressed(approval)
    return pressed[-1].due_at + PAUSE if pressed else None


def _pressed(approval: Approval) -> list[DueStep]:
    return list(DueStep.objects.filter(approval=approval, step=DueStep.Step.NUDGE).order_by("number"))


# The verb


def nudge(workspace_id: UUID, approval_id: UUID, *, by: Person | None) -> Nudged | Refused:
    """Tell those who can still decide an open approval that it waits for them; ``by`` None is an operator at the
    command line. Never raises for a domain answer."""
    with rows.within(workspace_id):
        mine = Approval.objects.filter(workspace_id=workspace_id, pk=approval_id)
        found = mine.select_for_update(no_key=True, of=("self",)).select_related("workspace", "decided_by").first()
        if found is None:
            return NOWHERE
        now = rows.now()
        return _refusal(found, by, now) or _tell(found, by, now)


def _refusal(approval: Approval, by: Person | None, now: datetime) -> Refused | None:
    if by is not None and not may(approval, by):
        told = "Only whoever the agent asks for, or those who operate the agent or administer the workspace, may nudge."
        return Refused("not_allowed", told)
    if approval.status != Approval.Status.PENDING:
        return votes.too_late(approval)
    if halt := halts.of(approval):
        return Refused("halted", f"{halt.told} Nobody is nudged until it goes on.")
    if not Approval.objects.filter(expiry.still_open(now), pk=approval.pk).exists():
        return Refused("too_late", f"It expired at {approval.ends_at:%H:%M:%S} UTC; nobody decided in time.")
    again = again_at(approval)
    if again and again > now:
        minutes = PAUSE // timedelta(minutes=1)
        told = f"It was nudged within the last {minutes} minutes. It may be again from {again:%H:%M:%S} UTC on."
        return Refused("too_soon", told)
    return None


def _tell(approval: Approval, by: Person | None, now: datetime) -> Nudged | Refused:
    try:
        vote = votes.ballot(approval, revisions.current_revision(approval))
    except UNPROVEN as fault:
        return Refused("tampered", str(fault))
    asked = due_steps.still_asked(vote) - deputies.away(approval.workspace_id) - ({by.pk} if by else set())
    if not asked:
        return Refused("nobody_left", "Nobody who could still decide it is here to be told.")
    weeks = hours.weeks_of(asked)
    ahead = {key: opens for key in asked if (opens := reminders.opening(weeks.get(key), now)) > now}
    told = sorted(asked - ahead.keys())
    _write(approval, by, now, due_steps.named(told), len(ahead))
    if ahead:
        reminders.look_at(approval, min(ahead.values()))
    return Nudged(list(Person.objects.filter(pk__in=told).order_by("name", "pk")), len(ahead), now + PAUSE)


def _write(approval: Approval, by: Person | None, now: datetime, told: list[str], later: int) -> None:
    number = len(_pressed(approval)) + 1
    made = DueStep(workspace_id=approval.workspace_id, approval=approval, step=DueStep.Step.NUDGE, number=number)
    made.due_at, made.done_at, made.told, made.asked_by = now, now, told, by
    made.save(force_insert=True)
    body: dict[str, Any] = {"number": number, "told": told, "later": later}
    approvals.record(approval, "approval.nudged", body, by=by.public_id if by else "system")
    rows.publish(approval.workspace_id, approval.public_id)
