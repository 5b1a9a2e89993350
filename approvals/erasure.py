"""Erasure: what people and agents wrote about the calls of one run goes; who was asked, and who decided what, stays."""

from __future__ import annotations

from uuid import UUID

from approvals import sought
from approvals.approvals import Approval
from approvals.comments import Comment
from approvals.glass import GlassReview
from approvals.previews import Preview
from approvals.rulings import Ruling
from approvals.said import Decision


class StillOpen(Exception):
    """People are still asked about it: what they are to decide on cannot be taken from them."""


def erase(workspace_id: UUID, chain: str) -> None:
    """Empty every sealed column of a chain's approvals, rulings, decisions, comments, glass reviews and previews, and
    forget their words, in an open transaction. Their digests, codes and ledger entries stay. Raises StillOpen."""
    mine = Approval.objects.filter(workspace_id=workspace_id, chain=chain)
    if mine.select_for_update().filter(status="pending").exists():
        raise StillOpen(f"{chain} still asks people: cancel it first.")
    Decision.objects.filter(approval__in=mine).update(message=b"", response=b"", patch=b"")
    Comment.objects.filter(approval__in=mine).update(text=b"")
    GlassReview.objects.filter(approval__in=mine).update(note=b"")
    Preview.objects.filter(approval__in=mine).update(answer=b"")
    Ruling.objects.filter(workspace_id=workspace_id, chain=chain).update(args=b"")
    sought.erase(workspace_id, chain)
    mine.update(context=b"", outcome_note="")
