"""Questions: what an agent asks people stands among the calls of its step, and is answered like one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from approvals import gate, rows
from approvals.ledger import canonical
from runtime import calls, state
from runtime.agents.agent import Question, plain
from runtime.calls import Call
from runtime.leases import Lease

SUMMARY: Final = "{/question}"
SHOWN: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["question"],
    "properties": {"question": {"type": "string"}, "about": {"type": "object"}},
}


@dataclass
class Put:
    """One question with its row, not yet written."""

    call: Call
    asked: gate.Asked
    entry: dict[str, Any]

    def write(self, lease: Lease, checkpoint_mac: str) -> str:
        """Write it and ask people; the status it has then. What nobody could answer is refused, and the agent told."""
        call = self.call
        call.status = Call.Status.PROPOSED
        call.save(force_insert=True)
        held = gate.ask(self.asked, checkpoint_mac=checkpoint_mac, by=self.asked.agent_id)
        if held.approval_id:
            rows.move(Call, call.pk, frm="proposed", to="held", approval=held.approval_id)
            return "held"
        told = calls.sealed(lease.workspace_id, call.pk, "message", held.reason.encode())
        rows.move(Call, call.pk, frm="proposed", to="refused", message=told, ended_at=rows.Now())
        return "refused"


def put(lease: Lease, step: int, idx: int, question: Question, context: dict[str, Any]) -> Put:
    """A question made ready. Raises state.NotState for what it shows that is not pure JSON."""
    shown: dict[str, Any] = {"question": plain(question.text)} | ({"about": question.about} if question.about else {})
    args = _encode(shown, f"/calls/{idx}")
    _encode(question.response_schema, f"/calls/{idx}/response_schema")
    call = Call(workspace_id=lease.workspace_id, run_id=lease.run_id, step=step, idx=idx, kind=Call.Kind.QUESTION)
    call.effect = "none"
    call.key = calls.idempotency_key(lease.run_id, step, idx)
    call.args, call.args_digest = calls.sealed(lease.workspace_id, call.pk, "args", args), canonical.sha256_hex(args)
    call.reason = calls.sealed(lease.workspace_id, call.pk, "reason", b"")
    entry = {"id": call.public_id, "kind": "question", "tool": "", "reason": "", "args": shown}
    return Put(call, _asked(lease, call, question, args, context), entry)


def _encode(value: Any, place: str) -> bytes:
    try:
        return canonical.encode(value)
    except canonical.Unrepresentable as fault:
        raise state.NotState(place + fault.pointer, fault.message) from fault


def _asked(lease: Lease, call: Call, question: Question, args: bytes, context: dict[str, Any]) -> gate.Asked:
    return gate.Asked(
        workspace_id=lease.workspace_id,
        subject=call.subject,
        chain=lease.public_id,
        agent=lease.agent,
        agent_id=rows.public_id("agt", lease.agent_id),
        kind="question",
        title=f"{lease.agent} asks",
        summary=SUMMARY,
        value=args,
        schema=SHOWN,
        response_schema=question.response_schema,
        allowed_decisions=("respond", "reject"),
        context=context,
        team=plain(question.team) or None,
        deadline=plain(question.deadline) or None,
        requester_id=lease.requester_id,
        rehearsal=lease.rehearsal,
    )
