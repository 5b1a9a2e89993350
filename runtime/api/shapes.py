"""A run as the API tells it: itself, its calls, its checkpoints, and everything that happened in it, in order."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

from ninja import Field, Schema

from approvals import gate
from approvals.ledger import canonical
from approvals.ledger.sealing import Tampered
from runtime import budgets, calls, checkpoints, definitions, runs, timeline, tools, view
from runtime.breakpoints import Breakpoint
from runtime.calls import Call
from runtime.checkpoints import Checkpoint
from runtime.runs import Run


class Fault(Schema):
    """One thing that is wrong with the request."""

    field: str
    rule: str | None
    message: str


class Wrong(Schema):
    """What is wrong: a code for machines, a sentence for people, and the field at fault as JSON pointer or name."""

    code: str
    message: str
    field: str | None
    rule: str | None
    faults: list[Fault] = Field(default_factory=list)


class Error(Schema):
    """The one shape of every error."""

    error: Wrong


class RunOut(Schema):
    """A run and where it stands. `reason` says why it failed, is parked or was withdrawn."""

    run_id: str
    thread_id: str
    agent: str
    title: str
    status: str
    reason: str
    checkpoint: int = Field(description="The number of its last checkpoint.")
    created_at: str
    ended_at: str | None
    rehearsal: bool = Field(description="Whether nothing of it is ever sent.")
    waiting_for: list[str] = Field(description="The approvals that people are asked for now.")


class CallOut(Schema):
    """One proposed use of a tool. `args` are those that ran, or are to run; a secret stands as a mark."""

    tool_call_id: str
    kind: str = Field(description="A call of a tool, or a question, which has no tool.")
    step: int
    index: int
    name: str
    args: Any
    status: str
    effect: str
    approval_id: str | None
    message: str
    value: Any = None
    attempts: int
    outcome: str | None = Field(
        description="How its last sending ended: executed, failed_before_effect, failed_after_effect, no_answer or "
        "not_sent. Only what failed before its effect can be proposed again without doing anything twice."
    )
    idempotency_key: str


class ShareOut(Schema):
    """Where one unit of a budget stands; money in minor units. Without a `cap` it is only counted."""

    cap: int | None
    used: int
    held: int


class BudgetOut(Schema):
    """What a run may spend. `held` is what its calls under way may still spend."""

    currency: str
    tokens: ShareOut
    money: ShareOut
    steps: ShareOut
    seconds: ShareOut


class RunDetail(RunOut):
    """A run with its calls and its budget, if it has one."""

    calls: list[CallOut]
    budget: BudgetOut | None


class RunPage(Schema):
    """Runs, newest first, and the cursor of the next page."""

    runs: list[RunOut]
    next: str | None


class CheckpointOut(Schema):
    """One immutable record: an input, a step or a result, with the changes it made to the state."""

    checkpoint_id: str
    number: int
    kind: str
    node: str
    next_node: str
    created_at: str
    changes: list[dict[str, Any]]
    schema_version: int
    erased: bool = Field(description="Whether what it held was erased; then it tells no changes.")


class CheckpointDetail(Schema):
    """A checkpoint and the state after it, each part apart."""

    checkpoint_id: str
    thread_id: str
    run_id: str
    number: int
    step: int = Field(description="How many steps the agent had taken by then.")
    variables: dict[str, Any] = Field(description="The state but for its members `plan` and `results`.")
    plan: Any = None
    results: Any = Field(None, description="The state's `results`, or else those that this step was told.")
    usage: dict[str, Any] = Field(description="What this step spent.")
    pending_actions: list[dict[str, Any]] = Field(
        description="Calls that no step had been told of yet, with what has become of them by now."
    )
    schema_version: int


class CheckpointPage(Schema):
    """A run's checkpoints from the first on; `next` is the number after which the following page begins."""

    checkpoints: list[CheckpointOut]
    next: int | None


class EventOut(Schema):
    """One thing that happened. Kinds are those of the ledger (`run.started`, `approval.opened`, `decision.made`,
    `call.intended` …), `step.committed` and `result.committed` for checkpoints, `call.executed`, `call.failed` and
    `call.unknown` for what became of a call, and `run.suspended`, `run.resumed` and `run.completed`."""

    cursor: str
    at: str
    kind: str
    by: str
    facts: dict[str, Any]


class EventPage(Schema):
    """Events in order. `next` is where to go on, now or later: nothing is missed and nothing told twice."""

    events: list[EventOut]
    next: str


class MomentOut(Schema):
    """One thing that happened: an event of the run, or the end of an attempt (`attempt.…`)."""

    at: str
    kind: str
    by: str
    facts: dict[str, Any]


