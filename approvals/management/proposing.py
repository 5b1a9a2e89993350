"""What commands do where a change has to be approved: they ask the people whom the policy names."""

from __future__ import annotations

from django.core.management.base import CommandError

from approvals import changes
from approvals.approvals import Approval
from approvals.people import Person, Workspace
from approvals.policies import NeedsApproval
from approvals.votes import Refused


def ask(
    workspace: Workspace,
    change: changes.Change,
    asks: NeedsApproval,
    *,
    by: Person | None,
    reason: str,
    how: str = "--by",
) -> str:
    """Ask for a change; returns what to print. Raises CommandError where nobody wants it by name, or nobody could be
    asked."""
    if by is None:
        raise CommandError(f"{asks} Say who wants it: {how} EMAIL.")
    answer = changes.propose(workspace, change, by=by, reason=reason)
    if isinstance(answer, Refused):
        raise CommandError(answer.message)
    return told(answer)


def told(asked: Approval) -> str:
    """That people are asked, as a command prints it."""
    until = f"{asked.expires_at:%Y-%m-%d %H:%M} UTC"
    return f"Nothing has changed yet: {asked.public_id} asks people until {until}, by rule {asked.rule_id}."
