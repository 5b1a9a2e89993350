"""Questions: what people are to be asked, and the approval that asks them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from approvals import escalation, policies, repeats, rows
from approvals.approvals import Approval, bar_columns, record, seal_context, sign
from approvals.ledger import canonical
from approvals.revisions import Revision, add_revision


@dataclass(frozen=True)
class Question:
    """What `open_approval` needs: the matter as it was judged."""

    subject: str
    chain: str
    agent: str
    requester_id: UUID | None
    tool: str
    tool_title: str
    definition_digest: str
    schema: dict[str, Any]
    summary: str
    effect: str
    risk: str
    args: bytes
    context: dict[str, Any]
    opinion: policies.Opinion
    kind: str = "call"
    response_schema: dict[str, Any] = field(default_factory=dict)
    asked_again: UUID | None = None
    rehearsal: bool = False
    target: Mapping[str, Any] | None = None


def open_approval(question: Question, *, checkpoint_mac: str, by: str) -> Approval:
    """Ask people: the approval, its first revision and ruling, and the ledger entry, inside an open `rows.within`."""
    rule = question.opinion.rule
    assert rule is not None, "only a rule asks people"
    approval = _written(question, rule)
    version = approval.policy_version
    first = add_revision(
        approval, question.args, rule, number=1, editor=None, policy_version=version, target=question.target
    )
    told = _told(question, approval, first)
    record(approval, "approval.opened", told | {"checkpoint_mac": checkpoint_mac}, by=by)
    for plan in OPENED:
        plan(approval, rule)
    rows.publish(approval.workspace_id, approval.public_id)
    return approval


def _written(question: Question, rule: dict[str, Any]) -> Approval:
    approval = Approval(
        workspace_id=rows.in_scope(),
        **{name: getattr(question, name) for name in _COPIED},
        policy_version=question.opinion.policy_version,
        asked_again_id=question.asked_again,
        expires_at=rows.now() + timedelta(seconds=escalation.lasts(rule)),
        **bar_columns(rule),
    )
    approval.context = seal_context(approval, question.context)
    approval.refused_before = repeats.refused_before(approval, canonical.sha256_hex(question.args))
    approval.mac = sign(approval)
    approval.save(force_insert=True)
    return approval


def _told(question: Question, approval: Approval, first: Revision) -> dict[str, Any]:
    """What the ledger is told of an approval that opens, beside what every entry about it says."""
    body: dict[str, Any] = {"digest": first.digest, "rule": approval.rule_id}
    body |= {} if approval.kind == Approval.Kind.CALL else {"approval_kind": str(approval.kind)}
    body |= {"asked_again": rows.public_id("apr", question.asked_again)} if question.asked_again else {}
    body |= {name: said for name in ("rehearsal", "refused_before") if (said := getattr(approval, name))}
    return body | ({"revises": revised} if (revised := question.context.get("revises")) else {})


_COPIED: Final = (
    "subject",
    "chain",
    "agent",
    "requester_id",
    "tool",
    "tool_title",
    "definition_digest",
    "schema",
    "summary",
    "effect",
    "risk",
    "kind",
    "response_schema",
    "rehearsal",
)
"""What the approval keeps as it was asked."""


OPENED: Final[list[Callable[[Approval, dict[str, Any]], None]]] = []
"""What else is written when an approval opens, in its transaction: functions of it and of its rule."""
