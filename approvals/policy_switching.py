"""Switching on: how a document comes into force, for the command and for the pages alike."""

from __future__ import annotations

from approvals import bars, changes, policies, rows
from approvals.approvals import Approval
from approvals.people import Person, Workspace
from approvals.policies import NeedsApproval, Policy
from approvals.votes import Refused


def switch_on(
    workspace: Workspace, text: str | bytes, *, by: Person | None, reason: str = "", based_on: int | None = None
) -> Policy | Approval | Refused:
    """Put a document in force, or, where the policy in force wants its changes approved, ask the people whom it names.

    ``based_on`` is the version that the document was written against: Refused where another is in force by now.
    Raises PolicyFault for what is no policy of this workspace, and NeedsApproval where people have to be asked and
    nobody asks by name.
    """
    document = policies.read_document(text)
    try:
        with rows.within(workspace):
            policies.lock(workspace)
            if refused := moved(workspace, based_on):
                return refused
            return policies.load(workspace, text, by=by.public_id if by else "system", author=by)
    except NeedsApproval:
        if by is None:
            raise
    bars.check_people(workspace.pk, document["rules"])
    return changes.propose(workspace, changes.of_policy(workspace, document), by=by, reason=reason)


def moved(workspace: Workspace, based_on: int | None) -> Refused | None:
    """Why a document that was written against this version is not put in force as it is."""
    current = policies.current_version(workspace.pk)
    if based_on is None or based_on == current:
        return None
    return Refused("moved", f"Version {current} was switched on since this draft was begun from version {based_on}.")
