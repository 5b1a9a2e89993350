"""Halts: somebody stopped an agent, or the whole workspace. Until it is let go on nobody decides, nothing is sent, and
no deadline runs.

The row is what is asked at every turn. Clearance and the sums of frozen time believe the ledger alone: whoever deletes
or writes a row past Placet lets nothing run, and moves no deadline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any, ClassVar, Final
from uuid import UUID

from django.db import models

from approvals import approvals, people, rows, vouched
from approvals.approvals import Approval
from approvals.ledger import canonical, entries, followed, sealing
from approvals.people import Person, Workspace
from approvals.votes import Refused as Refused

ALL: Final = ""
"""In the place of an agent's name: every agent of the workspace."""
REASON_MAX: Final = 500
_BEGUN: Final = "halt.begun"
_ENDED: Final = "halt.ended"


class Halt(rows.Row):
    """One stop, from when it was pressed until it was let go on. ``agent`` is the agent's name, empty for all of
    them; the ``reason`` is sealed."""

    PREFIX = "hlt"
    MOVES: ClassVar = {"on": frozenset({"over"})}

    class Status(models.TextChoices):
        ON = "on"
        OVER = "over"

    agent = models.CharField(max_length=120, blank=True)
    status = models.CharField(max_length=4, choices=Status.choices, default=Status.ON)
    reason = models.BinaryField(default=b"")
    begun_at = models.DateTimeField()
    begun_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    ended_at = models.DateTimeField(null=True)
    ended_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "agent"], condition=models.Q(status="on"), name="one_halt_at_a_time"
            ),
            models.CheckConstraint(condition=models.Q(status__in=["on", "over"]), name="halt_status_is_known"),
        ]

    @property
    def who(self) -> str:
        """Whoever pressed it, as a sentence begins."""
        return self.begun_by.name if self.begun_by else "An operator"

    @property
    def told(self) -> str:
        """What stands still, and by whom, as a sentence."""
        return f"{self.who} stopped {self.agent or 'all agents'}."

    @property
    def said(self) -> str:
        """What was said when it was pressed, for a page: nothing, or that it is not what was sealed."""
        try:
            return self.clear_reason()
        except sealing.Tampered:
            return "What was said is not what was sealed."

    def clear_reason(self) -> str:
        """What was said when it was pressed, or nothing. Raises Tampered."""
        if not self.reason:
            return ""
        return sealing.unseal(self.workspace_id, bytes(self.reason), place=_place(self.pk)).decode()


def _place(key: UUID) -> str:
    return f"approvals_halt.reason:{key.hex}"


# Questions


def on(workspace_id: UUID) -> list[Halt]:
    """The stops that are on, that of the whole workspace first."""
    return _ON(workspace=workspace_id)


_ON = rows.Ready(
    lambda: (
        Halt.objects.select_related("begun_by")
        .filter(workspace_id=rows.Slot("workspace"), status="on")
        .order_by("agent", "begun_at")
    )
)


def over(halted: Iterable[Halt], agent: str) -> Halt | None:
    """The first of these stops that holds an agent of this name."""
    return next((one for one in halted if one.agent in {ALL, agent}), None)


def of(approval: Approval) -> Halt | None:
    """The stop that freezes an approval now, while it is open."""
    return over(on(approval.workspace_id), approval.agent) if freezes(approval) else None


def freezes(approval: Approval) -> bool:
    """Whether a stop would freeze it: it is open, and an agent's matter."""
    return approval.status == Approval.Status.PENDING and approval.kind != Approval.Kind.CHANGE


def operated(person: Any, workspace_id: UUID) -> set[str]:
    """The public ids of the workspace's agents that the person may operate."""
    return people.operated_by(person, workspace_id)


# By the ledger

Stretch = tuple[datetime, datetime]
_OPEN_END: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class _Told:
    """Since when each agent is stopped, and when each was."""

    since: dict[str, datetime] = field(default_factory=dict)
    spans: tuple[tuple[str, datetime, datetime], ...] = ()

    def after(self, told: Iterable[dict[str, Any]]) -> _Told:
        since, spans = dict(self.since), list(self.spans)
        for entry in told:
            agent, at = str(entry["agent"]), datetime.fromisoformat(entry["at"])
            if entry["kind"] == _BEGUN:
                since.setdefault(agent, at)
            elif agent in since:
                spans.append((agent, since.pop(agent), at))
        return _Told(since, tuple(spans))

    def stretches(self, agent: str) -> list[Stretch]:
        """The times in which an agent stood still, by itself or with all others, those that touch made one."""
        spans = [*self.spans, *((name, begun, _OPEN_END) for name, begun in self.since.items())]
        merged: list[Stretch] = []
        for begun, ended in sorted((begun, ended) for name, begun, ended in spans if name in {ALL, agent}):
            if merged and begun <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], ended))
            else:
                merged.append((begun, ended))
        return merged


_TOLD = followed.Followed({_BEGUN, _ENDED}, _Told(), _Told.after)


def since(workspace_id: UUID, agent: str) -> datetime | None:
    """Since when an agent stands still without a break, None where it does not. Raises ledger.about.Broken."""
    stretches = _TOLD.of(workspace_id).stretches(agent)
    return stretches[-1][0] if stretches and stretches[-1][1] == _OPEN_END else None


