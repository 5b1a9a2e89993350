"""The API's route of decisions: a person with a session gives a verdict on one revision."""

from __future__ import annotations

from typing import Any, Final, Literal
from uuid import UUID

from ninja import Field, Router, Schema, Status
from pydantic import ConfigDict

from approvals import api, assurance, decisions, requested, turns
from approvals.api_shapes import ApprovalOut, Error, refusal, summary
from approvals.approvals import Approval
from approvals.decisions import Decided, Refused
from approvals.edits import kept, view
from approvals.ledger import canonical
from approvals.pages.cards import args_in, tool_of
from approvals.people import Person
from approvals.revisions import current_revision

router = Router(tags=["approvals"])

ARGS: Final = "/edited_action/args"
STATUS: Final = {
    "not_found": 404,
    "not_allowed": 403,
    "self_review": 403,
    "editor_cannot_approve": 403,
    "decision_not_allowed": 403,
    "needs_assurance": 403,
    "needs_message": 422,
    "message_too_long": 422,
    "message_not_text": 422,
    "unknown_verdict": 422,
    "invalid_edit": 422,
    "invalid_response": 422,
    "unknown_choice": 422,
    "invalid_changes": 422,
    "policy_refuses": 422,
    "too_fast": 429,
}
"""The HTTP status of a refused verdict; 409 for all others: the approval is not as the caller thinks it is."""
FIELDS: Final = {"stale_revision": "/revision", "wrong_digest": "/action_digest"}


