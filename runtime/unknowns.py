"""Unknowns: a call that may have been sent, and nobody can say what came of it, is put to people and settled by them.

They are asked once no sending of it can arrive any more, so that *send it again* is a choice that can be taken at its
word. What they choose takes effect when a worker has proved it; an answer of the tool that comes first settles the call
and withdraws the question.
"""

from __future__ import annotations

from typing import Any, Final

from django.db.models import Q

from approvals import gate, rows
from approvals.ledger import entries
from runtime import calls, definitions, leases, outcomes, runs, tools
from runtime.attempts import Attempt
from runtime.calls import Call
from runtime.checkpoints import Unreadable
from runtime.definitions import Agent
from runtime.leases import Lease

KIND: Final = "outcome"
HAPPENED: Final = "it_happened"
AGAIN: Final = "send_again"
ABANDON: Final = "abandon"
OPTIONS: Final = (HAPPENED, AGAIN, ABANDON)


class Unaskable(Exception):
    """Nobody can be asked; the message says why."""


class _Settled(Exception):
    """Somebody settled the call meanwhile."""


def attend(lease: Lease, call: Call) -> bool:
    """Do what the call needs next: ask, or carry out what was chosen. False where only people can go on. Raises
    LeaseLost, CancelWanted, Unaskable, and Unreadable for an answer that cannot be proved."""
    with rows.within(lease.workspace_id):
        said = gate.resolution(lease.workspace_id, calls.question_of(call)) if call.question else None
        if call.question and said is None:
            return False
        answer = gate.answer(lease.workspace_id, calls.question_of(call)) if said else None
    if isinstance(answer, gate.Answer):
        _carry_out(lease, call, answer)
    elif answer is not None and answer.code == "tampered":
        raise Unreadable(answer.message)
    else:
        # Never asked, or the question ran out, was withdrawn, or was answered by somebody who may no longer answer it.
        _ask(lease, call)
    return True


# Asking


def _ask(lease: Lease, call: Call) -> None:
    number = call.questions + 1
    with rows.within(lease.workspace_id):
        asked = _question(lease, call, number)

    def write() -> None:
        with rows.within(lease.workspace_id):
            leases.prove(lease)
            held = gate.ask(asked, by="system")
            if held.approval_id is None:
                raise Unaskable(held.reason)
            mine = Call.objects.filter(pk=call.pk, status="unknown", questions=call.questions)
            if mine.update(questions=number, question=held.approval_id, due_at=None) != 1:
                raise _Settled

    try:
        leases.durably(lease, write, Call.objects.filter(pk=call.pk, questions=number).exists)
    except _Settled:
        return


def _question(lease: Lease, call: Call, number: int) -> gate.Asked:
    """The call's own arguments under the tool's own schema, so that every surface shows them as it showed them when
    people approved them."""
    tool = definitions.facts(call.tool) if call.tool else None
    title = tool.title if tool else call.tool_name
    sent = Attempt.objects.filter(call=call).order_by("number")
    known = [
        {"attempt": each.number, "sent": each.created_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), "note": each.note}
        for each in sent
    ]
    return gate.Asked(
        workspace_id=lease.workspace_id,
        subject=calls.question_of(call, number),
        chain=lease.public_id,
        agent=lease.agent,
        agent_id=rows.public_id(Agent.PREFIX, lease.agent_id),
        kind=KIND,
        title=f"Did “{title[:180]}” happen?",
        summary=f"Did “{tool.summary}” happen?" if tool and tool.summary else "",
        value=calls.args_of(call),
        schema=tool.schema if tool else {},
        allowed_decisions=("choose",),
        options=OPTIONS,
        context={
            "reason": calls.reason_of(call),
            "title": runs.unseal_title(lease.workspace_id, lease.run_id, lease.title),
            "messages": [],
            "call": call.public_id,
            "key": call.key,
            "attempts": known,
        },
        tool=call.tool_name,
        requester_id=lease.requester_id,
        risk="high",
    )


# What was chosen


def _carry_out(lease: Lease, call: Call, answer: gate.Answer) -> None:
    attempt = outcomes.counting(call)
    if answer.choice == AGAIN:
        _send_again(lease, call, answer)
    elif answer.choice == HAPPENED:
        told = f"It was not confirmed by the tool. {answer.by_name} found that it happened. {answer.message}".strip()
        found = tools.Answer(tools.EXECUTED, message=told, note=f"{answer.by_name} found that it happened.")
        outcomes.record(lease, call, attempt, found, lambda: _note(lease, call, answer))
    else:
        told = f"Whether it happened is not known; {answer.by_name} gave it up, and nothing more is sent."
        given_up = tools.Answer(tools.LOST, message=f"{told} {answer.message}".strip(), note=told)
        outcomes.record(lease, call, attempt, given_up, lambda: _note(lease, call, answer))


def _send_again(lease: Lease, call: Call, answer: gate.Answer) -> None:
    """Clear it once more. Everything is checked again before it is sent, as for any cleared call; and the answer is
    used up, so that another unknown outcome of the same call is another question."""
    fresh: dict[str, Any] = {"question": "", "retries": 0, "lookups": 0}

    def write() -> None:
        with rows.within(lease.workspace_id):
            leases.prove(lease)
            asked = Q(attempt_id=call.attempt_id, questions=call.questions)
            if not rows.move(Call, call.pk, frm="unknown", to="cleared", where=asked, **fresh):
                raise leases.LeaseLost(f"{call.public_id} was settled by somebody else.")
            _note(lease, call, answer)

    leases.durably(lease, write, lambda: not Call.objects.filter(pk=call.pk, status="unknown").exists())


def _note(lease: Lease, call: Call, answer: gate.Answer) -> None:
    body: dict[str, Any] = {"subject": call.public_id, "choice": answer.choice, "approval": call.question}
    entries.append(lease.workspace_id, lease.public_id, "call.settled", body, by=answer.by)
