"""Floods: more questions than people can answer with care. What is too much is refused, or waits in one row of its
own; nothing is ever let through because there is a lot of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet

from approvals import expiry, policies, rows
from approvals.approvals import Approval
from approvals.revisions import Revision
from approvals.rulings import UNPROVEN
from approvals.said import Attempt, Decision
from approvals.votes import Ballot, Refused

MANY: Final = 40
"""So many questions of one agent are listed one by one; more are one row."""
ASKED_BY_AGENTS: Final = (Approval.Kind.CALL, Approval.Kind.QUESTION)
"""What an agent asks of its own accord; everything else is asked once for each run."""
YES: Final = ("approve", "edit", "respond", "choose")
MINUTE: Final = timedelta(minutes=1)


def full(workspace_id: UUID, agent: str) -> str:
    """Why an agent may ask nothing more until people have answered; nothing where it may."""
    try:
        most = _limits(workspace_id).get("open_per_agent")
    except UNPROVEN as fault:
        return str(fault)
    if most is None:
        return ""
    asked = Approval.objects.filter(expiry.still_open(rows.Now()), workspace_id=workspace_id, agent=agent)
    waiting = asked.filter(kind__in=ASKED_BY_AGENTS).count()
    if waiting < most:
        return ""
    return (
        f"People are asked {waiting} things by {agent} already. Nothing more is asked before they have answered some."
    )


def too_fast(vote: Ballot, attempt: Attempt) -> Refused | None:
    """Why a yes comes too soon after the others that the same person gave, whatever they were about. A no and a stop
    always come in time."""
    if attempt.verdict not in YES:
        return None
    try:
        most = _limits(vote.approval.workspace_id).get("yeses_per_minute")
    except UNPROVEN as fault:
        return Refused("tampered", str(fault))
    if most is None:
        return None
    rows.one_at_a_time(f"yeses {vote.approval.workspace_id.hex} {attempt.by.pk.hex}")
    given = Decision.objects.filter(workspace_id=vote.approval.workspace_id, person=attempt.by, verdict__in=YES)
    # An edit may be its editor's yes to what came of it as well: that is one. So is what is said again of one revision.
    edited = Revision.objects.filter(approval=OuterRef("approval"), number=OuterRef("revision"), editor=attempt.by)
    given = given.exclude(Exists(edited), verdict="approve").filter(decided_at__gt=rows.now() - MINUTE)
    others = given.exclude(approval=vote.approval, revision=vote.revision.number)
    if others.values("approval", "revision", "verdict").distinct().count() < most:
        return None
    told = f"You said yes {most} times within a minute, and policy lets nobody be faster. Take your time with this one."
    return Refused("too_fast", told)


def _limits(workspace_id: UUID) -> Mapping[str, int]:
    """What the policy in force says; nothing where there is none. Raises Forged."""
    policy = policies.current(workspace_id)
    limits: Mapping[str, int] = policy.contents.get("limits", {}) if policy else {}
    return limits


@dataclass(frozen=True)
class Digest:
    """All that one agent asks, as one row: how much it is, and when the first of it is due."""

    agent: str
    count: int
    due: datetime
    high: int
    """How many of them are of high risk."""


def digests(found: QuerySet[Approval]) -> list[Digest]:
    """The agents that ask more than MANY things among these approvals, by when the first is due. One query."""
    asking = (
        found.order_by()
        .values("agent")
        .annotate(count=Count("pk"), due=Min("ends_at"), high=Count("pk", filter=Q(risk="high")))
    )
    return [Digest(**each) for each in asking.filter(count__gt=MANY).order_by("due", "agent")]
