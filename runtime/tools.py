"""Tools: what an agent may propose to use, and how one is used. Only `runtime.dispatch` sends.

Two kinds. A *function* is Python code of this process, registered by the decorator `tool` in a module that
``settings.PLACET_MODULES`` names; a row never makes code be imported. An *http* tool is an endpoint: it is sent a
POST whose body is exactly the approved bytes, and everything else is a header.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from approvals.ledger import canonical
from runtime import budgets, modules, outgoing

EFFECTS: Final = ("pure", "keyed", "natural", "lookup", "unsafe")
"""What a tool promises about being used twice: nothing happens; it honours our key; twice is as once; one can ask;
nothing."""

SAFE_TO_REPEAT: Final = frozenset({"pure", "keyed", "natural"})
TIMEOUT: Final = 30
"""How many seconds a tool has to answer if its definition does not say."""
MAX_TIMEOUT: Final = 600

# How one use ended. "Lost": it was sent, no answer came. "Not sent": this process woke up too late to send it.
EXECUTED: Final = "executed"
FAILED_BEFORE: Final = "failed_before"
FAILED_AFTER: Final = "failed_after"
LOST: Final = "lost"
NOT_SENT: Final = "not_sent"


@dataclass(frozen=True)
class Answer:
    """How one use of a tool ended, what it returned, and a sentence on what went wrong.

    ``message`` may quote the tool and is kept sealed; ``note`` says the same in our words alone and is not.
    ``passing``: nothing happened, and the reason may be gone after a while. ``usage`` is what it spent, in tokens and
    money, if it says so.
    """

    outcome: str
    value: Any = None
    message: str = ""
    note: str = ""
    passing: bool = False
    usage: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Use:
    """What a tool is told beside its arguments. ``seconds`` is all the time it has; ``key`` is the same for every
    attempt."""

    call_id: str
    key: str
    seconds: float
    attempt: int = 1


@dataclass(frozen=True)
class Metered:
    """What a function tool returns that says what it spent: its value, and whole numbers of ``tokens`` and
    ``money``."""

    value: Any
    usage: Mapping[str, int]


class Refused(Exception):
    """Raised by a function tool that did nothing, and will do nothing, with these arguments."""


class Unanswered(Exception):
    """Raised by a function tool that has sent something and does not know what became of it."""


# Functions

Function = Callable[[dict[str, Any], Use], Any]


@dataclass(frozen=True)
class Described:
    """A registered function and its definition, in the words of MCP, with ours beside it."""

    path: str
    function: Function
    definition: dict[str, Any]
    effect: str
    summary: str
    risk: str | None


_functions: Final[dict[str, Described]] = {}


def tool(
    name: str,
    *,
    schema: dict[str, Any],
    title: str = "",
    description: str = "",
    effect: str = "unsafe",
    summary: str = "",
    risk: str | None = None,
    timeout_seconds: int = TIMEOUT,
    **promises: Any,
) -> Callable[[Function], Function]:
    """Register a function ``(args, use) -> JSON`` as a tool of this name. It is allowed in no workspace before
    `definitions.register_function` writes its row there, and even then policy decides about every use.

    ``promises`` are what `runtime.promises` reads beside the time-out: ``retry``, ``key_seconds``, ``lookup``."""
    ours = {"timeout_seconds": timeout_seconds, **promises}
    definition: dict[str, Any] = {"name": name, "inputSchema": schema, "placet": ours}
    definition |= {word: text for word, text in (("title", title), ("description", description)) if text}

    def register(function: Function) -> Function:
        path = f"{function.__module__}.{function.__qualname__}"
        _functions[path] = Described(path, function, definition, effect, summary, risk)
        return function

    return register


def registered() -> list[Described]:
    """Every function tool that this process knows, by name."""
    modules.load()
    return sorted(_functions.values(), key=lambda known: str(known.definition["name"]))


def described(function: Function) -> Described:
    """How a registered function is described. Raises LookupError."""
    return _functions[f"{function.__module__}.{function.__qualname__}"]


# Using one


def send(kind: str, config: dict[str, Any], secret: bytes, args: bytes, use: Use) -> Answer:
    """Use a tool once with exactly these argument bytes. Never raises: whatever happens is an answer."""
    if use.seconds <= 0:
        return _plain(NOT_SENT, "The time to send was over.")
    if kind == "function":
        return _send_function(config, args, use)
    if "url" not in config:
        return _plain(FAILED_BEFORE, "No endpoint is known for this tool yet.")
    return _send_http(config["url"], secret, args, use)


def _plain(outcome: str, told: str) -> Answer:
    return Answer(outcome, message=told, note=told)


def _send_function(config: dict[str, Any], args: bytes, use: Use) -> Answer:
    modules.load()
    known = _functions.get(config["function"])
    if known is None:
        return _plain(FAILED_BEFORE, f"No module of this process registers {config['function']}.")
    try:
        value = known.function(canonical.parse(args), use)
    except Refused as refusal:
        return Answer(FAILED_BEFORE, message=str(refusal), note="The tool refused the call.")
    except Unanswered as silence:
        return Answer(LOST, message=str(silence), note="The tool sent it and was not told what became of it.")
    except Exception as error:  # noqa: BLE001 - whatever a tool raises, its effect may have happened
        told = f"The tool raised {type(error).__name__}"
        return Answer(FAILED_AFTER, message=f"{told}: {error}", note=f"{told}.")
    if isinstance(value, Metered):
        return replace(_executed(value.value), usage=_amounts(value.usage))
    return _executed(value)


def _amounts(given: Any) -> dict[str, int] | None:
    """What was spent, or nothing where what was said of it counts nothing: the estimate is charged then."""
    try:
        return budgets.named(given)
    except ValueError:
        return None


def _executed(value: Any) -> Answer:
    try:
        return Answer(EXECUTED, canonical.parse(canonical.encode(value)))
    except canonical.Unrepresentable as fault:
        return _plain(EXECUTED, f"What the tool returned could not be kept: {fault}")


def look(url: str, secret: bytes, use: Use) -> Answer:
    """Read an address that changes nothing, signed as a call is. Never raises: whatever happens is an answer."""
    headers = {"Accept": "application/json", "User-Agent": "Placet", **signature(secret, use.call_id, b"")}
    try:
        return _read(outgoing.get(url, headers, seconds=use.seconds), use)
    except (outgoing.NeverSent, outgoing.NoAnswer) as error:
        return _plain(LOST, f"It could not be asked. {error}")


def _send_http(url: str, secret: bytes, args: bytes, use: Use) -> Answer:
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "Placet"}
    headers |= {"Idempotency-Key": use.key, **signature(secret, use.call_id, args)}
    try:
        reply = outgoing.post(url, args, headers, seconds=use.seconds)
        return replace(_read(reply, use), usage=_metered(reply.usage))
    except outgoing.NeverSent as error:
        told = f"The tool could not be reached, so nothing was sent. {error}"
        return Answer(FAILED_BEFORE, message=told, note=told, passing=True)
    except outgoing.NoAnswer as error:
        return _plain(LOST, f"It was sent, and no answer came. {error}")


def _metered(header: str) -> dict[str, int] | None:
    """The usage in a header ``Placet-Usage: tokens=812, money=3``; None where there is none."""
    pairs = [part.strip().partition("=") for part in header.split(",") if part.strip()]
    if not pairs or not all(count.isascii() and count.isdigit() and len(count) < 16 for _, _, count in pairs):
        return None
    return _amounts({unit.strip(): int(count) for unit, _, count in pairs})


def signature(secret: bytes, call_id: str, body: bytes) -> dict[str, str]:
    """The headers by which an endpoint knows that the call is ours (Standard Webhooks, symmetric, version 1)."""
    moment = str(int(time.time()))
    signed = f"{call_id}.{moment}.".encode() + body
    code = base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
    return {"webhook-id": call_id, "webhook-timestamp": moment, "webhook-signature": f"v1,{code}"}


def _read(reply: outgoing.Reply, use: Use) -> Answer:
    if 200 <= reply.status < 300:
        return _value(reply)
    note = f"The tool answered {reply.status}."
    told = f"{note} {_text(reply)}".strip()
    # A conflict over a key that was sent before means that the first attempt is still at work; 502 and 504 are said by
    # something in between, which does not know either.
    if reply.status in {408, 502, 504} or (reply.status == 409 and use.attempt > 1):
        return Answer(LOST, message=told, note=note)
    if 400 <= reply.status < 500:
        return Answer(FAILED_BEFORE, message=told, note=note, passing=reply.status in {425, 429})
    return Answer(FAILED_AFTER, message=told, note=note)


def _value(reply: outgoing.Reply) -> Answer:
    if not reply.whole:
        return _plain(EXECUTED, f"The answer was longer than {outgoing.MAX_ANSWER:,} bytes and was not kept.")
    if not reply.body:
        return Answer(EXECUTED)
    if "json" not in reply.content_type:
        return _executed(reply.body.decode("utf-8", "replace"))
    try:
        return Answer(EXECUTED, canonical.parse(reply.body))
    except canonical.Unrepresentable as fault:
        return _plain(EXECUTED, f"The answer could not be kept: {fault}")


def _text(reply: outgoing.Reply) -> str:
    """The first words of an error, for people: plain, cut, without control characters."""
    words = reply.body[:2000].decode("utf-8", "replace")
    return "".join(sign for sign in words if sign.isprintable() or sign == " ")[:300]
