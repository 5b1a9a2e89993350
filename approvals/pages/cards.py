"""The card of an approval: its current arguments put into words, secrets left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from approvals import masking
from approvals.approvals import Approval
from approvals.channels import kinds
from approvals.channels.card import MENTIONED, Card, Word, card, names_in
from approvals.edits import money
from approvals.edits.view import Tool, View, hidden, root
from approvals.ledger import canonical
from approvals.ledger.sealing import Erased, Tampered
from approvals.revisions import Revision, args_of


def tool_of(approval: Approval) -> Tool:
    """What is known of the tool's arguments: its schema, which of them are money, and which policy masks."""
    return Tool(approval.schema, money.hints(approval.summary), masking.of(approval))


def card_of(approval: Approval, args: Any) -> Card:
    """The words for these arguments of the approval."""
    tool = tool_of(approval)
    if approval.kind != Approval.Kind.CALL and not approval.summary:
        args = {}  # What stands in the variables of a run makes no sentence; the page shows all of them below.
    made = words(tool, approval.summary, approval.tool, approval.tool_title, args)
    approve = kinds.kind(approval.kind, approval.tool).approve
    made = replace(made, approve=approve) if approve else made
    return _rehearsed(made) if approval.rehearsal else made


def _rehearsed(made: Card) -> Card:
    """The same words, which say first that nothing of it is real but the people."""
    return replace(made, words=(Word("Rehearsal: "), *made.words))


def words(tool: Tool, summary: str, name: str, title: str, args: Any) -> Card:
    """The words for a call of a tool; arguments that are told in passing are told in the schema's order."""
    members = {place.name: place for place in root(tool, args).children()} if isinstance(args, dict) else {}
    in_order = {each: place.value for each, place in members.items()} if members else args
    return card(summary, name, title, in_order, secret=_secrets(summary, members))


def _secrets(summary: str, members: dict[str, View]) -> tuple[str, ...]:
    """The secrets among what the words can mention. The rest is not looked through: it may be a megabyte."""
    told = names_in(summary) if summary else list(members)[:MENTIONED]
    return tuple(pointer for name in told if name in members for pointer in hidden(members[name]))


def card_in(approval: Approval, revision: Revision) -> Card:
    """The same for a list, where one row that was tampered with must not take the others along: it says so itself."""
    try:
        return card_of(approval, args_in(revision))
    except Tampered as fault:
        what = "erased" if isinstance(fault, Erased) else "its arguments are not the ones that were sealed"
        told = Word(f"{approval.tool_title}: {what}")
        return Card((told,), "", "", "Approve this call", moves_money=False)


def args_in(revision: Revision) -> Any:
    """The arguments of a revision as a value. Raises Tampered."""
    return canonical.parse(args_of(revision))
