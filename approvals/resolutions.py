"""Resolutions: how an approval ended, told to the machine that asked, inside the transaction that ends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from approvals import revisions
from approvals.people import Person
from approvals.rulings import UNPROVEN

if TYPE_CHECKING:
    from approvals.approvals import Approval
    from approvals.revisions import Revision

OF_THE_WORKSPACE: Final = "workspace"
"""The chain of what is asked for the workspace itself."""


@dataclass(frozen=True)
class Resolution:
    """How an approval ended, as the machine that asked is told.

    ``digest`` names the approved bytes, None for any other end. Where people answered (status ``answered``),
    ``response`` is what they gave as canonical JSON, or ``choice`` the option they took. None of it is proof: at the
    moment it takes effect `gate.clearance` or `gate.answer` is asked.
    """

    workspace_id: UUID
    subject: str
    chain: str
    approval_id: str
    status: str
    revision: int
    digest: str | None = None
    args_digest: str | None = None
    message: str = ""
    decided_by: str = ""
    on_deadline: str = "return_expired"
    kind: str = "call"
    response: bytes | None = None
    choice: str = ""
    person: str = ""
    """The public id of whoever ended it, empty where nobody did."""


def of(
    approval: Approval,
    *,
    message: str = "",
    response: bytes | None = None,
    person: Person | None = None,
    voted_on: Revision | None = None,
) -> Resolution:
    """How this approval ended. What only its decisions hold is read from them where it is not given."""
    named = ("workspace_id", "subject", "chain", "status", "revision", "choice")
    facts: dict[str, Any] = {name: getattr(approval, name) for name in named}
    if approval.status == "approved":
        voted_on = voted_on or revisions.current_revision(approval)
        facts |= {"digest": voted_on.digest, "args_digest": voted_on.args_digest}
    return Resolution(
        approval_id=approval.public_id,
        kind=str(approval.kind),
        message=message,
        response=_response(approval) if approval.status == "answered" and response is None else response,
        decided_by=person.name if person else "",
        person=person.public_id if person else "",
        on_deadline=_on_deadline(approval),
        **facts,
    )


def _on_deadline(approval: Approval) -> str:
    """What becomes of the run of what nobody decided, by the signed rule."""
    if approval.status != "expired":
        return "return_expired"
    try:
        rule = revisions.bar_of(revisions.current_revision(approval))
    except UNPROVEN:
        return "return_expired"
    return str(rule.get("on_deadline", "return_expired"))


def again(approval: Approval) -> Resolution:
    """How this approval ended, read anew, with what was said at its end."""
    made = approval.decisions.filter(person=approval.decided_by).select_related("person")
    last = made.order_by("-decided_at").first()
    if last is None or approval.status not in {"approved", "answered", "rejected"}:
        return of(approval, message="Nobody decided in time." if approval.status == "expired" else "")
    return of(approval, message=last.kept_message(), person=last.person)


def _response(approval: Approval) -> bytes | None:
    last = approval.decisions.filter(verdict="respond").order_by("-decided_at").first()
    return last.clear_response() if last else None


OWN: Final[dict[str, Callable[[Resolution], bool | None]]] = {}
"""What approvals itself carries out, by the kind of the approval; of everything else the machine hears."""


def tell(resolution: Resolution) -> bool:
    """Call the plain function by which the machine hears; named in settings so that approvals never imports it. False
    where the machine says that it is too late for this. What nobody's run waits for stays in the workspace."""
    if own := OWN.get(resolution.kind):
        return own(resolution) is not False
    if resolution.chain == OF_THE_WORKSPACE:
        return True
    function: Callable[[Resolution], bool | None] = import_string(settings.PLACET_RESOLVED)
    return function(resolution) is not False
