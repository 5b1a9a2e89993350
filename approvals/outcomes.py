"""Outcomes: what became of a call, beside the approval that let it run and in the ledger of its run."""

from __future__ import annotations

from uuid import UUID

from approvals import rows
from approvals.approvals import Approval
from approvals.ledger import canonical, entries


def report(
    workspace_id: UUID, chain: str, subject: str, outcome: str, *, note: str = "", checkpoint_mac: str = ""
) -> None:
    """Write what became of a call beside the approval that let it run, if one did, and into the ledger of its run.
    Inside the transaction of the result, before the run is locked.

    Raises ValueError for a word that is no outcome.
    """
    if outcome not in {Approval.Outcome.EXECUTED, Approval.Outcome.FAILED, Approval.Outcome.UNKNOWN}:
        raise ValueError(f"{outcome} is no outcome of a call.")
    body = {"subject": subject, "outcome": outcome, "checkpoint_mac": checkpoint_mac}
    body["note_digest"] = canonical.sha256_hex(note.encode())
    found = (
        Approval.objects.filter(workspace_id=workspace_id, subject=subject, status="approved")
        .order_by("-created_at")
        .first()
    )
    if found is not None:
        open_outcomes = [Approval.Outcome.NONE, Approval.Outcome.UNKNOWN]
        columns = {"outcome": outcome, "outcome_note": note, "outcome_at": rows.Now()}
        if not Approval.objects.filter(pk=found.pk, outcome__in=open_outcomes).update(**columns):
            return
        body["approval"] = found.public_id
        rows.publish(workspace_id, found.public_id)
    entries.append(workspace_id, chain, "outcome.reported", body, by="system")
