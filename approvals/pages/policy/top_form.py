"""What stands above the rules as a form: limits, the shadow, masks, freezes, and what is asked at least."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from approvals import policies
from approvals.ledger import canonical
from approvals.policies import PolicyFault
from approvals.policy_freezes import DAYS
from approvals.policy_words import RISKS

Typed = Mapping[str, str]
Source = Mapping[str, Any]
NAMES: Final = (
    "open_per_agent",
    "yeses_per_minute",
    "shadow",
    "masks",
    "freezes",
    *(f"{risk}-{what}" for risk in RISKS for what in ("people", "assurance")),
)
"""The fields."""
PART_OF: Final = {"limits": ("open_per_agent", "yeses_per_minute"), "shadow": ("shadow",)}


def typed(source: Source) -> dict[str, str]:
    """What stands in the fields for a document as it is written. Raises ValueError where it says what they cannot."""
    limits, floors = source.get("limits", {}), source.get("at_least", {})
    found = {name: str(limits.get(name, "")) for name in ("open_per_agent", "yeses_per_minute")}
    found["shadow"] = str(source.get("shadow", {}).get("until", ""))
    found["masks"] = "\n".join(_mask(tool, pointers) for tool, pointers in source.get("masks", {}).items())
    found["freezes"] = "\n".join(_freeze(name, window) for name, window in source.get("freezes", {}).items())
    for risk in RISKS:
        floor = floors.get(risk, {})
        floor = floor if isinstance(floor, dict) else {"people": floor}
        found[f"{risk}-people"] = str(floor.get("people", ""))
        found[f"{risk}-assurance"] = str(floor.get("assurance", ""))
    return found


def _mask(tool: str, pointers: list[str]) -> str:
    if any(" " in each or "\n" in each for each in (tool, *pointers)):
        raise ValueError(tool)
    return " ".join([tool, *pointers])


def _freeze(name: str, window: Mapping[str, Any]) -> str:
    if "days" in window:
        return f"{name} {','.join(window['days'])} {window['from']}-{window['to']} {window['zone']}"
    return f"{name} {window['from']} until {window['until']}"


def put(source: Source, said: Typed) -> dict[str, Any]:
    """The document with what the fields say above its rules. Raises PolicyFault, whose pointer names the part."""
    tops = {word: read for word, reads in _PARTS.items() if (read := reads(said, source))}
    kept = {word: value for word, value in source.items() if word not in {*_PARTS, "policy", "rules"}}
    document = {"policy": source.get("policy", 1), **kept, **tops}
    try:
        policies.read_document(canonical.encode({**document, "rules": []}))
    except canonical.Unrepresentable as fault:
        raise PolicyFault(fault.pointer, fault.rule, fault.message) from fault
    return document | {"rules": source["rules"]}


def _limits(said: Typed, _: Source) -> dict[str, Any]:
    return {name: _number(said[name], f"/limits/{name}") for name in PART_OF["limits"] if said[name]}


def _shadow(said: Typed, _: Source) -> dict[str, Any]:
    return {"until": said["shadow"]} if said["shadow"] else {}


def _masks(said: Typed, _: Source) -> dict[str, Any]:
    found: dict[str, list[str]] = {}
    for line in _lines(said["masks"]):
        tool, *pointers = line.split()
        if not pointers or tool in found:
            raise PolicyFault("/masks", "line", f"“{line}”: say a tool once, and then its arguments, such as /iban.")
        found[tool] = pointers
    return found


def _freezes(said: Typed, _: Source) -> dict[str, Any]:
    return dict(_window(line) for line in _lines(said["freezes"]))


def _window(line: str) -> tuple[str, dict[str, Any]]:
    match line.split():
        case [name, start, "until", end]:
            return name, {"from": start, "until": end}
        case [name, days, times, zone] if times.count("-") == 1:
            start, _, end = times.partition("-")
            return name, {
                "days": [*DAYS] if days == "daily" else days.split(","),
                "from": start,
                "to": end,
                "zone": zone,
            }
    told = f"“{line}”: write “nights mon,tue 22:00-06:00 Europe/Berlin”, or a name, a moment, “until” and a moment."
    raise PolicyFault("/freezes", "line", told)


def _floors(said: Typed, source: Source) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for risk in RISKS:
        before = source.get("at_least", {}).get(risk, {})
        words = {"require_message_on"} & set(before) if isinstance(before, dict) else set()
        floor: dict[str, Any] = {word: before[word] for word in words}
        floor |= {"people": _number(said[f"{risk}-people"], f"/at_least/{risk}")} if said[f"{risk}-people"] else {}
        floor |= {"assurance": said[f"{risk}-assurance"]} if said[f"{risk}-assurance"] else {}
        found |= {risk: floor} if floor else {}
    return found


def _number(typed: str, pointer: str) -> int:
    if not typed.isascii() or not typed.isdecimal() or len(typed) > 9:
        raise PolicyFault(pointer, "number", "A whole number.")
    return int(typed)


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines() if line.strip())


_PARTS: Final[dict[str, Callable[[Typed, Source], dict[str, Any]]]] = {
    "at_least": _floors,
    "limits": _limits,
    "freezes": _freezes,
    "masks": _masks,
    "shadow": _shadow,
}
