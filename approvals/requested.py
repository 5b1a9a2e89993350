"""Requested changes: a `respond` to a call that says, field by field, what its next proposal should have otherwise.

One person's request ends the approval, as one no does: it lets nothing run. Approval and call are `answered`, and the
agent is told the comments with the id of the approval, which its next proposal can name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from approvals import approvals, comments, revisions, rows, words
from approvals.answers import Decided
from approvals.approvals import Approval
from approvals.edits import places
from approvals.ledger import canonical, sealing
from approvals.said import Attempt, Decision, write
from approvals.votes import Ballot, Refused

if TYPE_CHECKING:
    from approvals.proposals import Proposal

REQUESTED: Final = "request_changes"
"""What stands in the column ``choice`` of such a response and of the approval that it ended."""
MOST: Final = 50
"""A request names so many fields at most."""
LONGEST: Final = 1000
"""The longest comment on one field, in characters."""


@dataclass(frozen=True)
class Change:
    """What one field should be otherwise: its JSON pointer, empty for the call as a whole, and the words."""

    pointer: str
    comment: str


def request(vote: Ballot, attempt: Attempt) -> Decided | Refused:
    """Take the request of one person: the approval ends with it."""
    wanted = [Change(each.pointer, words.spoken(each.comment)) for each in attempt.changes or ()]
    if refusal := _refusal(vote, wanted):
        return refusal
    said = replace(attempt, response=encoded(wanted), choice=REQUESTED)
    write(vote, said, "respond")
    ended: dict[str, Any] = {"by": said.by.public_id, "person": said.by, "message": said.message}
    ended |= {"response": said.response, "choice": REQUESTED, "voted_on": vote.revision}
    approvals.settle(vote.approval, Approval.Status.ANSWERED, **ended)
    return Decided(vote.approval.status, vote.revision.number, vote.filled, vote.needed)


def _refusal(vote: Ballot, wanted: list[Change]) -> Refused | None:
    if vote.approval.kind != Approval.Kind.CALL:
        return Refused("decision_not_allowed", "Changes are requested of a call; this is answered otherwise.")
    if not 1 <= len(wanted) <= MOST:
        return Refused("invalid_changes", f"Name one field at least, and at most {MOST}.", pointer="/requested_changes")
    if len({each.pointer for each in wanted}) < len(wanted):
        return Refused("invalid_changes", "Each field is named once.", pointer="/requested_changes")
    args = canonical.parse(revisions.args_of(vote.revision))
    return next(filter(None, (_unfit(args, number, each) for number, each in enumerate(wanted))), None)


def _unfit(args: Any, number: int, change: Change) -> Refused | None:
    at = f"/requested_changes/{number}"
    if not _is_pointer(change.pointer) or not _is_there(args, change.pointer):
        return Refused("invalid_changes", "There is no such field in the call.", pointer=f"{at}/pointer")
    if not 1 <= len(change.comment) <= LONGEST:
        told = f"Say in 1 to {LONGEST} characters what should be otherwise."
        return Refused("invalid_changes", told, pointer=f"{at}/comment")
    unfit = comments.unfit(change.comment)
    return replace(unfit, code="invalid_changes", pointer=f"{at}/comment") if unfit else None


def _is_pointer(text: str) -> bool:
    return text == "" or (text.startswith("/") and "~" not in text.replace("~0", "").replace("~1", ""))


def _is_there(args: Any, pointer: str) -> bool:
    """A field of the call, or one that its object could have."""
    if pointer == "" or places.at(args, pointer) is not places.ABSENT:
        return True
    parent = pointer.rpartition("/")[0]
    return isinstance(places.at(args, parent), dict)


def encoded(changes: Iterable[Change]) -> bytes:
    """The response that a request is: what the agent is told in the place of the tool's result."""
    told = [{"comment": each.comment.strip(), "pointer": each.pointer} for each in changes]
    return canonical.encode({"requested_changes": told})


# Questions


def is_request(one: Decision | Approval) -> bool:
    """Whether changes were requested by it, or it ended so."""
    return one.choice == REQUESTED


def changes_of(decision: Decision) -> list[Change]:
    """What a decision requested. Raises Tampered."""
    if decision.verdict != "respond" or not is_request(decision):
        return []
    if not decision.holds():
        raise sealing.Tampered("The request is not the one that was made.")
    told = canonical.parse(decision.clear_response())["requested_changes"]
    return [Change(each["pointer"], each["comment"]) for each in told]


def made(changes: Iterable[tuple[str, str]]) -> tuple[Change, ...]:
    """Changes of pointers and words."""
    return tuple(Change(pointer, comment) for pointer, comment in changes)


def of(workspace_id: Any, named: str, *, chain: str, tool: str) -> Approval | None:
    """The approval of this id, if changes of a call of this tool were requested by it in this run."""
    key = rows.parse_id(Approval.PREFIX, named)
    found = Approval.objects.filter(workspace_id=workspace_id, pk=key, chain=chain, tool=tool) if key else None
    ended = found.filter(status="answered", choice=REQUESTED).first() if found is not None else None
    return ended if ended is not None and ended.kind == Approval.Kind.CALL else None


def unfounded(proposal: Proposal) -> str:
    """Why a proposal cannot revise what it says that it revises; nothing where it can, or says nothing."""
    named, tool = proposal.revises, proposal.tool.name
    if not named or of(proposal.workspace_id, named, chain=proposal.chain, tool=tool):
        return ""
    return f"No changes of a call of {tool} were requested in this run by {named[:40]}."
