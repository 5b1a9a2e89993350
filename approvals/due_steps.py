"""Due steps: what is to be done for an approval while people have not decided, and whom it was told."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.db import models

from approvals import rows, votes
from approvals.approvals import Approval
from approvals.people import Person
from approvals.votes import Ballot


class DueStep(rows.Row):
    """One thing that is due for an approval. ``told`` are the ids of those whom it was told, once it was done; what
    never came to it is deleted. A nudge is done when it is pressed, by ``asked_by``, or an operator where that is
    nobody."""

    class Step(models.TextChoices):
        REMIND = "remind"
        ESCALATE = "escalate"
        NUDGE = "nudge"

    approval = models.ForeignKey(Approval, models.PROTECT, related_name="due_steps")
    step = models.CharField(max_length=8, choices=Step.choices)
    number = models.PositiveIntegerField()
    due_at = models.DateTimeField()
    done_at = models.DateTimeField(null=True)
    told = models.JSONField(default=list)
    tries = models.PositiveIntegerField(default=0)
    asked_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["approval", "step", "number"], name="one_due_of_a_number")]
        indexes = [
            models.Index(fields=["due_at"], condition=models.Q(done_at__isnull=True), name="due_and_not_done"),
        ]


# Questions


def done_of(approval: Approval) -> list[DueStep]:
    """What was told about an approval while people had not decided, in order."""
    done = DueStep.objects.filter(approval=approval, done_at__isnull=False).select_related("asked_by")
    return list(done.order_by("done_at", "number"))


def still_asked(vote: Ballot) -> set[UUID]:
    """Those who may decide and have not."""
    spoken = {one.person_id for one in (*vote.yeses, *vote.answers)} | {votes.holder(one) for one in vote.yeses}
    return vote.may_speak - vote.barred - spoken


def named(people: Iterable[UUID]) -> list[str]:
    """How a step names those it told."""
    return sorted(rows.public_id(Person.PREFIX, key) for key in people)


# Verbs


def done(due: DueStep, told: list[str], at: datetime) -> None:
    """Say that it was done, and whom it told."""
    DueStep.objects.filter(pk=due.pk).update(done_at=at, told=told)
