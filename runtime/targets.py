"""Targets: what the arguments of a call point to, looked at when people are asked and again before it is sent.

A tool's definition may say by which other tool of the workspace that is read, one that changes nothing, and which of
its own arguments lead there::

    "target": {"tool": "payments.get_charge", "args": {"charge": "/charge"}}

Of the answer only a code is kept. It goes into what people vote on, so nobody can take it out; if the answer is another
when the call is about to be sent, for the first time or once more after nothing came of it, they are asked again. Only
where an earlier sending may have arrived, and a second one does no harm, is it not looked at: that sending may have
changed it. That narrows the time in which the world can change unseen, to the commit before the sending; it does not
close it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from approvals import gate
from approvals.ledger import canonical
from runtime import calls, definitions, reading, tools
from runtime.calls import Call
from runtime.definitions import Tool
from runtime.leases import Lease

SECONDS: Final = 10
"""How long a look may take: people, or a cleared call, wait for it."""
AGAIN: Final = timedelta(minutes=1)
"""After what time a target that could not be read before the sending is looked at again."""
CHANGED: Final = "What it points to is not as it was when people were asked."
UNPINNED: Final = "People were asked before the tool said how what it points to is looked up."
UNREAD: Final = "What it points to could not be read."


class Unread(Exception):
    """It could not be read, or it is not what the cleared call points to; the message says so."""


@dataclass(frozen=True)
class Sight:
    """What was found by asking ``question`` of ``reader`` about these places; or, in ``why``, why nothing was."""

    reader: str
    places: tuple[str, ...]
    question: dict[str, Any]
    found: bytes = b""
    why: str = ""

    def pinned(self) -> gate.Pin:
        """The pin of what was found. Raises Unread."""
        if self.why:
            raise Unread(self.why)
        return gate.pin(self.found, self.places, self.reader)


def see(tool: Tool, call: Call, args: bytes) -> Sight | None:
    """Look at what these arguments point to; None for a tool that does not say how. Changes nothing and never
    raises."""
    target = tool.promise.target
    if target is None:
        return None
    question = _question(target, canonical.parse(args))
    sight = Sight(target["tool"], tuple(sorted(set(target["args"].values()))), question)
    asked = {"call_id": call.public_id, "key": f"target:{call.key}"}
    answer = reading.ask(tool.workspace_id, sight.reader, question, **asked, seconds=SECONDS)
    if answer.outcome != tools.EXECUTED:
        return replace(sight, why=f"{UNREAD} {answer.note}".strip())
    state = [sight.reader, question, answer.value]
    return replace(sight, found=canonical.encode(state, max_depth=canonical.MAX_DEPTH + 8))


def before_sending(lease: Lease, call: Call) -> Sight | None:
    """What a call points to now that is to be sent: to be asked before the transaction that sends it. Nothing is asked
    in a rehearsal, of which nothing is sent."""
    if lease.rehearsal:
        return None
    tool = definitions.tool_named(call.workspace_id, call.tool_name)
    return see(tool, call, calls.args_of(call)) if tool is not None and definitions.genuine(tool) else None


def changed(tool: Tool, cleared: gate.Cleared, sight: Sight | None) -> str:
    """Why a call that was cleared may not go, by what it points to; empty if it may. Raises Unread.

    One that policy allows outright waited for nobody, and so has no pin.
    """
    target, header = tool.promise.target, cleared.header
    if target is None or not header["approval"]:
        return ""
    pin = gate.pin_of(header)
    if pin is None:
        return UNPINNED
    if sight is None or sight.why:
        raise Unread(sight.why if sight else UNREAD)
    if sight.question != _question(target, canonical.parse(cleared.args)):
        raise Unread(UNREAD)
    return "" if pin.fits(sight.found) else CHANGED


def _question(target: Mapping[str, Any], args: Any) -> dict[str, Any]:
    """What the reader is asked: the arguments that lead there, without those that are not given."""
    found = {name: gate.value_at(args, place) for name, place in target["args"].items()}
    return {name: value for name, value in found.items() if value is not None}
