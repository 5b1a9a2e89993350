"""Asked: what the machine itself wants people to settle, beside the calls that policy holds.

A breakpoint (may the run go on with these variables?), a question, a spent budget, a call of unknown outcome: each is
an approval like any other, decided through the same door. Policy may name a team for a kind; where it names none, those
who may operate the agent decide, except where whoever asks names a team.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

from approvals import floods, policies, questions, revisions, schemas
from approvals.ledger import canonical
from approvals.people import Team

DEADLINE: Final = 7 * 24 * 3600
"""How long people have, in seconds, where neither policy nor whoever asks says so."""


@dataclass(frozen=True)
class Held:
    """What was written of a judgement. ``digest`` names the action where it is allowed outright, else it comes with
    the verdict."""

    verdict: str
    ruling_id: str
    args_digest: str
    digest: str | None
    approval_id: str | None
    reason: str


@dataclass(frozen=True)
class Asked:
    """What people are to settle. ``value`` is what they are shown, as canonical JSON, and may edit where ``editable``
    has pointers; ``schema`` describes it, or, where only a response is asked for, that response.

    ``allowed_decisions`` are among approve, edit, reject, respond and choose; ``options`` the words of a choice.
    ``agent`` is the agent's name and ``agent_id`` its public id, whose operators decide if nothing names a team.
    ``title`` is stored in the clear and says nothing personal; ``summary`` is a template over the value's pointers, for
    a sentence that does. ``deadline`` is seconds, or a number with s, m, h or d. ``tool`` is the tool's name, where the
    matter has one. ``rehearsal``: it belongs to a run of which nothing is sent.
    """

    workspace_id: UUID
    subject: str
    chain: str
    agent: str
    agent_id: str
    kind: str
    title: str
    value: bytes
    schema: dict[str, Any]
    allowed_decisions: tuple[str, ...]
    options: tuple[str, ...] = ()
    context: dict[str, Any] = field(default_factory=dict)
    team: str | None = None
    deadline: str | None = None
    editable: tuple[str, ...] = ()
    response_schema: dict[str, Any] = field(default_factory=dict)
    summary: str = ""
    tool: str = ""
    requester_id: UUID | None = None
    risk: str = "medium"
    rehearsal: bool = False


def ask(asked: Asked, *, checkpoint_mac: str = "", by: str = "system") -> Held:
    """Open the approval that asks people. Inside the step's `rows.within`, like `gate.hold`.

    The verdict is deny, with the reason, where nobody could ever answer (an unknown team, a schema that is none), and
    where the agent asks too much already.
    """
    asked = _with_response_schema(asked)
    problem = _unaskable(asked) or (floods.full(asked.workspace_id, asked.agent) if asked.kind == "question" else "")
    if problem:
        return Held("deny", "", canonical.sha256_hex(asked.value), None, None, problem)
    question = _question(asked, _opinion(asked))
    approval = questions.open_approval(question, checkpoint_mac=checkpoint_mac, by=by)
    first = revisions.current_revision(approval)
    verdict = "require_approval"
    return Held(verdict, first.ruling.public_id, first.args_digest, None, approval.public_id, first.ruling.reason)


def _with_response_schema(asked: Asked) -> Asked:
    """With the schema where it belongs: where nothing but a response is asked for, it describes that."""
    only_response = "respond" in asked.allowed_decisions and not {"approve", "edit"} & set(asked.allowed_decisions)
    if not only_response or asked.response_schema:
        return asked
    return replace(asked, schema={}, response_schema=asked.schema)


def _unaskable(asked: Asked) -> str:
    for schema in (asked.schema, asked.response_schema):
        whole = schema if schema.get("type", "object") == "object" else {"properties": {"response": schema}}
        try:
            schemas.admit({"name": asked.kind, "inputSchema": {"type": "object", **whole}})
        except schemas.Inadmissible as fault:
            return f"Nobody can be asked with this schema. {fault.pointer}: {fault.message}"
    if asked.deadline:
        try:
            policies.seconds(asked.deadline)
        except policies.PolicyFault as fault:
            return f"The deadline cannot be understood. {fault.message}"
    if asked.team and not Team.objects.filter(workspace_id=asked.workspace_id, slug=asked.team).exists():
        return f"The workspace has no team {asked.team}."
    return ""


def definition_digest(kind: str, schema: dict[str, Any], response_schema: dict[str, Any]) -> str:
    """What stands, hashed and signed, in the place of a tool's definition: the schemas people's words are held to."""
    body = {"kind": str(kind), "schema": schema, "response_schema": response_schema}
    return canonical.sha256_hex(canonical.encode(body))


def _question(asked: Asked, opinion: policies.Opinion) -> questions.Question:
    return questions.Question(
        subject=asked.subject,
        chain=asked.chain,
        agent=asked.agent,
        requester_id=asked.requester_id,
        tool=asked.tool or asked.kind,
        tool_title=asked.title[:200],
        definition_digest=definition_digest(asked.kind, asked.schema, asked.response_schema),
        schema=asked.schema,
        summary=asked.summary,
        effect="none",
        risk=(opinion.rule or {}).get("risk") or asked.risk,
        args=asked.value,
        context=asked.context,
        opinion=opinion,
        kind=asked.kind,
        response_schema=asked.response_schema,
        rehearsal=asked.rehearsal,
    )


# Who settles it


def _opinion(asked: Asked) -> policies.Opinion:
    """The rule that has to be met: what the machine allows, with the people whom policy names for this kind."""
    found = policies.judge(
        asked.workspace_id,
        tool=asked.tool or asked.kind,
        agent=asked.agent,
        args=canonical.parse(asked.value),
        kind=asked.kind,
    )
    given = found.rule if found.verdict == "require_approval" and found.rule else _own_rule(asked)
    rule = given | {
        "allowed_decisions": list(asked.allowed_decisions),
        "editable": list(asked.editable),
        "editor_may_approve": True,
        "options": list(asked.options),
    }
    return replace(found, verdict="require_approval", reason=rule["reason"], rule=rule)


def _own_rule(asked: Asked) -> dict[str, Any]:
    seat = asked.team or asked.agent_id
    return {
        "id": asked.kind,
        "match": {},
        "verdict": "require_approval",
        "reason": "",
        "approvals": [{"team": seat, "count": 1}],
        "prevent_self_review": False,
        "deadline": policies.seconds(asked.deadline) if asked.deadline else DEADLINE,
        "on_deadline": "return_expired",
    }
