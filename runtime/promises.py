"""Promises: what a tool's definition says of being used again, and what follows from it when a sending went wrong.

All of it stands under ``placet`` in the definition, so people approve it with the rest, and changing it makes a new
version of the tool::

    "effect": "keyed", "timeout_seconds": 20, "key_seconds": 86400,
    "retry": {"tries": 5, "wait_seconds": 2, "longest_seconds": 300},
    "lookup": {"url": "https://pay.example/refunds?reference={reference}"}       or   {"tool": "refunds.find"}
    "target": {"tool": "payments.get_charge", "args": {"charge": "/charge"}}
    "preview": {"tool": "payments.preview_refund"}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from approvals.ledger import canonical
from runtime import outgoing, tools

DAY: Final = 24 * 3600
TRIES: Final = 3
"""How often a call is sent at most, where its definition does not say and every sending ended without an effect."""
FIRST_WAIT: Final = 2
LONGEST_WAIT: Final = 300
"""Seconds before the second try, doubled before each further one, and the longest of these waits."""
REFERENCE: Final = "{reference}"
"""Where a lookup's address has our idempotency key."""

SCHEMA: Final[Mapping[str, tuple[int, int]]] = {
    "tries": (1, 20),
    "wait_seconds": (1, 3600),
    "longest_seconds": (1, DAY),
}


@dataclass(frozen=True)
class Promise:
    """What one tool promises. ``declared`` says whether its definition has a retry policy of its own."""

    effect: str
    seconds: int
    tries: int
    first_wait: int
    longest_wait: int
    key_seconds: int
    lookup: Mapping[str, str] | None
    declared: bool
    target: Mapping[str, Any] | None = None
    preview: str = ""
    """The tool that says what a call would change, without changing it."""

    @property
    def safe(self) -> bool:
        """Whether it may be sent again though it may have arrived. What is keyed may, as long as its key is known."""
        return self.effect in tools.SAFE_TO_REPEAT

    def wait(self, turn: int) -> int:
        """The seconds to wait before the try after so many."""
        return int(min(self.first_wait * 2 ** min(turn, 20), self.longest_wait))

    def try_again(self, answer: tools.Answer) -> bool:
        """Whether this end of a sending leaves the call to be tried again, as far as tries are left.

        What certainly had no effect may be, if the reason may pass. What may have arrived may be only where arriving
        twice is as once, or where one can ask first. What says that it failed after its effect may have begun is not,
        unless the tool is safe to repeat and wants it.
        """
        match answer.outcome:
            case tools.NOT_SENT:
                return True
            case tools.FAILED_BEFORE:
                return answer.passing
            case tools.LOST:
                return self.safe or self.lookup is not None
            case tools.FAILED_AFTER:
                return self.safe and self.declared
        return False


def of(definition: Mapping[str, Any]) -> Promise:
    """The promise of an admitted definition."""
    ours = definition["placet"]
    retry = ours.get("retry", {})
    wait = retry.get("wait_seconds", FIRST_WAIT)
    return Promise(
        effect=ours["effect"],
        seconds=int(ours.get("timeout_seconds", tools.TIMEOUT)),
        tries=retry.get("tries", TRIES),
        first_wait=wait,
        longest_wait=retry.get("longest_seconds", max(LONGEST_WAIT, wait)),
        key_seconds=ours.get("key_seconds", DAY),
        lookup=ours.get("lookup"),
        declared="retry" in ours,
        target=ours.get("target"),
        preview=ours.get("preview", {}).get("tool", ""),
    )


# Taking one in


def admit(given: Mapping[str, Any], effect: str) -> dict[str, Any]:
    """What a definition says of time-outs, retries, keys, lookups, targets and previews, checked. Raises ValueError,
    naming the word."""
    timeout = given.get("timeout_seconds", tools.TIMEOUT)
    _whole("timeout_seconds", timeout, 1, tools.MAX_TIMEOUT)
    kept: dict[str, Any] = {"timeout_seconds": timeout}
    if "retry" in given:
        kept["retry"] = _retry(given["retry"])
    if "key_seconds" in given:
        if effect != "keyed":
            raise ValueError("key_seconds is for keyed tools: it says how long they know a key.")
        _whole("key_seconds", given["key_seconds"], 60, 366 * DAY)
        kept["key_seconds"] = given["key_seconds"]
    if "lookup" in given:
        if effect not in {"keyed", "lookup"}:
            raise ValueError(
                "lookup is for tools of the effect lookup, and for keyed ones once their key is forgotten."
            )
        kept["lookup"] = _lookup(given["lookup"])
    if "target" in given:
        kept["target"] = _target(given["target"])
    if "preview" in given:
        kept["preview"] = _preview(given["preview"])
    return kept


def _retry(given: Any) -> dict[str, int]:
    if not isinstance(given, dict) or not set(given) <= set(SCHEMA):
        raise ValueError(f"retry is an object of {', '.join(SCHEMA)}.")
    for name, value in given.items():
        _whole(f"retry.{name}", value, *SCHEMA[name])
    if given.get("longest_seconds", DAY) < given.get("wait_seconds", FIRST_WAIT):
        raise ValueError("retry.longest_seconds is no less than wait_seconds.")
    return dict(given)


def _lookup(given: Any) -> dict[str, str]:
    if not isinstance(given, dict) or len(given) != 1 or not all(isinstance(each, str) for each in given.values()):
        raise ValueError('lookup is {"url": "https://…{reference}…"} or {"tool": NAME}.')
    if "url" in given:
        if REFERENCE not in given["url"]:
            raise ValueError(f"lookup.url has {REFERENCE} where the idempotency key belongs.")
        outgoing.check_url(given["url"].replace(REFERENCE, "0" * 64))
    elif "tool" not in given:
        raise ValueError('lookup is {"url": "https://…{reference}…"} or {"tool": NAME}.')
    return dict(given)


def _target(given: Any) -> dict[str, Any]:
    told = 'target is {"tool": NAME, "args": {NAME: POINTER}}, with one argument or more.'
    if not isinstance(given, dict) or set(given) != {"tool", "args"} or not isinstance(given["tool"], str):
        raise ValueError(told)
    args = given["args"]
    if not isinstance(args, dict) or not args or not all(isinstance(each, str) and each for each in args.values()):
        raise ValueError(told)
    for place in args.values():
        canonical.split(place)
    return {"tool": given["tool"], "args": dict(args)}


def _preview(given: Any) -> dict[str, str]:
    if not isinstance(given, dict) or set(given) != {"tool"} or not isinstance(given["tool"], str):
        raise ValueError('preview is {"tool": NAME}, a tool that changes nothing.')
    return dict(given)


def _whole(name: str, value: Any, least: int, most: int) -> None:
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{name} must be a whole number from {least} to {most}.")
