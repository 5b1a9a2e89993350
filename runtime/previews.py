"""Previews: what a call would change, asked of the tool that its definition names, before people are asked.

    "preview": {"tool": "payments.preview_refund"}

That tool is given exactly the arguments of the call, and changes nothing (`runtime.reading`). It is asked before the
call is held, again after each edit, and whenever a reader wants to look again. What it says decides nothing; if it
cannot say anything, people are asked all the same, and read why.
"""

from __future__ import annotations

import logging
from typing import Final
from uuid import UUID

from kombu.exceptions import OperationalError

from approvals import gate, rows
from approvals.ledger import canonical
from runtime import hints, reading, tools
from runtime.calls import Call
from runtime.celery import app
from runtime.definitions import Tool

SECONDS: Final = 10
"""How long a preview may take: people wait for it to be asked."""
TASK: Final = "runtime.preview_call"
APPROVAL: Final = "apr"
"""The prefix of an approval's public id."""

log = logging.getLogger(__name__)


def foresee(tool: Tool, call: Call, args: bytes) -> gate.Foreseen | None:
    """What these arguments would change; None for a tool that offers no preview. Changes nothing and never raises."""
    name = tool.promise.preview
    if not name:
        return None
    # Each look has a key of its own: a tool that knows a key again would say what it said before.
    asked = {"call_id": call.public_id, "key": f"preview:{rows.uuid7().hex}:{call.key}"}
    answer = reading.ask(tool.workspace_id, name, canonical.parse(args), **asked, seconds=SECONDS)
    if answer.outcome != tools.EXECUTED:
        return gate.Foreseen(name, problem=answer.note or "The tool did not answer.")
    return gate.read_preview(name, answer.value)


def wanted(workspace_id: UUID, approval_id: str) -> None:
    """Ask a worker for a preview of a call that waits. Named in settings; called after commit. A message that is lost
    leaves the page saying that there is none yet, with a button to ask again."""
    key = rows.parse_id(APPROVAL, approval_id)
    assert key is not None
    try:
        words = [key.hex, workspace_id.hex]
        app.send_task(TASK, args=words, queue=hints.QUEUE, ignore_result=True, retry=False)
    except (OperationalError, OSError) as error:
        log.warning("The broker cannot be reached, so %s has no new preview: %s", approval_id, type(error).__name__)


def make(workspace_id: UUID, approval_id: str) -> bool:
    """Foresee what a call that waits would change as it stands now. False where there is nothing to foresee."""
    with rows.within(workspace_id):
        asked = gate.preview_wanted(workspace_id, approval_id)
        call_id = rows.parse_id(Call.PREFIX, asked.subject) if asked else None
        call = Call.objects.select_related("tool").filter(pk=call_id, status="held").first() if call_id else None
    if asked is None or call is None or call.tool is None:
        return False
    with rows.reading(workspace_id):
        seen = foresee(call.tool, call, asked.args)
    if seen is None:
        return False
    with rows.within(workspace_id):
        return gate.attach_preview(workspace_id, approval_id, asked.revision, seen)
