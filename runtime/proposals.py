"""Proposals: a step of an agent made ready to be committed, with policy's judgement of every call it wants."""

from __future__ import annotations

import json
import logging
import traceback
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final
from uuid import UUID

from django import db

from approvals import gate, rows
from approvals.ledger import canonical, keys, sealing
from runtime import (
    breakpoints,
    budgets,
    calls,
    checkpoints,
    definitions,
    heads,
    leases,
    previews,
    questions,
    runs,
    spending,
    state,
    targets,
    unknowns,
)
from runtime.agents.agent import OVER, BadStep, ProposedCall, Question, Step, Unusable, plain
from runtime.breakpoints import Breakpoint
from runtime.calls import Call
from runtime.checkpoints import Checkpoint
from runtime.crashpoints import reach
from runtime.definitions import Tool
from runtime.definitions.interrupts import Interrupts
from runtime.leases import Lease

log = logging.getLogger(__name__)

MESSAGES: Final = 20
"""How many of the conversation's last messages people are shown beside a call."""
MESSAGE_LENGTH: Final = 4000
"""How much of each of them, in characters."""
NOTHING_FITS: Final[dict[str, Any]] = {"not": {}}
"""The schema of a tool that does not exist: whatever a policy says of its name, no arguments pass."""


@dataclass
class Judged:
    """One call with its row, not yet written, and what policy says of it. The row's key is fixed here: a replay is
    pure data."""

    call: Call
    judgement: gate.Judgement
    entry: dict[str, Any]
    foreseen: gate.Foreseen | None = None

    def write(self, lease: Lease, checkpoint_mac: str) -> str:
        """Write the call and its ruling; the status it has then."""
        call = self.call
        call.status = Call.Status.PROPOSED
        call.save(force_insert=True)
        held = gate.hold(self.judgement, checkpoint_mac=checkpoint_mac, by=rows.public_id("agt", lease.agent_id))
        if held.approval_id and self.foreseen:
            gate.attach_preview(lease.workspace_id, held.approval_id, 1, self.foreseen)
        to, sets = _standing(held, call.pk, lease.workspace_id)
        rows.move(Call, call.pk, frm="proposed", to=to, **sets)
        return to


