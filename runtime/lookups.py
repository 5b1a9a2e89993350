"""Lookups: asking whether a call that may have arrived did arrive, by our own reference, before anything is sent again.

The reference is the call's idempotency key. Whoever is asked answers ``{"found": true, "value": …}`` or
``{"found": false}`` and nothing else: an error page, a wrong address or a 404 is no proof that nothing happened.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from approvals.ledger import canonical
from runtime import definitions, promises, reading, tools
from runtime.calls import Call
from runtime.definitions import Tool

FOUND: Final = "found"
ABSENT: Final = "absent"
UNSURE: Final = "unsure"


@dataclass(frozen=True)
class Sighting:
    """What a lookup brought: found, with what the tool returned then; absent; or unsure, and why."""

    verdict: str
    value: Any = None
    note: str = ""


def look(tool: Tool, call: Call, args: bytes) -> Sighting:
    """Ask the tool's own lookup about the call. Changes nothing, and never raises: whatever happens is an answer."""
    where = tool.promise.lookup or {}
    answer = _by_url(tool, call, where["url"]) if "url" in where else _by_tool(tool, call, where["tool"], args)
    if answer.outcome != tools.EXECUTED:
        return Sighting(UNSURE, note=answer.note or "The lookup failed.")
    told = answer.value
    if isinstance(told, dict) and told.get("found") is True:
        return Sighting(FOUND, told.get("value"), "It was looked up, and it had happened.")
    if isinstance(told, dict) and told.get("found") is False:
        return Sighting(ABSENT, note="It was looked up, and it had not happened.")
    return Sighting(UNSURE, note="The lookup did not say whether it was found.")


def _by_url(tool: Tool, call: Call, url: str) -> tools.Answer:
    secret = definitions.signing_secret(tool) if tool.kind == Tool.Kind.HTTP else b""
    return tools.look(url.replace(promises.REFERENCE, quote(call.key)), secret, _use(call, tool))


def _by_tool(tool: Tool, call: Call, name: str, args: bytes) -> tools.Answer:
    """By another tool of the workspace, which must be one that changes nothing."""
    question = {"reference": call.key, "call": call.public_id, "args": canonical.parse(args)}
    asked = {"call_id": call.public_id, "key": f"lookup:{call.key}"}
    return reading.ask(tool.workspace_id, name, question, **asked, seconds=tools.MAX_TIMEOUT)


def _use(call: Call, asked: Tool) -> tools.Use:
    """A lookup has a key of its own: under the call's key it might be taken for the call."""
    return tools.Use(call.public_id, canonical.sha256_hex(f"lookup:{call.key}".encode()), float(asked.timeout))
