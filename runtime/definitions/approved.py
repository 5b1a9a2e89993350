"""A tool that people approved: it takes the place of the one that they compared it with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from approvals import gate
from approvals.ledger import canonical
from runtime.definitions import offers, toolbox


def put(workspace_id: UUID, document: dict[str, Any], before: dict[str, Any] | None, by: str) -> str:
    """Write the tool of an approved document, inside the transaction of the last yes. Called by approvals, which has
    proved every vote. A sentence, and nothing written, where it does not fit any more; else an empty text."""
    active = toolbox.tool_named(workspace_id, document["tool"])
    if (active.document if active else None) != (before["definition"] if before else None):
        return "The tool is another than the one it was compared with."
    definition = document["definition"]
    ours = definition["placet"]
    words = {"effect": ours["effect"], "summary": ours.get("summary", ""), "risk": ours.get("risk")}
    try:
        offered = offers.offer(definition, kind=ours["kind"], config=ours["reached"], **words)
    except (gate.Inadmissible, ValueError) as fault:
        return f"The tool is not taken in any more. {fault}"
    if canonical.encode(offered.definition) != canonical.encode(definition):
        return "The tool would not be the one that was approved."
    offers.put_in_force(workspace_id, replace(offered, order=document["order"]), by=by)
    return ""
