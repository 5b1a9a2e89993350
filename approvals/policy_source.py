"""The source of a policy: the shortest document that says what one with its defaults written out says.

What is in force is kept with every default, and in a few places in another form than it is written in. A draft begins
with this, and reading it gives the same document again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from approvals.policy_documents import FORMAT, match_kinds

_UNITS: Final = (("d", 86400), ("h", 3600), ("m", 60))
_ORDER: Final = ("id", "match", "verdict", "reason", "risk", "approvals")
"""What stands first in a rule."""
BLANK: Final[dict[str, Any]] = {"policy": FORMAT, "rules": []}


def source(document: Mapping[str, Any]) -> dict[str, Any]:
    """What to write so that reading it gives this document."""
    top = {word: said for word, said in document.items() if word not in {"policy", "rules"}}
    return {"policy": FORMAT, **top, "rules": [_rule(rule) for rule in document["rules"]]}


def written(document: Mapping[str, Any]) -> str:
    """The same as indented JSON."""
    return text(source(document))


def text(said: Mapping[str, Any]) -> str:
    """A source as indented JSON."""
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"


def duration(seconds: int) -> int | str:
    """A length of time as people write it: ``4h`` for 14,400 seconds."""
    return next((f"{seconds // length}{unit}" for unit, length in _UNITS if seconds % length == 0), seconds)


def _rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    ordered = [*(word for word in _ORDER if word in rule), *(word for word in rule if word not in _ORDER)]
    return {word: _as_written(word, rule[word]) for word in ordered if not _goes_without_saying(word, rule)}


def _as_written(word: str, value: Any) -> Any:
    if word == "match":
        return {name: _one_or_more(each) if name != "when" else each for name, each in value.items()}
    if word == "approvals":
        return [{"team": need["team"]} | ({"count": need["count"]} if need["count"] > 1 else {}) for need in value]
    if word in {"deadline", "remind_after", "hold_after", "valid_for"}:
        return duration(value)
    if word == "freeze":
        return [window["name"] for window in value]
    if word == "escalate":
        return [{**level, "deadline": duration(level["deadline"])} for level in value]
    if word == "standing":
        return {**value, "for": duration(value["for"])}
    if word == "break_glass":
        return {**value, "review": {**value["review"], "within": duration(value["review"]["within"])}}
    return value


def _one_or_more(names: list[str]) -> str | list[str]:
    return names[0] if len(names) == 1 else names


def _goes_without_saying(word: str, rule: Mapping[str, Any]) -> bool:
    """Whether a word says no more than its absence does."""
    if word == "reason":
        return not rule[word]
    if rule["verdict"] != "require_approval":
        return word == "approvals"
    kinds = set(match_kinds(rule["match"]))
    if "kind" in rule["match"] and word in {"allowed_decisions", "editable", "editor_may_approve"}:
        return True
    lone = sum(need["count"] for need in rule["approvals"]) == 1
    defaults: dict[str, Any] = {
        "prevent_self_review": bool({"call", "change"} & kinds),
        "editor_may_approve": lone,
        "allowed_decisions": ["approve", "edit", "reject"],
        "editable": None,
        "on_deadline": "return_expired",
    }
    return word in defaults and bool(rule[word] == defaults[word])