@dataclass
class Draft:
    """A step ready to be written. Everything slow or fallible (judging, sealing, checking) is done before the
    transaction."""

    lease: Lease
    step: Step
    node: str
    ended: list[Call]
    state: dict[str, Any]
    interrupts: Interrupts
    judged: list[Judged | questions.Put] = field(init=False)
    body: dict[str, Any] = field(init=False)
    checkpoint: Checkpoint = field(init=False)

    def __post_init__(self) -> None:
        step, lease = self.step, self.lease
        after = lease.head_seq + 1
        self.body = {"ops": state.changes(step.update, step.append, step.remove)}
        state.hold_to(self.state, self.body["ops"])
        if step.calls:
            # People are shown some of it beside the calls: it has to be pure data before anything is made of it.
            state.encode(self.body)
        self.judged = [self._ready(after, idx, call) for idx, call in enumerate(step.calls)]
        self.body |= {
            "calls": [each.entry for each in self.judged],
            "results": [_consumed(call) for call in self.ended],
        }
        goto = OVER if step.done and not self.interrupts.at_the_end else self.goto
        kept = {"node": self.node, "goto": goto, "usage": dict(step.usage)}
        self.checkpoint = leases.next_checkpoint(lease, kind="step", body=self.body, **kept)
        self.stop = self._stop() if step.done and self.interrupts.at_the_end else None

    def _ready(self, step: int, idx: int, wanted: ProposedCall | Question) -> Judged | questions.Put:
        if isinstance(wanted, Question):
            return questions.put(self.lease, step, idx, wanted, self.context)
        return _judge(self, step, idx, wanted)

    def _stop(self) -> tuple[Breakpoint, gate.Asked]:
        """The breakpoint at which people let the run finish, with what they are asked."""
        lease, after = self.lease, state.after(self.state, checkpoints.operations_of(self.checkpoint))
        place = Breakpoint.Place.FINISH
        stop = Breakpoint(run_id=lease.run_id, seq=self.checkpoint.seq, place=place, node=self.node, goto=self.goto)
        sight = breakpoints.Sight(lease.agent, self.title, after, self.messages)
        return stop, breakpoints.question(lease, stop, self.interrupts, sight)

    @property
    def context(self) -> dict[str, Any]:
        """What people are shown beside whatever they are asked in this step."""
        return {"reason": "", "messages": self.messages, "title": self.title}

    @property
    def goto(self) -> str:
        """The node of the next step."""
        return self.step.goto or self.node

    @cached_property
    def messages(self) -> list[dict[str, str]]:
        """The end of the conversation as the state holds it, for whoever is asked to approve a call of this step."""
        held = self.step.update.get("messages", self.state.get("messages", []))
        return last_said([*(held if isinstance(held, list) else []), *self.step.append.get("messages", [])])

    @cached_property
    def title(self) -> str:
        """What the run was said to be about."""
        return runs.unseal_title(self.lease.workspace_id, self.lease.run_id, self.lease.title)

    @property
    def is_plain(self) -> bool:
        """Whether the step only changes the state, by small values: it proposes nothing, ends nothing and is not
        counted."""
        ends = self.step.done or self.lease.budget_id
        return not self.judged and not ends and not self.checkpoint.lifted

    def send(self) -> None:
        """Commit a plain step in one journey to the database and back. Raises CancelWanted or LeaseLost."""
        lease = self.lease
        if not heads.move(self.checkpoint, consumed=[call.pk for call in self.ended]):
            with rows.within(lease.workspace_id):
                leases.refuse(lease)
        leases.tell(lease)

    def write(self) -> bool:
        """Write the step in the open transaction; True if the run is given up by it (completed, or waiting for
        people)."""
        lease, mac = self.lease, bytes(self.checkpoint.mac).hex()
        if lease.budget_id:
            spending.withdraw(lease)
        leases.move_head(lease, self.checkpoint)
        Call.objects.filter(pk__in=[call.pk for call in self.ended]).update(consumed_seq=self.checkpoint.seq)
        statuses = {each.write(lease, mac) for each in self.judged}
        if lease.budget_id:
            budgets.take_step(lease.budget_id, self.step.usage, ending=self.step.done and not self.stop)
        rows.publish(lease.workspace_id, lease.public_id)
        if self.stop:
            breakpoints.write(lease, *self.stop, mac)
        elif self.step.done:
            leases.release(lease, to="completed", ended_at=rows.Now(), wake_at=None)
            return True
        if (not self.stop and "held" not in statuses) or "cleared" in statuses:
            return False
        reach("suspend.before")
        # This transaction holds the run's row already, so nothing can have been decided about its calls yet.
        return leases.suspend(lease, pokes=None) is not None


_SAID_OTHERWISE: Final = (
    db.Error,
    leases.LeaseLost,
    leases.CancelWanted,
    checkpoints.Unreadable,
    sealing.Tampered,
    keys.UnknownKey,
    unknowns.Unaskable,
    Unusable,
    BadStep,
    state.NotState,
)
"""What says of itself what becomes of the run."""


def draft(*parts: Any) -> Draft:
    """The `Draft` of these parts. Raises BadStep for a step that nothing can be made of, whatever stands against it:
    it fails its run, and never its worker. Raises state.NotState, checkpoints.Unreadable, sealing.Tampered."""
    try:
        return Draft(*parts)
    except _SAID_OTHERWISE:
        raise
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        log.error("A step raised %s at %s:%s", type(error).__name__, where.filename, where.lineno)
        raise BadStep(f"The step cannot be committed: {type(error).__name__} was raised.") from error


def last_said(messages: Any) -> list[dict[str, str]]:
    """The end of a conversation as people are shown it."""
    shown = [message for message in messages if isinstance(message, dict)] if isinstance(messages, list) else []
    cut = [(str(each.get("role", "")), str(each.get("text", ""))) for each in shown[-MESSAGES:]]
    return [{"role": plain(role[:40]), "text": plain(text[:MESSAGE_LENGTH])} for role, text in cut]


