"""Breakpoints: a run stops at a place where its agent's definition wants people to look, and goes on when they say so.

A breakpoint belongs to a place: the last step of the run, or its input. Once people have passed it there, the run does
not stop there again; where nobody did in time, and an operator lets the run go on, they are asked anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final
from uuid import UUID

from django.db import models

from approvals import gate, rows
from approvals.ledger import canonical
from runtime.agents import agent as agents
from runtime.checkpoints import Checkpoint
from runtime.definitions.interrupts import ALWAYS, Interrupts
from runtime.leases import Lease
from runtime.runs import Run

SHOWN_MAX: Final = 256 * 1024
"""The most bytes of a state that people are shown."""


class Breakpoint(rows.Row):
    """One stop of a run behind the step ``seq``. ``consumed_seq`` is the checkpoint with which it went on."""

    PREFIX = "brk"

    class Place(models.TextChoices):
        NODE = "node"
        STEER = "steer"
        FINISH = "finish"

    class Status(models.TextChoices):
        OPEN = "open"
        PASSED = "passed"
        ANSWERED = "answered"
        REJECTED = "rejected"
        EXPIRED = "expired"
        CANCELLED = "cancelled"

    MOVES: ClassVar[Mapping[str, frozenset[str]]] = {
        "open": frozenset({"passed", "answered", "rejected", "expired", "cancelled"}),
    }

    run = models.ForeignKey(Run, models.PROTECT, related_name="breakpoints", db_constraint=False)
    seq = models.PositiveBigIntegerField()
    place = models.CharField(max_length=8, choices=Place.choices)
    node = models.CharField(max_length=120, blank=True)
    goto = models.CharField(max_length=120, blank=True)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.OPEN)
    approval = models.CharField(max_length=40)
    digest = models.CharField(max_length=64, blank=True)
    consumed_seq = models.PositiveBigIntegerField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run"], condition=models.Q(consumed_seq=None), name="one_breakpoint_of_a_run_at_a_time"
            ),
            models.CheckConstraint(
                condition=models.Q(status__in=["open", "passed", "answered", "rejected", "expired", "cancelled"]),
                name="breakpoint_status_is_known",
            ),
        ]
        indexes = [
            models.Index(fields=["run", "seq"], name="breakpoints_of_a_place"),
            models.Index(fields=["created_at"], condition=models.Q(status="open"), name="breakpoints_open"),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def subject(self) -> str:
        """What people are asked about it is asked under this name."""
        return f"{rows.public_id(Run.PREFIX, self.run_id)}:breakpoint:{self.seq}"


# Questions


@dataclass(frozen=True)
class Position:
    """Where a run stands: behind which step, or its input, and which node that was."""

    seq: int
    kind: str
    node: str


def standing(run_id: UUID) -> Breakpoint | None:
    """The breakpoint at which the run stands: open, or settled and not gone on from."""
    return _STANDING.first(run=run_id)


_STANDING = rows.Ready(lambda: Breakpoint.objects.filter(run_id=rows.Slot("run"), consumed_seq=None).order_by("pk")[:1])


def position(run_id: UUID) -> Position:
    """Where the run stands."""
    steps = Checkpoint.objects.filter(run_id=run_id, kind__in=["input", "step"])
    return Position(*steps.values_list("seq", "kind", "node").latest("seq"))


def wanted(run_id: UUID, interrupts: Interrupts, node: str) -> Breakpoint | None:
    """The breakpoint at which the run has to stop before it takes the step of this node; None if it may go on."""
    here = position(run_id)
    # The row that says so proves nothing; the checkpoint with which the run went on is chained to the others.
    if Checkpoint.objects.filter(run_id=run_id, seq__gt=here.seq, kind=Checkpoint.Kind.DECISION).exists():
        return None
    before = list(Breakpoint.objects.filter(run_id=run_id, seq=here.seq).order_by("created_at"))
    place = before[-1].place if before else _place(here, interrupts, node)
    return Breakpoint(run_id=run_id, seq=here.seq, place=place, node=here.node, goto=node) if place else None


def _place(here: Position, interrupts: Interrupts, node: str) -> str:
    stepped = here.kind == Checkpoint.Kind.STEP
    if stepped and interrupts.mode == ALWAYS:
        return Breakpoint.Place.STEER
    stops = (stepped and interrupts.stops_after(here.node)) or interrupts.stops_before(node)
    return Breakpoint.Place.NODE if stops else ""


# Verbs


@dataclass(frozen=True)
class Sight:
    """What people see at a breakpoint: whose run it is, its state, and what was said in it."""

    agent: str
    title: str
    state: Mapping[str, Any]
    messages: list[dict[str, str]]


def question(lease: Lease, stop: Breakpoint, interrupts: Interrupts, sight: Sight) -> gate.Asked:
    """What people are asked at this breakpoint. Raises agents.Unusable for a state that is too large to be shown."""
    try:
        value = canonical.encode(interrupts.shown(sight.state))
    except canonical.Unrepresentable as fault:
        told = f"Its variables are nested too deep to be shown: {fault}."
        raise agents.Unusable(f"{told} Name those that matter in the agent's state_schema.") from fault
    if len(value) > SHOWN_MAX:
        told = f"Its variables have {len(value):,} bytes, and people are shown {SHOWN_MAX:,} at most."
        raise agents.Unusable(f"{told} Name those that matter in the agent's state_schema.")
    steered = stop.place != Breakpoint.Place.NODE and isinstance(sight.state.get("messages", []), list)
    allowed = ["approve", *(["edit"] if interrupts.editable else []), *(["respond"] if steered else []), "reject"]
    return gate.Asked(
        workspace_id=lease.workspace_id,
        subject=stop.subject,
        chain=lease.public_id,
        agent=sight.agent,
        agent_id=rows.public_id("agt", lease.agent_id),
        kind="breakpoint",
        title=_title(stop, sight.agent),
        value=value,
        schema=interrupts.shown_schema,
        allowed_decisions=tuple(allowed),
        editable=interrupts.editable,
        response_schema=dict(agents.TEXT) if steered else {},
        tool=f"breakpoint.{stop.place}",
        context={"reason": "", "messages": sight.messages, "title": sight.title},
        requester_id=lease.requester_id,
        rehearsal=lease.rehearsal,
    )


def _title(stop: Breakpoint, agent: str) -> str:
    if stop.place == Breakpoint.Place.FINISH:
        return f"{agent} wants to finish"
    if stop.place == Breakpoint.Place.STEER:
        return f"{agent} has done {_named(stop.node)}, and may be steered"
    after = f"has done {_named(stop.node)} and " if stop.node else ""
    return f"{agent} {after}stops before {_named(stop.goto)}"


def _named(node: str) -> str:
    return f"step {int(node) + 1}" if node.isdigit() else f"“{node}”"


def write(lease: Lease, stop: Breakpoint, asked: gate.Asked, checkpoint_mac: str) -> None:
    """Stop here: write the breakpoint and ask people, in an open transaction that holds the run's row. Raises
    agents.Unusable where nobody can be asked."""
    held = gate.ask(asked, checkpoint_mac=checkpoint_mac, by=asked.agent_id)
    if held.approval_id is None:
        raise agents.Unusable(held.reason)
    stop.workspace_id, stop.approval = lease.workspace_id, held.approval_id
    stop.save(force_insert=True)
