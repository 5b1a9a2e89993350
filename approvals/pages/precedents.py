"""Precedents: the last calls of the same tool that people decided, so that a reader need not remember them.

They inform and decide nothing: what runs is what people say to this call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from django.db.models import F, QuerySet
from django.utils.safestring import SafeString

from approvals import masking, turns
from approvals.approvals import Approval
from approvals.channels.card import Card
from approvals.decisions import Decision, message_of
from approvals.ledger.sealing import Tampered
from approvals.pages.cards import card_in
from approvals.pages.ruled import joined
from approvals.pages.tags import marked
from approvals.revisions import Revision

if TYPE_CHECKING:
    from approvals.pages.told import Told

SHOWN: Final = 3
COUNTED: Final = 100
"""So many of the last are counted at most."""
DAYS: Final = 90
"""What is older is no precedent."""
QUOTED: Final = 60
"""So many characters of a no's reason stand in the line; the rest is on the page that it leads to."""


@dataclass(frozen=True)
class Precedent:
    """A call that was decided: what it was, who decided, and for a no why."""

    card: Card
    url: str
    yes: bool
    by: str
    said: SafeString | str
    when: datetime | None


@dataclass(frozen=True)
class Precedents:
    """The last few, and how many of how many were approved."""

    rows: list[Precedent]
    counted: str


def of(asked: Told) -> Precedents | None:
    """What was decided before about calls of this tool; None where nothing was, or where it is no call."""
    if not asked.is_call or not asked.pending:
        return None
    found = _decided(asked)
    statuses = list(found.values_list("status", flat=True)[:COUNTED])
    listed = list(found[:SHOWN])
    return Precedents(_rows(asked, listed), _counted(statuses)) if listed else None


def _decided(asked: Told) -> QuerySet[Approval]:
    """By the index over workspace, tool and time, the last one first."""
    since = asked.now - timedelta(days=DAYS)
    return (
        Approval.objects.filter(workspace=asked.workspace, tool=asked.approval.tool, decided_at__gte=since)
        .filter(kind=Approval.Kind.CALL, status__in=["approved", "rejected"], rehearsal=False)
        .exclude(pk=asked.approval.pk)
        .order_by("-decided_at")
    )


def _counted(statuses: list[str]) -> str:
    yes = statuses.count("approved")
    if len(statuses) == COUNTED:
        return f"{yes} of the last {COUNTED} approved"
    return f"{yes} of {len(statuses)} approved in {DAYS} days"


def _rows(asked: Told, listed: list[Approval]) -> list[Precedent]:
    masking.note(asked.workspace.pk, listed)
    current = Revision.objects.filter(approval__in=listed, number=F("approval__revision")).select_related("ruling")
    revisions = {one.approval_id: one for one in current}
    given = _given(listed)
    return [_row(asked, one, revisions[one.pk], given[one.pk]) for one in listed]


def _given(listed: list[Approval]) -> dict[UUID, list[Decision]]:
    """What was said to the last revision of each, as far as it was signed."""
    found: dict[UUID, list[Decision]] = defaultdict(list)
    said = Decision.objects.filter(approval__in=listed, revision=F("approval__revision")).select_related("person")
    for one in said.order_by("turn", "decided_at"):
        if one.holds():
            found[one.approval_id].append(one)
    return found


def _row(asked: Told, approval: Approval, revision: Revision, said: Iterable[Decision]) -> Precedent:
    yes = approval.status == Approval.Status.APPROVED
    wanted = {Decision.Verdict.APPROVE, Decision.Verdict.OVERRIDE} if yes else {Decision.Verdict.REJECT}
    those = [one for one in turns.counting(said) if one.verdict in wanted]
    by = joined(["you" if asked.name(one.person) == "You" else asked.name(one.person) for one in those])
    why = "" if yes or not those else _why(those[-1])
    return Precedent(card_in(approval, revision), asked.url_of(approval), yes, by, why, approval.decided_at)


def _why(decision: Decision) -> SafeString | str:
    try:
        said = message_of(decision)
    except Tampered:
        return ""
    return marked(said if len(said) <= QUOTED else f"{said[:QUOTED].rstrip()}…") if said else ""
