"""Chronicle: what the proven chain of its run tells of an approval, which is what counts; its rows are only an index.

So whatever is put back, spoilt or removed in the database brings no older yes back to life: the revision that an edit
took away, the vote that was taken back, the end that an approval had come to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from approvals import rows
from approvals.approvals import Approval
from approvals.ledger import about, entries
from approvals.people import Person
from approvals.rulings import Forged
from approvals.votes import Ballot

_REVISED: Final = {"approval.opened", "approval.revised"}
_ENDS: Final = {f"approval.{status}" for status in Approval.Status.values} - {"approval.pending"}


@dataclass(frozen=True)
class Chronicle:
    """The last revision of an approval, what was said of it, how it ended and who edited it, by the entries of its
    chain."""

    revision: int = 0
    digest: str = ""
    made: list[dict[str, Any]] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    editors: set[str] = field(default_factory=set)
    again: str = ""
    """The approval that asks in its place."""

    def check(self, vote: Ballot) -> None:
        """That the rows which a vote was read from tell the same. Raises Forged."""
        approval = vote.approval
        if (self.revision, self.digest) != (vote.revision.number, vote.revision.digest):
            raise Forged(f"By the ledger it is revision {self.revision} of {approval.public_id} that people vote on.")
        if self.ends != [approval.status] and (self.ends or approval.status != Approval.Status.PENDING):
            ended = " and ".join(self.ends) or "pending"
            raise Forged(f"{approval.public_id} is {approval.status}, and by the ledger {ended}.")
        if self.again:
            raise Forged(f"By the ledger {self.again} asks in the place of {approval.public_id}.")
        if {rows.public_id(Person.PREFIX, key) for key in vote.editors} != self.editors:
            raise Forged(f"{approval.public_id} was edited by others than its rows say.")
        self._check_turns(vote)

    def _check_turns(self, vote: Ballot) -> None:
        """That every turn of the ledger is here as it was taken, and that what counts is among them."""
        here = {(one.person.public_id, one.turn): one for one in vote.spoken}
        told = {(entry["by"], entry["turn"]): entry["verdict"] for entry in self.made}
        for (by, turn), verdict in told.items():
            one = here.get((by, turn))
            if one is None or one.verdict != verdict or not one.holds():
                raise Forged(f"Decision {turn} of {by} is not as the ledger tells it.")
        for one in [*vote.yeses, *vote.answers]:
            if (one.person.public_id, one.turn) not in told:
                raise Forged(f"No entry of the ledger tells of decision {one.turn} of {one.person.public_id}.")


def of(approval: Approval) -> Chronicle:
    """What the chain tells of an approval, with what the open transaction adds. Raises about.Broken or UnknownKey where
    the chain proves nothing.

    Whoever compares rows with it without a lock reads it before them: what is entered has its row by then.
    """
    told = about.about(approval.workspace_id, approval.chain, approval.subject)
    # A change comes into force in the transaction of the last yes, whose entries are written at its end.
    added = entries.unwritten(approval.workspace_id, approval.chain)
    told += [entry for entry in added if entry.get("subject") == approval.subject]
    ours = [entry for entry in told if entry.get("approval") == approval.public_id]
    again = (entry["approval"] for entry in told if entry.get("asked_again") == approval.public_id)
    nothing: dict[str, Any] = {"revision": 0, "digest": ""}
    last = next((entry for entry in reversed(ours) if entry["kind"] in _REVISED), nothing)
    return Chronicle(
        last["revision"],
        last["digest"],
        [one for one in ours if (one["kind"], one.get("revision")) == ("decision.made", last["revision"])],
        [entry["kind"].removeprefix("approval.") for entry in ours if entry["kind"] in _ENDS],
        {entry["by"] for entry in ours if entry["kind"] == "approval.revised"},
        next(again, ""),
    )
