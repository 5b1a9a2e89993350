"""Dispatch: the only place where a tool is called.

Two commits for each call. The *intent* moves it from cleared to executing and writes the attempt, after clearance and
after the very bytes were hashed and compared; then the tool is called; then the *result* is committed. Between the
two the truth is outside this database, and a crash there leaves an attempt without outcome: `runtime.retries` says
what becomes of it.
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from approvals import gate, rows
from approvals.ledger import canonical, entries, followed
from runtime import (
    attempts,
    budgets,
    calls,
    definitions,
    leases,
    outcomes,
    precedents,
    renewals,
    retries,
    targets,
    tools,
    waits,
)
from runtime.attempts import Attempt
from runtime.calls import Call
from runtime.crashpoints import reach
from runtime.definitions import Tool
from runtime.leases import Lease
from runtime.targets import Sight

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Intent:
    """What was committed before anything is sent: this attempt, with these bytes, to this tool."""

    call: Call
    attempt: Attempt
    tool: Tool
    args: bytes
    started: float

    def use(self) -> tools.Use:
        seconds = self.tool.timeout - (time.monotonic() - self.started)
        return tools.Use(self.call.public_id, self.call.key, seconds, self.attempt.number)


class Refusal(Exception):
    """The call may not be sent; the message says why. ``lapsed``: it was cleared once, and people may be asked
    again."""

    def __init__(self, why: str, *, lapsed: bool = False) -> None:
        super().__init__(why)
        self.lapsed = lapsed


class Stopped(Exception):
    """People stopped the call in the moment in which it was to be sent."""


def dispatch(lease: Lease, call: Call) -> None:
    """Send a cleared call, or go on with one that was sent before, and record what came of it. Raises LeaseLost,
    CancelWanted, or budgets.Exhausted: then nothing was sent."""
    why = retries.why_now(lease, call) if call.status == Call.Status.EXECUTING else _first(call)
    intent = _intend(lease, call, why) if why else None
    if intent is None:
        return
    answer, promise = _send(lease, intent), intent.tool.promise
    # With a lookup there is always one more thing to try: to ask whether it arrived.
    left = call.retries + 1 < promise.tries or (promise.lookup is not None and answer.outcome == tools.LOST)
    if not lease.lost and left and promise.try_again(answer):
        retries.put_off(lease, call, promise.wait(call.retries), attempt=intent.attempt, answer=answer)
    else:
        outcomes.settle(lease, call, intent.attempt, intent.tool.effect, answer)


def _first(call: Call) -> str:
    """Why a cleared call may be sent: it never was or, if it was, people want it sent again."""
    return retries.CHOSEN if call.attempt_id else retries.UNSENT


# Intent


def _intend(lease: Lease, call: Call, why: str) -> Intent | None:
    """Commit that the call is going to be sent; None if it may not be, which is then committed instead."""
    attempt = Attempt(workspace_id=lease.workspace_id, call=call, fence=lease.fence)
    sight = targets.before_sending(lease, call) if why != retries.REPEATABLE else None
    started = time.monotonic()
    made: list[Intent] = []
    later: list[waits.NotYet] = []

    def write() -> None:
        made.clear()
        later.clear()
        with rows.within(lease.workspace_id):
            try:
                tool, args = _cleared(lease, call, why, sight)
            except Refusal as refusal:
                _turn_down(lease, call, refusal, sight, why)
                return
            except waits.NotYet as wait:
                later.append(wait)
                reach("later.before")
                waits.put_off(lease, call, wait)
                return
            with suppress(Stopped):
                _write_intent(lease, call, attempt, tool, args, why)
                made.append(Intent(call, attempt, tool, args, started))

    reach("intent.before")
    leases.durably(lease, write, partial(_answered, call, attempt.pk, made))
    reach("later.after" if later else "intent.after")
    return made[0] if made else None


def _answered(call: Call, attempt_id: UUID, made: list[Intent]) -> bool:
    """Whether the commit took place: the attempt is there, or the call is not as it was. Without the attempt no intent
    of ours was committed, whoever changed the call meanwhile, and nothing is sent."""
    if Attempt.objects.filter(pk=attempt_id).exists():
        return True
    made.clear()
    return not Call.objects.filter(pk=call.pk, status=call.status, digest=call.digest).exists()


def _cleared(lease: Lease, call: Call, why: str, sight: Sight | None) -> tuple[Tool, bytes]:
    """The tool and the bytes, after everything was checked once more. Raises Refusal, or waits.NotYet."""
    with suppress(Refusal), followed.once():
        return _checked(lease, call, why, sight)
    return _checked(lease, call, why, sight)  # by the ledger as it is by now


def _checked(lease: Lease, call: Call, why: str, sight: Sight | None) -> tuple[Tool, bytes]:
    tool = definitions.tool_named(lease.workspace_id, call.tool_name)
    if tool is None:
        raise Refusal(f"There is no tool {call.tool_name} any more.")
    if not definitions.genuine(tool):
        raise Refusal("The tool's row is not as it was written.")
    if not precedents.in_force(tool):
        raise Refusal("By the ledger, this version of the tool is not the one in force.")
    if off := definitions.why_off(lease.workspace_id, tool.name):
        raise Refusal(off)
    if why == retries.REPEATABLE and not (tool.promise.safe and retries.key_is_known(call, tool)):
        raise Refusal("It may have been sent before, and the tool is not safe to repeat any more.")
    if doubt := precedents.against(call, lease.public_id, budgeted=bool(lease.budget_id)):
        raise Refusal(doubt)
    answer = gate.clearance(lease.workspace_id, call.public_id, call.digest)
    if isinstance(answer, gate.NotCleared) and answer.until:
        raise waits.NotYet(answer.message, answer.until)
    if lease.rehearsal and not isinstance(answer, gate.NotCleared):
        raise Refusal(gate.REHEARSED)
    if isinstance(answer, gate.NotCleared):
        raise Refusal(answer.message, lapsed=answer.lapsed)
    if answer.tool != tool.name or answer.definition_digest != tool.digest:
        raise Refusal("The tool's definition is not the one that was cleared; propose the call anew.")
    if canonical.action_digest(answer.header, answer.args) != call.digest:
        raise Refusal("The bytes to be sent are not the ones that were cleared.")
    if why != retries.REPEATABLE:  # else its earlier sending may itself have changed what it points to
        _still_there(tool, answer, sight)
    return tool, answer.args


def _still_there(tool: Tool, answer: gate.Cleared, sight: Sight | None) -> None:
    """That what it points to is as it was when people were asked. Raises Refusal, or waits.NotYet where it cannot be
    read now: the approval runs out meanwhile, and then they are asked again."""
    try:
        changed = targets.changed(tool, answer, sight)
    except targets.Unread as problem:
        raise waits.NotYet(str(problem), rows.now() + targets.AGAIN) from problem
    if changed:
        raise Refusal(changed, lapsed=True)


def _write_intent(lease: Lease, call: Call, attempt: Attempt, tool: Tool, args: bytes, why: str) -> None:
    leases.prove(lease)
    attempt.number = Attempt.objects.filter(call=call).count() + 1 if call.attempt_id else 1
    attempt.args_digest = canonical.sha256_hex(args)
    attempt.send_deadline = leases.Later(tool.timeout + attempts.GRACE)
    _take(call, attempt, args)
    rows.insert(attempt)
    if lease.budget_id:
        budgets.charge_lost(call.pk)
        budgets.hold(lease.budget_id, attempt, call.estimate)
    body = {"subject": call.public_id, "attempt": attempt.number, "attempt_id": attempt.public_id, "key": call.key}
    body |= {"digest": call.digest, "args_digest": attempt.args_digest, "fence": lease.fence, "why": why}
    body |= {"held": call.estimate} if lease.budget_id and call.estimate else {}
    entries.append(lease.workspace_id, lease.public_id, "call.intended", body, by="system")


def _take(call: Call, attempt: Attempt, args: bytes) -> None:
    """The one statement that lets a call be sent, once: whoever comes second finds it taken. Raises Stopped or
    LeaseLost."""
    sets: dict[str, Any] = {"attempt_id": attempt.pk, "args_digest": attempt.args_digest, "due_at": None}
    if args != calls.args_of(call):
        sets["args"] = calls.sealed(call.workspace_id, call.pk, "args", args)
    if call.status == Call.Status.CLEARED:
        taken = rows.move(Call, call.pk, frm="cleared", to="executing", **sets)
        if not taken and Call.objects.filter(pk=call.pk, status="refused").exists():
            raise Stopped
    else:
        last = Call.objects.filter(pk=call.pk, status="executing", attempt_id=call.attempt_id)
        taken = last.update(**sets) == 1
        Attempt.objects.filter(call=call, outcome="").update(outcome=tools.LOST, ended_at=rows.Now())
    if not taken:
        raise leases.LeaseLost(f"{call.public_id} was taken by somebody else.")


def refuse(lease: Lease, call: Call, why: str, said: str = "") -> None:
    """Commit that a call is not sent, because its budget is not raised. What a person ``said`` of it is told to the
    agent alone."""
    if call.status == Call.Status.EXECUTING and call.effect == "pure":
        told = tools.Answer(
            tools.LOST, message=f"{why} {said}".strip(), note="It was not sent again: its budget is used up."
        )
        outcomes.record(lease, call, outcomes.counting(call), told)
        return

    def write() -> None:
        with rows.within(lease.workspace_id):
            _refuse(lease, call, why, said)

    leases.durably(lease, write, lambda: not Call.objects.filter(pk=call.pk, status=call.status).exists())


def _turn_down(lease: Lease, call: Call, refusal: Refusal, sight: Sight | None, sent_for: str) -> None:
    """The call is not sent now: people are asked once more, or it is refused. Nobody is asked about one whose earlier
    sending may have had its effect."""
    why = str(refusal)
    if refusal.lapsed and sent_for != retries.REPEATABLE:
        try:
            renewals.renew(lease, call, why, sight)
            return
        except renewals.Denied as denied:
            why = str(denied)
    _refuse(lease, call, why)


def _refuse(lease: Lease, call: Call, why: str, said: str = "") -> None:
    """The call is not sent after all. One that may have been sent before has an outcome that nobody knows."""
    log.warning("%s of %s is not sent: %s", call.public_id, lease.public_id, why)
    if call.status == Call.Status.EXECUTING:
        outcomes.write_end(lease, call, why)
        return
    outcomes.report(lease, call, "failed", f"It was not sent. {why}")
    leases.prove(lease)
    message = calls.sealed(call.workspace_id, call.pk, "message", f"{why} {said}".strip().encode())
    if not rows.move(Call, call.pk, frm="cleared", to="refused", message=message, ended_at=rows.Now()):
        raise leases.LeaseLost(f"{call.public_id} was taken by somebody else.")
    body = {"subject": call.public_id, "reason": why}
    entries.append(lease.workspace_id, lease.public_id, "call.refused", body, by="system")


# Sending


def _send(lease: Lease, intent: Intent) -> tools.Answer:
    tool = intent.tool
    secret = definitions.signing_secret(tool) if tool.kind == Tool.Kind.HTTP else b""
    lease.renew_until = intent.started + tool.timeout + 2 * attempts.GRACE
    reach("send.before")
    if not lease.valid:
        return tools.Answer(tools.NOT_SENT, note="The lease was lost before it was sent.")
    answer = tools.send(str(tool.kind), tool.config, secret, intent.args, intent.use())
    lease.renew_until = float("inf")
    reach("send.after")
    return answer
