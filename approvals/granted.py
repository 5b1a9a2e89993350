"""Granted: a call that people would be asked about, and that a standing grant of theirs covers already."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from approvals import clearance, grants, policies, rows
from approvals.clearance import NotCleared
from approvals.grants import Grant, Terms
from approvals.ledger import canonical
from approvals.rulings import UNPROVEN

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Sought:
    """The call for which a grant is looked for. ``args`` are its canonical bytes."""

    workspace_id: UUID
    subject: str
    tool: str
    agent: str
    definition_digest: str
    requester_id: UUID | None
    args: bytes

    @classmethod
    def of(cls, proposal: Any) -> Sought:
        """What a proposal of the gate proposes."""
        named = ("workspace_id", "subject", "agent", "requester_id", "args")
        tool = {"tool": proposal.tool.name, "definition_digest": proposal.tool.definition_digest}
        return cls(**tool, **{name: getattr(proposal, name) for name in named})


@dataclass(frozen=True)
class Cover:
    """The grant that lets a call through, and the how-manieth use of how many this is."""

    grant_id: str
    number: int
    uses: int

    @property
    def reason(self) -> str:
        """The sentence that is kept with the ruling."""
        return f"Standing grant {self.grant_id} covers it: use {self.number} of {self.uses}."


def cover(sought: Sought, opinion: policies.Opinion, *, by: str) -> Cover | None:
    """Take one use of a grant that covers the call, inside the step's `rows.within`; None where people are to be asked.

    Under a lock from here to the commit, so that calls that race never use more than was given. What cannot be proved
    covers nothing.
    """
    if opinion.rule is None or "standing" not in opinion.rule:
        return None
    named = {"tool": sought.tool, "agent": sought.agent, "definition": sought.definition_digest}
    if not grants.live(sought.workspace_id, **named):
        return None
    grants.lock(sought.workspace_id)
    for grant in grants.live(sought.workspace_id, **named):
        try:
            taken = _take(grant, sought, opinion, by)
        except UNPROVEN as fault:
            log.error("%s covers nothing: it cannot be proved. %s", grant.public_id, fault)
            continue
        if taken:
            return taken
    return None


def _take(grant: Grant, sought: Sought, opinion: policies.Opinion, by: str) -> Cover | None:
    given = clearance.granted(grant)
    if isinstance(given, NotCleared) or clearance.not_covered(given, sought, sought.args, opinion):
        return None
    terms = given.terms_under(opinion.rule or {})
    if sought.requester_id in given.givers or not _in_force(grant, terms):
        return None
    room, amount = grants.spent(grant), terms.amount(canonical.parse(sought.args))
    if room is None or amount is None or grant.uses.filter(subject=sought.subject).exists():
        return None
    number, total = room[0] + 1, room[1] + amount
    if number > terms.uses or total > terms.sum_at_most:
        return None
    grants.use(grant, sought.subject, number=number, amount=amount, by=by)
    return Cover(grant.public_id, number, terms.uses)


def _in_force(grant: Grant, terms: Terms) -> bool:
    ended = grants.told(grant.workspace_id).ended
    return grant.public_id not in ended and grants.instant(rows.now()) < terms.until
