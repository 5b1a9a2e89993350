"""Passing a breakpoint: what people decided there becomes part of the run, in one checkpoint of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db.models import Q

from approvals import gate, rows
from approvals.ledger import canonical, entries
from runtime import checkpoints, leases, state
from runtime.agents.agent import OVER
from runtime.breakpoints import Breakpoint
from runtime.checkpoints import Checkpoint
from runtime.crashpoints import reach
from runtime.definitions.interrupts import Interrupts
from runtime.leases import Lease


class NotPassed(Exception):
    """What people said cannot take effect, or nobody said anything in time: the run goes no further by itself."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Passage:
    """What passing the breakpoint does: operations on the state, and whether the run ends with it."""

    operations: list[dict[str, Any]] = field(default_factory=list)
    ends: bool = False


def passage(stop: Breakpoint, interrupts: Interrupts, held: dict[str, Any]) -> Passage:
    """What people decided at the breakpoint, proved once more. ``held`` is the run's state. Raises NotPassed, or
    leases.CancelWanted where it ends the run."""
    match stop.status:
        case "passed":
            return Passage(_edits(stop, interrupts, held), ends=stop.place == Breakpoint.Place.FINISH)
        case "answered":
            return Passage([_words(stop)])
        case "expired":
            raise NotPassed("breakpoint_expired", "Nobody looked at the breakpoint in time; the run may be let go on.")
    raise leases.CancelWanted


def _edits(stop: Breakpoint, interrupts: Interrupts, held: dict[str, Any]) -> list[dict[str, Any]]:
    cleared = gate.clearance(stop.workspace_id, stop.subject, stop.digest)
    if isinstance(cleared, gate.NotCleared):
        raise NotPassed("not_cleared", f"What was decided at the breakpoint does not count. {cleared.message}")
    if canonical.action_digest(cleared.header, cleared.args) != stop.digest:
        raise NotPassed("not_cleared", "The variables are not the ones that people saw.")
    return state.difference(interrupts.shown(held), canonical.parse(cleared.args))


def _words(stop: Breakpoint) -> dict[str, Any]:
    said = gate.answer(stop.workspace_id, stop.subject)
    if isinstance(said, gate.NotCleared) or said.response is None:
        why = said.message if isinstance(said, gate.NotCleared) else "It holds no words."
        raise NotPassed("not_cleared", f"What was answered at the breakpoint does not count. {why}")
    message = {"role": "person", "text": canonical.parse(said.response), "by": said.by_name}
    return {"op": "append", "path": "/messages", "items": [message]}


# Verbs


def commit(lease: Lease, stop: Breakpoint, made: Passage) -> Checkpoint:
    """Write it into the run's history, once, and let the run go on, or end it. Raises LeaseLost, CancelWanted."""
    body = {"ops": made.operations, "approval": stop.approval, "breakpoint": stop.public_id}
    goto = OVER if made.ends else stop.goto
    checkpoint = leases.next_checkpoint(lease, kind="decision", body=body, node=stop.node, goto=goto)
    reach("pass.before")
    landed = partial(checkpoints.committed, lease.run_id, checkpoint.seq, checkpoint.attempt_id)
    leases.durably(lease, partial(_write, lease, stop, made, checkpoint), landed)
    leases.moved(lease, checkpoint)
    reach("pass.after")
    return checkpoint


def _write(lease: Lease, stop: Breakpoint, made: Passage, checkpoint: Checkpoint) -> None:
    with rows.within(lease.workspace_id):
        leases.move_head(lease, checkpoint)
        _consume(stop, checkpoint.seq)
        body = {"approval": stop.approval, "subject": stop.subject, "changes": len(made.operations)}
        body |= {"checkpoint_mac": bytes(checkpoint.mac).hex()}
        entries.append(lease.workspace_id, lease.public_id, "breakpoint.passed", body, by="system")
        if made.ends:
            leases.release(lease, to="completed", ended_at=rows.Now(), wake_at=None)
        rows.publish(lease.workspace_id, lease.public_id)


def _consume(stop: Breakpoint, seq: int) -> None:
    if Breakpoint.objects.filter(Q(consumed_seq=None), pk=stop.pk).update(consumed_seq=seq) != 1:
        raise leases.LeaseLost(f"{stop.public_id} was gone on from by somebody else.")


def park(lease: Lease, stop: Breakpoint, why: NotPassed) -> None:
    """The run waits for an operator, and people are asked anew when it goes on."""
    with rows.within(lease.workspace_id):
        leases.prove(lease)
        _consume(stop, stop.seq)
        ended = {"reason_code": why.code, "reason": str(why), "ended_at": rows.Now(), "wake_at": None}
        leases.release(lease, to="parked", **ended)
        body = {"code": why.code, "reason": str(why)}
        entries.append(lease.workspace_id, lease.public_id, "run.parked", body, by="system")
