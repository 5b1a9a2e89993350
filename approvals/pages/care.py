"""Care: what a yes takes on a page where the risk is high. The reader confirms the sentence, and has had time to read.

The form carries the moment at which it was made, signed, with the digest of what it shows. Every verdict of a page
passes `put`, which refuses an unconfirmed or a hasty yes, and loses nothing of what was typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.core import signing

from approvals import assurance, decisions, edits, policies, revisions, rows
from approvals.approvals import Approval
from approvals.decisions import Decided, Refused
from approvals.ledger import canonical
from approvals.oversight import QUICK, READING
from approvals.pages.asked import Asked
from approvals.pages.door import Visit
from approvals.revisions import Revision
from approvals.rulings import UNPROVEN
from approvals.standings import standing

STEPS: Final = (QUICK, 2 * QUICK, 4 * QUICK)
"""The shortest time in which a page is read, in seconds: the first of these in which its arguments can be, or the last.
A yes that is called very quick (`oversight`) cannot be given to little text then."""
_SIGNER: Final = signing.Signer(salt="placet.opened")


@dataclass(frozen=True)
class Care:
    """What a form asks beside the verdict. ``asks`` says whether a yes takes the confirmation and the time; ``wait``
    how many seconds of that are left, as one of the steps, or 0."""

    asks: bool
    opened: str
    wait: int
    sure: bool = False


def of(asked: Asked, said: Mapping[str, Any]) -> Care:
    """The care that a form takes; one that was sent before keeps its moment, and what was confirmed."""
    sent, digest = str(said.get("opened", "")), asked.current.digest
    before = _opened(sent, digest)
    left = seconds(asked.current.length) - (asked.now - before).total_seconds() if before else STEPS[-1]
    wait = min(seconds(asked.current.length), next(step for step in (0, *STEPS) if step >= min(left, STEPS[-1])))
    opened = sent if before else signed(digest, asked.now)
    return Care(grave(asked.approval, asked.rule), opened, wait, bool(before) and said.get("sure") == "yes")


def grave(approval: Approval, rule: Mapping[str, Any]) -> bool:
    """Whether the risk is high, by what was asked or by the rule that stands now."""
    return "high" in (approval.risk, rule.get("risk"))


def seconds(length: int) -> int:
    """How long so many bytes of arguments are read at least."""
    return next((step for step in STEPS if step * READING >= length), STEPS[-1])


def signed(digest: str, at: datetime) -> str:
    """The moment at which a form was made, for its field."""
    return _SIGNER.sign_object({"digest": digest, "at": at.isoformat()})


def _opened(text: str, digest: str) -> datetime | None:
    """When the form was made; None where it does not say so, or shows other bytes."""
    try:
        told = _SIGNER.unsign_object(text)
    except signing.BadSignature:
        return None
    return datetime.fromisoformat(told["at"]) if told["digest"] == digest else None


# The one way from a page to a verdict


def put(
    request: Visit,
    approval: Approval,
    verdict: str,
    *,
    revision: int,
    digest: str,
    edited: bytes | None = None,
    **more: Any,
) -> Decided | Refused:
    """Give a verdict as a page does, unless it is a yes that takes more care: ``unconfirmed``, ``read_on``."""
    refused = _careless(request, approval, verdict, revision, digest, edited)
    return refused or decisions.decide(
        request.workspace.pk,
        approval.pk,
        by=request.user,
        verdict=verdict,
        revision=revision,
        digest=digest,
        via="web",
        edited=edited,
        assurance=assurance.of_session(request),
        **more,
    )


def _careless(
    request: Visit, approval: Approval, verdict: str, revision: int, digest: str, edited: bytes | None
) -> Refused | None:
    """What is missing of the care; None as well where `decide` has a reason of its own to refuse."""
    if verdict not in {"approve", "edit"} or (approval.revision, approval.status) != (revision, "pending"):
        return None
    with rows.within(request.workspace):
        try:
            seen = revisions.current_revision(approval)
            if seen.digest != digest or not _is_grave_yes(request, approval, seen, edited):
                return None
        except UNPROVEN:
            return None
        return _missing(request, seen)


def _missing(request: Visit, seen: Revision) -> Refused | None:
    if request.POST.get("sure") != "yes":
        return Refused("unconfirmed", "Confirm that you have read it: the risk is high.")
    opened, wanted = _opened(request.POST.get("opened", ""), seen.digest), seconds(seen.length)
    if opened is None or (rows.now() - opened).total_seconds() < wanted:
        told = f"At high risk a page is read for {wanted} seconds at least. Nothing is lost: read on, then press again."
        return Refused("read_on", told)
    return None


def _is_grave_yes(request: Visit, approval: Approval, seen: Revision, edited: bytes | None) -> bool:
    rule = revisions.bar_of(seen)
    if edited is None:
        return grave(approval, rule) and standing(approval, request.user).may
    able = standing(approval, request.user)
    value = canonical.parse(edited)
    same = edits.same(canonical.parse(revisions.args_of(seen)), value)
    is_yes = able.may_edit if able.editing_approves and not same else able.may and same
    return is_yes and (grave(approval, rule) or _raises(approval, value))


def _raises(approval: Approval, edited: Any) -> bool:
    """Whether policy sees a high risk in the call only as it was edited."""
    if approval.kind != Approval.Kind.CALL:
        return False
    opinion = policies.judge(approval.workspace_id, tool=approval.tool, agent=approval.agent, args=edited)
    return (opinion.asking or {}).get("risk") == "high"
