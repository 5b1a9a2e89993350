"""The API's route of nudges: those who can still decide are told once more that an approval waits for them."""

from __future__ import annotations

from typing import Any, Final

from ninja import Field, Router, Schema, Status

from approvals import api, nudges
from approvals.api_shapes import Error, Who, refusal, who
from approvals.revisions import instant
from approvals.votes import Refused

router = Router(tags=["approvals"])
STATUS: Final = {"not_found": 404, "not_allowed": 403, "too_soon": 429}
"""The HTTP status of a nudge that was not taken; 409 for all others: the approval does not wait for anybody."""


class NudgedOut(Schema):
    """Who was told that the approval waits."""

    told: list[Who]
    later: int = Field(description="How many more are told when their working hours begin.")
    again_at: str = Field(description="From when on it may be nudged again.")


@router.post(
    "/workspaces/{slug}/approvals/{approval_id}/nudges",
    auth=api.PEOPLE,
    response={200: NudgedOut, (401, 403, 404, 409, 429): Error},
    summary="Nudge those who can decide an approval",
    operation_id="nudge_approval",
)
def nudge_approval(request: Any, slug: str, approval_id: str) -> Any:
    """Remind those who can still decide, as the person for whom the agent asks, or who operates it. It decides nothing,
    and may be done once in a quarter of an hour."""
    approval = api.found(request, slug, approval_id)
    if approval is None:
        return Status(404, api.NOWHERE)
    answer = nudges.nudge(approval.workspace_id, approval.pk, by=request.auth)
    if isinstance(answer, Refused):
        return Status(STATUS.get(answer.code, 409), refusal(answer.code, answer.message))
    told = [who(person) for person in answer.told]
    return {"told": told, "later": answer.later, "again_at": instant(answer.again_at)}
