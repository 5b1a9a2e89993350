"""The API's routes of comments: what people say of an approval without deciding it."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest
from ninja import Field, Router, Schema, Status
from pydantic import ConfigDict

from approvals import api, comments, rows
from approvals.api_shapes import Error, Who, refusal, who
from approvals.comments import Comment
from approvals.ledger.sealing import Erased, Tampered
from approvals.revisions import instant
from approvals.votes import Refused

router = Router(tags=["approvals"])
STATUS: Final = {"not_found": 404, "not_allowed": 403, "erased": 410, "too_many_comments": 409}
"""The HTTP status of a comment that was not taken; 422 for all others: the words are at fault."""


class CommentIn(Schema):
    """Words of a person."""

    model_config = ConfigDict(extra="forbid", strict=True)

    message: str = Field(description="At most 4000 characters.")


class CommentOut(Schema):
    """What one person said of one revision, and decided nothing."""

    comment_id: str
    said_by: Who
    revision: int
    message: str
    said_via: str
    said_at: str


class Comments(Schema):
    """The comments on an approval, in their order."""

    comments: list[CommentOut]


@router.get(
    "/workspaces/{slug}/approvals/{approval_id}/comments",
    auth=api.PEOPLE,
    response={200: Comments, (401, 403, 404, 409, 410): Error},
    summary="Read the comments on an approval",
    operation_id="list_comments",
)
def list_comments(request: HttpRequest, slug: str, approval_id: str) -> Any:
    """What people said without deciding. Comments are for people: an agent's credential does not read them."""
    approval = api.found(request, slug, approval_id)
    if approval is None:
        return Status(404, api.NOWHERE)
    try:
        with rows.within(approval.workspace_id):
            return {"comments": [_told(one) for one in comments.of(approval)]}
    except Erased:
        return Status(410, refusal("erased", "What was said here was erased with its run."))
    except Tampered as fault:
        return Status(409, refusal("tampered", str(fault)))


@router.post(
    "/workspaces/{slug}/approvals/{approval_id}/comments",
    auth=api.PEOPLE,
    response={200: CommentOut, (400, 401, 403, 404, 409, 410, 413, 415, 422): Error},
    summary="Comment on an approval",
    operation_id="comment_on_approval",
)
def comment_on_approval(request: Any, slug: str, approval_id: str, payload: CommentIn) -> Any:
    """Say something of an approval, open or settled. It decides nothing, and the agent is not told."""
    approval = api.found(request, slug, approval_id)
    if approval is None:
        return Status(404, api.NOWHERE)
    made = comments.leave(approval.workspace_id, approval.pk, by=request.auth, text=payload.message, via="api")
    if isinstance(made, Refused):
        return Status(STATUS.get(made.code, 422), refusal(made.code, made.message, field=made.pointer))
    return _told(made)


def _told(one: Comment) -> dict[str, Any]:
    return {
        "comment_id": one.public_id,
        "said_by": who(one.person),
        "revision": one.revision,
        "message": one.clear_text(),
        "said_via": one.said_via,
        "said_at": instant(one.said_at),
    }
