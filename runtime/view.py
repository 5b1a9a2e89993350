"""What a checkpoint shows, each part apart: the state after it, what it was told, and what was still to happen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from approvals import gate
from approvals.ledger import canonical
from approvals.ledger.sealing import Tampered
from runtime import calls, checkpoints, definitions
from runtime.calls import Call
from runtime.checkpoints import Checkpoint
from runtime.runs import Run

APART = frozenset({"plan", "results"})
"""Members of the state that are shown by themselves; the others are its variables."""


@dataclass(frozen=True)
class View:
    """A checkpoint and the state after it. ``step`` counts the agent's steps; ``results`` are those that the state
    keeps, or else those that this step was told; ``usage`` is what this step spent; ``pending_actions`` are calls that
    no step had been told of yet, with what has become of them by now."""

    checkpoint_id: str
    thread_id: str
    run_id: str
    step: int
    variables: dict[str, Any]
    plan: Any
    results: Any
    usage: Mapping[str, Any]
    pending_actions: list[dict[str, Any]]
    schema_version: int


def view(run: Run, seq: int) -> View:
    """What the run's checkpoint of this number shows. Raises Checkpoint.DoesNotExist, Unreadable, Erased."""
    made = Checkpoint.objects.get(run=run, seq=seq)
    check_head(run, made)
    body, state = checkpoints.body_of(made), state_after(run, seq)
    return View(
        checkpoint_id=made.public_id,
        thread_id=run.thread.public_id,
        run_id=run.public_id,
        step=Checkpoint.objects.filter(run=run, kind=Checkpoint.Kind.STEP, seq__lte=seq).count(),
        variables={name: value for name, value in state.items() if name not in APART},
        plan=state.get("plan"),
        results=state.get("results", body.get("results", [])),
        usage=made.usage,
        pending_actions=_pending(run, seq),
        schema_version=made.schema_version,
    )


def check_head(run: Run, made: Checkpoint) -> None:
    """That a checkpoint, if it is the run's last, is the one that the run names. Raises Unreadable."""
    if made.seq == run.head_seq and bytes(made.mac) != bytes(run.head_mac):
        raise checkpoints.Unreadable(f"The run's head names another checkpoint {made.seq} than the one that is here.")


def state_after(run: Run, seq: int) -> dict[str, Any]:
    """The state after a checkpoint, verified on the way. Raises Unreadable, Erased."""
    return checkpoints.read(run.workspace_id, run.pk, seq).state


def open_at(run: Run, seq: int) -> list[Call]:
    """The calls that had been proposed by then and of which no step had been told."""
    proposed = Call.objects.filter(run=run, step__lte=seq).select_related("tool")
    return list(proposed.exclude(consumed_seq__lte=seq).order_by("step", "idx"))


def _pending(run: Run, seq: int) -> list[dict[str, Any]]:
    masked = gate.masked(run.workspace_id, run.public_id)
    return [_waiting(call, masked) for call in open_at(run, seq)]


def _waiting(call: Call, masked: gate.Masked) -> dict[str, Any]:
    try:
        args = canonical.parse(calls.args_of(call))
        shown = gate.covered(definitions.facts(call.tool, masked), args) if call.tool else args
    except (Tampered, canonical.Unrepresentable):
        shown = None
    named = {"tool_call_id": call.public_id, "name": call.tool_name, "args": shown}
    return named | {"status": str(call.status), "approval_id": call.approval or None}
