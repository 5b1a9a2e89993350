"""Readings: a question to another tool of the workspace, one that changes nothing.

It is the one way by which anything but a cleared call reaches a tool, and nothing can be sent by it: a tool that is not
declared `pure`, or whose row is not as it was written, is not asked. It is asked under a key of its own, for under the
call's it might be taken for the call.
"""

from __future__ import annotations

from uuid import UUID

from approvals.ledger import canonical
from runtime import definitions, tools
from runtime.definitions import Tool


def ask(workspace_id: UUID, name: str, question: object, *, call_id: str, key: str, seconds: float) -> tools.Answer:
    """What the tool of this name answers. ``key`` is hashed; ``seconds`` is the longest it may take, if the tool itself
    does not say less. Changes nothing and never raises: whatever happens is an answer."""
    reader = definitions.tool_named(workspace_id, name)
    if reader is None or not definitions.reads(reader):
        return tools.Answer(tools.FAILED_BEFORE, note=f"There is no tool {name} here that only reads.")
    secret = definitions.signing_secret(reader) if reader.kind == Tool.Kind.HTTP else b""
    use = tools.Use(call_id, canonical.sha256_hex(key.encode()), min(float(reader.timeout), seconds))
    return tools.send(str(reader.kind), reader.config, secret, canonical.encode(question), use)