class Timeline(Schema):
    """Everything that happened in a run, in order; `doubts` is empty when nothing happened twice or unasked."""

    moments: list[MomentOut]
    doubts: list[str]


def run_out(run: Run) -> dict[str, Any]:
    """A run as a list tells it."""
    asked = Call.objects.filter(run=run, status__in=["held", "unknown"], consumed_seq=None).order_by("step", "idx")
    asked = asked if run.status not in runs.FINAL else asked.none()
    return {
        "run_id": run.public_id,
        "thread_id": run.thread.public_id,
        "agent": run.agent.name,
        "title": _title(run),
        "status": run.status,
        "reason": run.told,
        "checkpoint": run.head_seq,
        "created_at": instant(run.created_at),
        "ended_at": instant(run.ended_at) if run.ended_at else None,
        "rehearsal": run.rehearsal,
        "waiting_for": [each for each in [*map(_asked, asked), *_stops(run), _asked_of_budget(run)] if each],
    }


def _stops(run: Run) -> list[str]:
    """The approval of the breakpoint at which the run stands."""
    return list(Breakpoint.objects.filter(run=run, status="open").values_list("approval", flat=True))


def run_detail(run: Run) -> dict[str, Any]:
    """A run with its calls, in the order in which they were proposed."""
    found = Call.objects.filter(run=run).select_related("tool").order_by("step", "idx")
    masked = gate.masked(run.workspace_id, run.public_id)
    return {**run_out(run), "calls": [_call(call, masked) for call in found], "budget": _budget(run)}


def checkpoint_out(checkpoint: Checkpoint) -> dict[str, Any]:
    """A checkpoint with its changes. Raises checkpoints.Unreadable."""
    try:
        changes, erased = list(checkpoints.body_of(checkpoint).get("ops", [])), False
    except checkpoints.Erased:
        changes, erased = [], True
    return {
        "checkpoint_id": checkpoint.public_id,
        "number": checkpoint.seq,
        "kind": checkpoint.kind,
        "node": checkpoint.node,
        "next_node": checkpoint.next_node,
        "created_at": instant(checkpoint.created_at),
        "changes": changes,
        "schema_version": checkpoint.schema_version,
        "erased": erased,
    }


def checkpoint_detail(run: Run, number: int) -> dict[str, Any]:
    """A checkpoint and the state after it. Raises Checkpoint.DoesNotExist, checkpoints.Unreadable."""
    return {"number": number, **asdict(view.view(run, number))}


def timeline_out(run: Run) -> dict[str, Any]:
    """Everything that happened in a run."""
    moments = [
        {"at": instant(each.at), "kind": each.kind, "by": each.by, "facts": each.facts}
        for each in timeline.moments(run)
    ]
    return {"moments": moments, "doubts": timeline.doubts(run)}


def instant(moment: datetime) -> str:
    """A time: UTC, microseconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _asked_of_budget(run: Run) -> str:
    return run.budget_question if run.status == "suspended_approval" else ""


def _asked(call: Call) -> str:
    """The approval that the call waits for, if people are asked about it yet."""
    return call.question if call.status == "unknown" else call.approval


def _budget(run: Run) -> dict[str, Any] | None:
    budget = budgets.of(run)
    if budget is None:
        return None
    told = {each.unit: {"cap": each.cap, "used": each.used, "held": each.held} for each in budgets.shares(budget)}
    return {"currency": budget.currency, **told}


def _title(run: Run) -> str:
    try:
        return runs.title_of(run)
    except Tampered:
        return ""


_OUTCOMES: Final = {
    tools.EXECUTED: "executed",
    tools.FAILED_BEFORE: "failed_before_effect",
    tools.FAILED_AFTER: "failed_after_effect",
    tools.LOST: "no_answer",
    tools.NOT_SENT: "not_sent",
}


def _call(call: Call, masked: gate.Masked) -> dict[str, Any]:
    last = call.attempts.order_by("number").last()
    try:
        result, message = calls.result_of(call), ""
        value, message = result.value, result.message
        args = gate.covered(definitions.facts(call.tool, masked), result.args) if call.tool else result.args
    except (Tampered, canonical.Unrepresentable) as fault:
        args, value, message = None, None, str(fault)
    return {
        "tool_call_id": call.public_id,
        "kind": call.kind,
        "step": call.step,
        "index": call.idx,
        "name": call.tool_name,
        "args": args,
        "status": call.status,
        "effect": call.effect,
        "approval_id": call.approval or None,
        "message": message,
        "value": value,
        "attempts": call.attempts.count(),
        "outcome": _OUTCOMES.get(last.outcome) if last else None,
        "idempotency_key": call.key,
    }
