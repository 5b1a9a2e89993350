"""Repeats: a call that an agent proposes again after people refused it. Asking until somebody gives in is a way in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from approvals.rows import wire

if TYPE_CHECKING:
    from approvals.approvals import Approval

MOST: Final = 100
"""It is counted up to here."""
ALIKE: Final = 1_000
"""So many proposals of the same arguments are looked through, the newest."""


def refused_before(approval: Approval, args_digest: str) -> int:
    """How often people rejected, or stopped, a call of the same agent to the same tool with just these arguments, as
    they were proposed; of calls alone, and rehearsals apart. At most `MOST`, among the last `ALIKE` of them."""
    if approval.kind != "call" or approval.rehearsal:
        return 0
    asked = {"workspace": approval.workspace_id, "agent": approval.agent, "tool": approval.tool}
    return int(wire.value(_REFUSED, asked | {"args": args_digest, "most": MOST, "alike": ALIKE}))


_REFUSED: Final = """
    SELECT count(*) FROM (
        SELECT FROM (
            SELECT approval_id FROM approvals_revision
            WHERE workspace_id = %(workspace)s AND args_digest = %(args)s AND number = 1
            ORDER BY created_at DESC LIMIT %(alike)s
        ) first JOIN approvals_approval asked ON asked.id = first.approval_id
        WHERE asked.agent = %(agent)s AND asked.tool = %(tool)s AND asked.kind = 'call' AND NOT asked.rehearsal
            AND (asked.status = 'rejected' OR asked.status = 'approved' AND EXISTS (SELECT FROM approvals_decision said
                WHERE said.approval_id = asked.id AND said.verdict = 'stop'))
        LIMIT %(most)s
    ) refused
"""


def told(count: int) -> str:
    """The count in words: ``refused twice before``; nothing for none."""
    if not count:
        return ""
    times = {1: "once", 2: "twice"}.get(count, f"{count} times")
    return f"refused {times} {'or more ' if count == MOST else ''}before"
