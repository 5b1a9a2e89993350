"""Deadlines: what is due while people have not decided, as rows that the sweep reads: reminders, and levels that begin.

A row is due once. Whoever takes it up locks the approval first and looks whether it still matters; it is done by the
same commit. Nothing here lets anybody decide: who may is read from the rule and the clock.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import DatabaseError

from approvals import approvals, due_steps, escalation, expiry, halts, questions, reminders, revisions, rows, votes
from approvals.approvals import Approval
from approvals.due_steps import DueStep
from approvals.rulings import UNPROVEN
from approvals.votes import Ballot

MOST_TRIES: Final = 5
"""So often a row is taken up that cannot be done; then it is given up, loudly."""
LOOK_AGAIN: Final = timedelta(minutes=1)
"""How soon what a stop froze is looked at again."""

log = logging.getLogger(__name__)


# Verbs


def plan(approval: Approval, rule: dict[str, Any]) -> None:
    """Write down what will be due for an approval that was just opened, inside its transaction."""
    steps = [
        DueStep(step=DueStep.Step.ESCALATE, number=number, due_at=escalation.begins(approval, rule, number))
        for number in range(1, len(escalation.levels(rule)) + 1)
    ]
    if "remind_after" in rule:
        first = approval.expires_at - timedelta(seconds=escalation.lasts(rule) - rule["remind_after"])
        steps.append(DueStep(step=DueStep.Step.REMIND, number=1, due_at=first))
    for step in steps:
        step.workspace_id, step.approval = approval.workspace_id, approval
    DueStep.objects.bulk_create(steps)


questions.OPENED.append(plan)


def do_due(limit: int = 100) -> int:
    """Take up what is due, the oldest first, each in its own transaction. Returns how many times people were told. One
    that fails is tried again later and keeps no other waiting."""
    due = DueStep.objects.filter(done_at__isnull=True, due_at__lte=rows.NowOnce()).order_by("due_at", "number")
    return sum(_take_up(*one) for one in due.values_list("workspace_id", "pk")[:limit])


def _take_up(workspace_id: UUID, key: UUID) -> bool:
    try:
        with rows.within(workspace_id):
            return _do(key)
    except (*UNPROVEN, DatabaseError) as fault:
        log.error("What is due for an approval cannot be told: %s", fault)
    with rows.within(workspace_id):
        _postpone(key)
    return False


def _postpone(key: UUID) -> None:
    """Put a row that failed behind the others, and after some tries away."""
    due = DueStep.objects.filter(pk=key, done_at__isnull=True).first()
    if due is None:
        return
    due.tries += 1
    if due.tries >= MOST_TRIES:
        log.error("What was due for %s is given up after %s tries", rows.public_id("apr", due.approval_id), due.tries)
        due.delete()
        return
    due.due_at = rows.now() + timedelta(minutes=2**due.tries)
    due.save(update_fields=["tries", "due_at"])


def _do(key: UUID) -> bool:
    asked = DueStep.objects.filter(pk=key).values_list("approval_id", flat=True).first()
    # The approval first, like everybody else, and then the row: another sweep may have done it meanwhile.
    approval = Approval.objects.select_for_update(no_key=True).filter(pk=asked).first() if asked else None
    due = DueStep.objects.filter(pk=key, done_at__isnull=True).first()
    if approval is None or due is None:
        return False
    now = rows.now()
    if halts.of(approval):  # its time stands still; when it goes on, a level begins as much later
        DueStep.objects.filter(pk=key).update(due_at=now + LOOK_AGAIN)
        return False
    if not Approval.objects.filter(expiry.still_open(now), pk=approval.pk).exists():
        due.delete()
        return False
    vote = votes.ballot(approval, revisions.current_revision(approval))
    return _escalate(due, vote, now) if due.step == DueStep.Step.ESCALATE else reminders.remind(due, vote, now)


def _escalate(due: DueStep, vote: Ballot, now: datetime) -> bool:
    """Say that a level has begun, to those who are new to it and to those who were asked before."""
    approval = vote.approval
    if due.number > len(escalation.levels(vote.rule)):  # an edit came under a rule that does not escalate
        due.delete()
        return False
    begins = escalation.begins(approval, vote.rule, due.number)
    if begins > now:  # a stop has kept the time from running
        DueStep.objects.filter(pk=due.pk).update(due_at=begins)
        return False
    teams = escalation.added(vote.rule, due.number)
    told = due_steps.named(due_steps.still_asked(vote))
    due_steps.done(due, told, now)
    Approval.objects.filter(pk=approval.pk).update(teams=sorted({*approval.teams, *teams}))
    body = {"level": due.number, "teams": teams, "told": told}
    approvals.record(approval, "approval.escalated", body, by="system")
    rows.publish(approval.workspace_id, approval.public_id)
    return True