def frozen(workspace_id: UUID, agent: str, begun: datetime, until: datetime) -> timedelta:
    """For how long an agent stood still between two moments. Raises ledger.about.Broken."""
    clipped = ((max(start, begun), min(end, until)) for start, end in _TOLD.of(workspace_id).stretches(agent))
    return sum((end - start for start, end in clipped if end > start), timedelta())


def unexplained(workspace_id: UUID) -> list[str]:
    """The stops that are on and that no entry of the ledger began, and those that are on by the ledger alone."""
    told = _Told().after(entries.read(workspace_id, followed.CHAIN, only=[_BEGUN, _ENDED]))
    here = {one.agent for one in on(workspace_id)}
    found = [f"no entry stopped {agent or 'all agents'}." for agent in sorted(here - told.since.keys())]
    return found + [
        f"{agent or 'all agents'} stopped by the ledger, and no row says so."
        for agent in sorted(told.since.keys() - here)
    ]


# Verbs


def begin(
    workspace: Workspace, agent: models.Model | None = None, *, by: Person | None, reason: str = ""
) -> Halt | Refused:
    """Stop an agent or, without one, all of them: at once, until it is ended. For those who operate the agent or
    administer the workspace; ``by`` None is an operator at the command line."""
    name = _name(agent)
    with rows.within(workspace):
        # Also while the ledger proves nothing: to stop is never the wrong way.
        if refused := _not_allowed(workspace, agent, by, may=people.may):
            return refused
        _one_at_a_time(workspace)
        if any(one.agent == name for one in on(workspace.pk)):
            return Refused("halted_already", f"{name or 'Everything'} is stopped already.")
        halt = Halt(workspace=workspace, agent=name, begun_by=by, begun_at=rows.now())
        said = reason.replace("\x00", "").strip()[:REASON_MAX]
        halt.reason = sealing.seal(workspace.pk, said.encode(), place=_place(halt.pk)) if said else b""
        halt.save(force_insert=True)
        _record(halt, _BEGUN, {"reason_digest": canonical.sha256_hex(said.encode())}, by)
        for key in _asked(workspace, name).values_list("pk", flat=True):
            rows.publish(workspace.pk, rows.public_id(Approval.PREFIX, key))
    return halt


def end(workspace: Workspace, agent: models.Model | None = None, *, by: Person | None) -> Halt | Refused:
    """Let an agent, or all of them, go on: the time of the stop is given back to every deadline that it froze. For
    those who could have stopped it. Raises ledger.about.Broken."""
    name = _name(agent)
    with rows.within(workspace):
        if refused := _not_allowed(workspace, agent, by, may=vouched.may):
            return refused
        _one_at_a_time(workspace)
        held = on(workspace.pk)
        halt = next((one for one in held if one.agent == name), None)
        if halt is None:
            return Refused("not_halted", f"{name or 'The workspace'} is not stopped.")
        thawed = _thaw(workspace, name, still={one.agent for one in held} - {name})
        rows.move(Halt, halt.pk, frm="on", to="over", ended_at=rows.now(), ended_by=by)
        _record(halt, _ENDED, {"approvals": thawed}, by)
    return halt


def _name(agent: Any) -> str:
    return str(agent.name) if agent is not None else ALL


def _not_allowed(
    workspace: Workspace, agent: models.Model | None, by: Person | None, *, may: Callable[..., bool]
) -> Refused | None:
    if by is None or may(by, "administer", workspace):
        return None
    if agent is not None and may(by, "operate", agent):
        return None
    told = f"operate {_name(agent)} or administer the workspace" if agent else "administer the workspace"
    return Refused("not_allowed", f"Only those who {told} may do this.")


def _one_at_a_time(workspace: Workspace) -> None:
    """Two who end two stops at the same moment would each leave the deadlines to the other."""
    Workspace.objects.select_for_update(no_key=True).get(pk=workspace.pk)


def _record(halt: Halt, kind: str, body: dict[str, Any], by: Person | None) -> None:
    told = {"halt": halt.public_id, "agent": halt.agent} | body
    entries.append(halt.workspace_id, followed.CHAIN, kind, told, by=by.public_id if by else "system")


def _asked(workspace: Workspace, agent: str) -> models.QuerySet[Approval]:
    """What a deadline runs for: what is open, and what was approved and is not known to have been sent."""
    unsent = models.Q(status="approved", kind=Approval.Kind.CALL, outcome=Approval.Outcome.NONE)
    found = Approval.objects.filter(models.Q(status="pending") | unsent, workspace=workspace).exclude(kind="change")
    return found.filter(agent=agent) if agent else found


def _thaw(workspace: Workspace, agent: str, *, still: set[str]) -> int:
    """Give the frozen time back, but for what another stop still holds; how many approvals got it."""
    if ALL in still:
        return 0
    now = rows.now()
    found = _asked(workspace, agent).exclude(agent__in=still).defer("context").order_by("pk")
    return sum(_give_back(approval, now) for approval in found.select_for_update(no_key=True))


def _give_back(approval: Approval, now: datetime) -> bool:
    begun = since(approval.workspace_id, approval.agent)
    if begun is None or not approval.holds():
        return False  # what was tampered with is not signed anew
    approval.frozen_seconds += max(ceil((now - max(begun, approval.created_at)).total_seconds()), 0)
    columns = {"frozen_seconds": approval.frozen_seconds, "mac": approvals.sign(approval)}
    Approval.objects.filter(pk=approval.pk).update(**columns)
    rows.publish(approval.workspace_id, approval.public_id)
    return True