class Action(Schema):
    """A call: a tool and its arguments."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str
    args: dict[str, Any]


class ChangeIn(Schema):
    """What one field of a call should be otherwise."""

    model_config = ConfigDict(extra="forbid", strict=True)

    pointer: str = Field(description="A JSON pointer into the arguments, empty for the call as a whole.")
    comment: str


class DecisionIn(Schema):
    """A verdict on one revision, named by its number and digest as they were read."""

    model_config = ConfigDict(extra="forbid", strict=True)

    verdict: Literal["approve", "edit", "reject", "respond", "choose", "stop", "retract"]
    revision: int = Field(ge=1, description="The number of the revision that was read.")
    action_digest: str = Field(description="The action_digest of the revision that was read.")
    message: str = Field("", description="A comment. A rejection needs one: the agent is told it.")
    edited_action: Action | None = Field(None, description="For edit alone: the same tool, with all its arguments.")
    response: Any = Field(None, description="For respond alone: an answer that fits the response_schema.")
    choice: str = Field("", description="For choose alone: one of the options.")
    requested_changes: list[ChangeIn] | None = Field(
        None, description="For respond to a call, in the place of a response: what should be otherwise."
    )


class DecidedOut(Schema):
    """Where the approval stands after the verdict: pending while more people are needed."""

    status: str
    revision: int
    votes: int
    required_approvals: int
    approval: ApprovalOut


@router.post(
    "/workspaces/{slug}/approvals/{approval_id}/decisions",
    auth=api.PEOPLE,
    response={200: DecidedOut, (400, 401, 403, 404, 409, 413, 415, 422, 429): Error},
    summary="Decide an approval",
    operation_id="decide_approval",
)
def decide_approval(request: Any, slug: str, approval_id: str, payload: DecisionIn) -> Any:
    """Approve, edit, reject, respond, choose, retract one's own vote, or stop what was approved and not sent yet, as
    the person whose session this is. Agents are refused before the id is looked at.

    An edit opens a new revision, and is its editor's yes where the rule says so. The same verdict sent again changes
    nothing and is answered like the first time.
    """
    approval = api.found(request, slug, approval_id)
    if approval is None:
        return Status(404, api.NOWHERE)
    edited = _edited(approval, payload)
    if isinstance(edited, Refused):
        return _refused(approval, edited)
    answer = decisions.decide(
        approval.workspace_id,
        approval.pk,
        by=request.auth,
        verdict=payload.verdict,
        revision=payload.revision,
        digest=payload.action_digest,
        via="api",
        message=payload.message,
        edited=edited,
        assurance=assurance.of_session(request),
        **_said(payload),
    )
    if isinstance(answer, Refused) and not _said_already(request.auth, approval, payload, answer):
        return _refused(approval, answer)
    return _after(approval, answer)


def _said(payload: DecisionIn) -> dict[str, Any]:
    """The answer as `decide` takes it; what cannot be JSON is left to it to refuse."""
    if payload.requested_changes is not None:
        beside = {} if payload.response is None else {"response": b"null"}
        return beside | {"changes": [(each.pointer, each.comment) for each in payload.requested_changes]}
    if payload.verdict != "respond":
        return {"choice": payload.choice}
    try:
        return {"response": canonical.encode(payload.response)}
    except canonical.Unrepresentable:
        return {"response": b"\xff"}


def _edited(approval: Approval, payload: DecisionIn) -> bytes | Refused | None:
    """The edited arguments with every kept secret put back, or what is wrong with the action."""
    action = payload.edited_action
    if payload.verdict != "edit":
        told = "Only an edit has an edited action."
        return Refused("invalid_edit", told, pointer="/edited_action") if action else None
    if action is None:
        return Refused("invalid_edit", "An edit needs the edited action.", pointer="/edited_action")
    if action.name != approval.tool:
        return Refused("invalid_edit", f"An edit keeps the tool: {approval.tool}.", pointer="/edited_action/name")
    base, tool = args_in(current_revision(approval)), tool_of(approval)
    try:
        return canonical.encode(kept.restored(action.args, base, view.root(tool, base)))
    except (kept.Misplaced, canonical.Unrepresentable) as fault:
        return Refused("invalid_edit", fault.message, pointer=ARGS + fault.pointer)


def _said_already(person: Person, approval: Approval, payload: DecisionIn, answer: Refused) -> bool:
    """Whether the person said just this before: a request that is sent again is no error."""
    if answer.code not in turns.SAID or payload.verdict == "edit":
        return False
    last = turns.last_of(person, approval, payload.revision, payload.action_digest)
    choice = payload.choice if payload.requested_changes is None else requested.REQUESTED
    if last is None or (last.verdict, last.choice) != (payload.verdict, choice):
        return False
    return payload.verdict != "respond" or last.response_digest == canonical.sha256_hex(_response(payload))


def _response(payload: DecisionIn) -> bytes:
    """What the answer is kept as."""
    said = _said(payload)
    if "changes" not in said:
        return bytes(said["response"])
    try:
        return requested.encoded(requested.made(said["changes"]))
    except canonical.Unrepresentable:
        return b""


def _refused(approval: Approval, refused: Refused) -> Any:
    approval = _fresh(approval.pk)
    at = "/response" if refused.code == "invalid_response" else ARGS
    faults = [{"field": at + fault.pointer, "rule": fault.rule, "message": fault.message} for fault in refused.faults]
    field = faults[0]["field"] if faults else FIELDS.get(refused.code, refused.pointer)
    body = refusal(refused.code, refused.message, field=field, rule=faults[0]["rule"] if faults else None)
    body["error"] |= {"faults": faults, "approval": summary(approval.workspace, approval)}
    return Status(STATUS.get(refused.code, 409), body)


def _after(approval: Approval, answer: Decided | Refused) -> Any:
    approval = _fresh(approval.pk)
    told = summary(approval.workspace, approval)
    votes = answer.votes if isinstance(answer, Decided) else told["votes"]
    facts = {"status": told["status"], "revision": told["revision"], "required_approvals": told["required_approvals"]}
    return Status(200, facts | {"votes": votes, "approval": told})


def _fresh(key: UUID) -> Approval:
    return Approval.objects.select_related("workspace", "requester", "decided_by").get(pk=key)