def _judge(draft: Draft, step: int, idx: int, proposed: ProposedCall) -> Judged:
    lease, name, reason = draft.lease, plain(proposed.tool)[:200], plain(proposed.reason)
    tool = definitions.tool_named(lease.workspace_id, name)
    args, readable = _encode(idx, proposed.args)
    call = Call(workspace_id=lease.workspace_id, run_id=lease.run_id, step=step, idx=idx, tool_name=name)
    call.tool = tool
    call.effect = tool.effect if tool else "unsafe"
    call.key = calls.idempotency_key(lease.run_id, step, idx)
    call.args, call.args_digest = calls.sealed(lease.workspace_id, call.pk, "args", args), canonical.sha256_hex(args)
    call.estimate = budgets.amounts(proposed.estimate)
    call.reason = calls.sealed(lease.workspace_id, call.pk, "reason", reason.encode())
    judgement = _judgement(draft, call, args, reason, plain(proposed.revises))
    entry = {"id": call.public_id, "tool": name, "reason": reason}
    entry |= {"estimate": call.estimate} if call.estimate else {}
    entry |= {"revises": plain(proposed.revises)} if proposed.revises else {}
    asks = judgement.verdict == "require_approval" and not lease.rehearsal
    foreseen = previews.foresee(tool, call, args) if asks and tool else None
    return Judged(
        call, judgement, entry | ({"args": proposed.args} if readable else {"unreadable": args.decode()}), foreseen
    )


def _judgement(draft: Draft, call: Call, args: bytes, reason: str, revises: str) -> gate.Judgement:
    lease, tool = draft.lease, call.tool
    usable = tool is not None and definitions.genuine(tool)
    proposal = gate.Proposal(
        workspace_id=lease.workspace_id,
        subject=call.public_id,
        chain=lease.public_id,
        agent=draft.lease.agent,
        requester_id=lease.requester_id,
        tool=definitions.facts(tool) if tool and usable else _no_tool(call.tool_name),
        args=args,
        context=draft.context | {"reason": reason},
        rehearsal=lease.rehearsal,
        revises=revises,
    )
    off = definitions.why_off(lease.workspace_id, tool.name) if tool and usable else ""
    if tool and usable and not off:
        judgement = gate.judge(proposal)
        return judgement if lease.rehearsal else _pinned(judgement, tool, call, args)
    told = f"There is no tool called {call.tool_name}." if tool is None else "The tool's row is not as it was written."
    return gate.refuse(proposal, off or told)


def _pinned(judgement: gate.Judgement, tool: Tool, call: Call, args: bytes) -> gate.Judgement:
    """With what the call points to now, if people are asked about it and its tool says how that is found out."""
    sight = targets.see(tool, call, args) if judgement.verdict == "require_approval" else None
    if sight is None:
        return judgement
    try:
        return replace(judgement, proposal=replace(judgement.proposal, pinned=sight.pinned()))
    except targets.Unread as problem:
        return gate.refuse(judgement.proposal, str(problem))


def _no_tool(name: str) -> gate.ToolFacts:
    return gate.ToolFacts(name=name, title=name, definition_digest="", schema=NOTHING_FITS)


def _encode(idx: int, args: dict[str, Any]) -> tuple[bytes, bool]:
    """The arguments' canonical bytes. What JSON's relatives allow and JSON does not (NaN, 1e400, huge integers) comes
    from models: it is kept as text and refused by policy, and the model is told. Raises state.NotState for what only
    code can produce."""
    try:
        return canonical.encode(args), True
    except canonical.Unrepresentable as fault:
        try:
            return json.dumps(args).encode("utf-8"), False
        except (TypeError, ValueError, RecursionError):
            raise state.NotState(f"/calls/{idx}/args{fault.pointer}", fault.message) from fault


def _consumed(call: Call) -> dict[str, Any]:
    return {"call": call.public_id, "status": str(call.status)}


def _standing(held: gate.Held, call_id: UUID, workspace_id: UUID) -> tuple[str, dict[str, Any]]:
    if held.verdict == "allow":
        return "cleared", {"digest": held.digest, "args_digest": held.args_digest}
    if held.verdict == "require_approval":
        return "held", {"approval": held.approval_id}
    return "refused", {
        "message": calls.sealed(workspace_id, call_id, "message", held.reason.encode()),
        "ended_at": rows.Now(),
    }
