"""The arguments that a standing grant is asked for: people vote on their digest, and are shown what it stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from approvals import revisions, rows
from approvals.approvals import Approval
from approvals.edits.table import Argument, table
from approvals.ledger import canonical
from approvals.ledger.sealing import Erased
from approvals.pages.cards import tool_of
from approvals.rulings import UNPROVEN

if TYPE_CHECKING:
    from approvals.pages.told import Told

LIKE, EXACTLY = "like", "exactly"


@dataclass(frozen=True)
class Seen:
    """The arguments of the call that was seen, or why they cannot be shown."""

    rows: list[Argument]
    problem: str = ""


def exactly(asked: Told) -> Seen | None:
    """What the digest in the terms stands for, proved against it; None where the terms name no arguments."""
    terms = asked.last_args if asked.approval.kind == Approval.Kind.GRANT else {}
    if not terms.get(EXACTLY):
        return None
    key = rows.parse_id(Approval.PREFIX, str(terms.get(LIKE)))
    call = Approval.objects.filter(workspace=asked.workspace, pk=key).first() if key else None
    try:
        return _proved(call, str(terms[EXACTLY])) if call and call.holds() else UNPROVABLE
    except Erased:
        return Seen([], "The call that was seen has been erased, and its arguments with it.")
    except UNPROVEN:
        return UNPROVABLE


UNPROVABLE: Final = Seen([], "Nothing of the call that was seen can be proved to be what this digest stands for.")


def _proved(call: Approval, digest: str) -> Seen:
    """The revision whose bytes have this digest. An edit may have come before or after the grant was asked for."""
    for revision in reversed(revisions.revisions(call)):
        args = revisions.args_of(revision)
        if canonical.sha256_hex(args) == digest:
            return Seen(table(canonical.parse(args), tool_of(call)))
    return UNPROVABLE
