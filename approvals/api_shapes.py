"""An approval as the API tells it: the field's names, times in UTC, secrets as marks that keep them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import F
from ninja import Field, Schema

from approvals import decisions, halts, pins, standings
from approvals.approvals import Approval, context_of
from approvals.edits import patch, raw_text
from approvals.ledger import canonical
from approvals.ledger.sealing import Tampered
from approvals.pages.cards import args_in, tool_of
from approvals.pages.entries import Entry, entries
from approvals.people import Person, Workspace
from approvals.resolutions import OF_THE_WORKSPACE
from approvals.revisions import Revision, instant, revisions


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
    approval: dict[str, Any] | None = Field(None, description="How the approval stands now, where that is the reason.")


class Error(Schema):
    """The one shape of every error."""

    error: Wrong


class Who(Schema):
    """A person."""

    person_id: str
    name: str


class Act(Schema):
    """A call: a tool and its arguments."""

    name: str
    args: Any


class Seat(Schema):
    """So many of a team must say yes."""

    team: str
    count: int


class ApprovalOut(Schema):
    """What is asked, of whom, and how it stands."""

    approval_id: str
    workspace: str
    kind: str
    status: str
    outcome: str
    outcome_note: str
    outcome_at: str | None
    title: str
    tool_call_id: str
    run_id: str = Field(description="Empty where no run waits for it: it is asked for the workspace.")
    agent: str
    requested_by: Who | None
    action_request: Act | None
    risk: str
    effect: str
    revision: int
    action_digest: str
    policy_version: int
    policy_rule_id: str
    approvals: list[Seat]
    required_approvals: int
    votes: int
    allowed_decisions: list[str]
    options: list[str] = Field(description="What a choice is made among.")
    choice: str
    refused_before: int = Field(description="How often people refused the same call of the same agent before.")
    rehearsal: bool = Field(description="Whether nothing of it is ever sent, whatever people say.")
    editable: list[str] | None
    prevent_self_review: bool
    editor_may_approve: bool
    created_at: str
    expires_at: str
    decided_at: str | None
    decided_by: Who | None


class RevisionOut(Schema):
    """The exact arguments of one revision."""

    revision: int
    action_digest: str
    args: Any
    edited_by: Who | None
    created_at: str


class DecisionOut(Schema):
    """What one person said of one revision."""

    decided_by: Who
    in_place_of: Who | None = Field(description="Whose seat it takes, where a deputy said it.")
    verdict: str
    revision: int
    action_digest: str
    message: str
    response: Any
    patch: list[dict[str, Any]] | None = Field(
        description="What an edit changed, as JSON Patch (RFC 6902); null for edits from before it was kept."
    )
    choice: str
    decided_via: str
    decided_at: str


class Stand(Schema):
    """Whether the person who reads this may approve it, and why not."""

    may_approve: bool
    may_edit: bool
    may_respond: bool
    code: str
    reason: str
    in_place_of: str = Field(description="The name of the one whose seat the reader would take, as their deputy.")


class Detail(ApprovalOut):
    """An approval with its history and what the agent said, which nobody has verified."""

    args_schema: dict[str, Any]
    response_schema: dict[str, Any] = Field(description="What an answer has to be, where respond is allowed.")
    reason: str
    messages: list[dict[str, Any]]
    revisions: list[RevisionOut]
    decisions: list[DecisionOut]
    standing: Stand | None
    pinned: list[str] = Field(
        description="The arguments that point to what was looked up when it was asked, and is again before it is sent."
    )


class Page(Schema):
    """Approvals, newest first, and the cursor of the next page."""

    approvals: list[ApprovalOut]
    next: str | None


def refusal(code: str, message: str, *, field: str | None = None, rule: str | None = None) -> dict[str, dict[str, Any]]:
    """The body of an error."""
    return {"error": {"code": code, "message": message, "field": field, "rule": rule}}


def summaries(workspace: Workspace, found: Iterable[Approval]) -> list[dict[str, Any]]:
    """Approvals as a list tells them, in a number of queries that does not grow with theirs.

    One that was tampered with shows no arguments and does not spoil the list.
    """
    listed = list(found)
    held = Revision.objects.filter(approval__in=listed, number=F("approval__revision")).select_related("ruling")
    current = {one.approval_id: one for one in held}
    return [_summary(workspace, entry, current[entry.approval.pk]) for entry in entries(workspace, listed)]


def summary(workspace: Workspace, approval: Approval) -> dict[str, Any]:
    """One approval as a list tells it."""
    return summaries(workspace, [approval])[0]


def _summary(workspace: Workspace, entry: Entry, revision: Revision) -> dict[str, Any]:
    approval, rule = entry.approval, entry.approval.rule
    same = (
        "kind",
        "choice",
        "rehearsal",
        "refused_before",
        "status",
        "outcome",
        "outcome_note",
        "agent",
        "risk",
        "effect",
        "revision",
        "policy_version",
    )
    return {
        "approval_id": approval.public_id,
        "workspace": workspace.slug,
        **{name: getattr(approval, name) for name in same},
        "title": entry.card.title,
        "tool_call_id": approval.subject.partition(":")[0] if approval.subject.startswith("call_") else "",
        "run_id": approval.chain if approval.chain != OF_THE_WORKSPACE else "",
        "requested_by": who(approval.requester),
        "action_request": _action(approval, revision),
        "action_digest": revision.digest,
        "policy_rule_id": approval.rule_id,
        **{name: rule.get(name) for name in ("approvals", "allowed_decisions", "editable")},
        "options": rule.get("options", []),
        "prevent_self_review": rule.get("prevent_self_review", True),
        "editor_may_approve": rule.get("editor_may_approve", False),
        "required_approvals": approval.required,
        "votes": entry.filled,
        "created_at": instant(approval.created_at),
        "expires_at": instant(approval.ends_at),
        "decided_at": _when(approval.decided_at),
        "decided_by": who(approval.decided_by),
        "outcome_at": _when(approval.outcome_at),
    }


def detail(approval: Approval, reader: Person | None) -> dict[str, Any]:
    """An approval with everything of it, for this reader. Raises Tampered."""
    context, held = context_of(approval), revisions(approval)
    return {
        **summary(approval.workspace, approval),
        "args_schema": approval.schema,
        "response_schema": approval.response_schema,
        "reason": str(context.get("reason") or ""),
        "messages": context.get("messages") or [],
        "revisions": [_revision(approval, one) for one in held],
        "decisions": [_decision(one) | {"patch": _patch(one, held)} for one in decisions.decisions_of(approval)],
        "standing": _standing(approval, reader) if reader else None,
        "pinned": list(pin.places) if (pin := pins.of(held[-1].ruling.header)) else [],
    }


def who(person: Person | None) -> dict[str, str] | None:
    """A person by id and name."""
    return {"person_id": person.public_id, "name": person.name} if person else None


def covered(approval: Approval, args: Any) -> Any:
    """The arguments, each secret as `{"$kept": pointer}`."""
    return canonical.parse(raw_text(tool_of(approval), args), max_bytes=4 * canonical.MAX_BYTES)


def _action(approval: Approval, revision: Revision) -> dict[str, Any] | None:
    try:
        return {"name": approval.tool, "args": covered(approval, args_in(revision))}
    except Tampered:
        return None


def _revision(approval: Approval, revision: Revision) -> dict[str, Any]:
    return {
        "revision": revision.number,
        "action_digest": revision.digest,
        "args": covered(approval, args_in(revision)),
        "edited_by": who(revision.editor),
        "created_at": instant(revision.created_at),
    }


def _decision(decision: decisions.Decision) -> dict[str, Any]:
    return {
        "decided_by": who(decision.person),
        "in_place_of": who(decision.in_place_of),
        "verdict": decision.verdict,
        "revision": decision.revision,
        "action_digest": decision.digest,
        "message": decisions.message_of(decision),
        "response": canonical.parse(decision.clear_response()) if decision.verdict == "respond" else None,
        "choice": decision.choice,
        "decided_via": decision.decided_via,
        "decided_at": instant(decision.decided_at),
    }


def _patch(decision: decisions.Decision, held: list[Revision]) -> list[dict[str, Any]] | None:
    """What an edit changed, secrets covered as they are in the arguments that came of it."""
    if not decision.patch_digest:
        return None
    edited = next((one for one in held if one.number == decision.revision + 1), None)
    if edited is None:
        raise Tampered("The revision that came of an edit is gone.")
    return patch.covered(patch.parse(decision.clear_patch()), args_in(edited), tool_of(decision.approval))


def _standing(approval: Approval, reader: Person) -> dict[str, Any]:
    now = standings.standing(approval, reader)
    told: dict[str, Any] = {"may_approve": now.may, "may_edit": now.may_edit, "may_respond": now.may_respond}
    told |= {"code": now.code, "reason": now.reason, "in_place_of": now.in_place_of}
    if halt := halts.of(approval):
        told |= dict.fromkeys(("may_approve", "may_edit", "may_respond"), False)
        told |= {"code": "halted", "reason": halt.told}
    return told


def _when(moment: datetime | None) -> str | None:
    return instant(moment) if moment else None
