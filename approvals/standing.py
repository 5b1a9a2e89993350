"""Standing grants as they stand: each with its terms, what was used of it and why it is over; and who may end one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from approvals import bars, grants, people, revisions, rows
from approvals.approvals import Approval
from approvals.grants import Grant, Terms
from approvals.ledger.about import Broken
from approvals.people import Person, Workspace
from approvals.rulings import UNPROVEN
from approvals.votes import Refused

MOST: Final = 100
"""So many grants are listed, the newest first."""


@dataclass(frozen=True)
class Standing:
    """A grant with its terms; ``problem`` says why those prove nothing. ``state`` is given, over, or the status of the
    approval by which it is asked for; ``why`` is what ended it early."""

    grant: Grant
    terms: Terms | None
    state: str
    uses: tuple[grants.Used, ...] = ()
    why: str = ""
    problem: str = ""

    @property
    def in_force(self) -> bool:
        return self.state == "given"

    @property
    def spent(self) -> int:
        """What the uses add up to, where the terms limit a sum."""
        return sum(use.amount for use in self.uses)


def of(grant: Grant, told: grants.Told, now: str) -> Standing:
    """How a grant stands at a moment, by its terms and by what the ledger says of it."""
    try:
        terms = Terms.read(revisions.args_of(revisions.current_revision(grant.approval)))
    except UNPROVEN as fault:
        return Standing(grant, None, "unproven", problem=str(fault))
    uses, why = told.used.get(grant.public_id, ()), told.ended.get(grant.public_id, "")
    if grant.approval.status != Approval.Status.APPROVED:
        return Standing(grant, terms, str(grant.approval.status), uses)
    return Standing(grant, terms, "over" if why or now >= terms.until else "given", uses, why)


def listed(workspace: Workspace) -> list[Standing]:
    """The newest grants of a workspace. Raises ledger.about.Broken."""
    told, now = grants.told(workspace.pk), grants.instant(rows.now())
    found = Grant.objects.filter(workspace=workspace).select_related("approval").order_by("-created_at")[:MOST]
    return [of(grant, told, now) for grant in found]


def may_end(person: Person, workspace: Workspace, grant: Grant) -> bool:
    """Whether somebody decides such calls, or administers the workspace."""
    decides = person.pk in bars.eligible(workspace.pk, grant.approval.rule).own
    return decides or people.may(person, "administer", workspace)


def end(workspace: Workspace, grant: Grant, *, by: Person | None) -> Refused | None:
    """End a grant at once, also for what it let through and is not sent; ``by`` None is an operator."""
    if by is not None and not may_end(by, workspace, grant):
        return Refused("not_allowed", f"{by.email} may neither decide such calls nor administer {workspace.slug}.")
    try:
        ended = grants.end(grant, by=by.public_id if by else "system")
    except Broken as fault:
        return Refused("tampered", str(fault))
    return None if ended else Refused("no_longer", "It was ended before.")
