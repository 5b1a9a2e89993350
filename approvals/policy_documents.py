"""A policy's document: how it is checked, and written out with every default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from approvals import (
    escalation,
    policy_floors,
    policy_freezes,
    policy_limits,
    policy_shadow,
    policy_words,
    schemas,
)
from approvals.policy_text import PolicyFault as PolicyFault
from approvals.policy_text import parse as parse
from approvals.policy_words import DURATION, RISKS, WORDS
from approvals.policy_words import seconds as seconds

FORMAT = 1
_NAME = {"type": "string", "minLength": 1, "maxLength": 200}
_NAMES = {"anyOf": [_NAME, {"type": "array", "items": _NAME, "minItems": 1, "uniqueItems": True}]}
KINDS = ("breakpoint", "question", "budget", "outcome", "change")
"""What people are asked beside calls; a rule that names one of these says who is asked, and for how long."""
CHANGES = ("change.policy", "change.team", "change.tool")
"""What can be changed, as a rule of the kind `change` names it under `match.tool`."""
_KIND = {"enum": [*KINDS]}
_KINDS = {"anyOf": [_KIND, {"type": "array", "items": _KIND, "minItems": 1, "uniqueItems": True}]}
_POINTERS = {"type": "array", "items": {"type": "string", "pattern": "^(/([^/~]|~[01])*)+$"}, "uniqueItems": True}

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["policy", "rules"],
    "properties": {
        "policy": {"const": FORMAT},
        "at_least": policy_floors.SCHEMA,
        "freezes": policy_freezes.SCHEMA,
        "limits": policy_limits.SCHEMA,
        "shadow": policy_shadow.SCHEMA,
        "masks": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {**_POINTERS, "minItems": 1},
        },
        "rules": {"type": "array", "items": {"type": "object"}, "maxItems": 500},
    },
}
RULE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "match", "verdict"],
    "properties": {
        "id": {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,79}$"},
        "match": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"kind": _KINDS, "tool": _NAMES, "agent": _NAMES, "when": {"type": "object"}},
        },
        "verdict": {"enum": ["allow", "deny", "require_approval"]},
        "reason": {"type": "string", "maxLength": 300},
        "risk": {"enum": [*RISKS]},
        "approvals": {
            "type": "array",
            "minItems": 1,
            "maxItems": 20,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["team"],
                "properties": {"team": _NAME, "count": {"type": "integer", "minimum": 1, "maximum": 20}},
            },
        },
        "prevent_self_review": {"type": "boolean"},
        "editor_may_approve": {"type": "boolean"},
        "allowed_decisions": {
            "type": "array",
            "items": {"enum": ["approve", "edit", "reject", "respond"]},
            "minItems": 1,
            "uniqueItems": True,
            "contains": {"const": "reject"},
        },
        "editable": _POINTERS,
        "deadline": DURATION,
        "on_deadline": {"enum": ["return_expired", "cancel_run", "escalate"]},
        **{name: word.schema for name, word in WORDS.items()},
    },
}
_ONLY_FOR_CALLS = ["allowed_decisions", "editable", "editor_may_approve"]
_ONLY_FOR_CALLS += [name for name, word in WORDS.items() if word.for_calls]
_FOR_ALL = {"id", "match", "verdict", "reason", "risk"}


def read_document(text: str | bytes) -> dict[str, Any]:
    """The document with every default written out. Raises PolicyFault for anything that is not a policy."""
    document = parse(text)
    _hold_to(SCHEMA, document, "")
    top: dict[str, Any] = {"policy": FORMAT}
    if "at_least" in document:
        top["at_least"] = policy_floors.written(document["at_least"], "/at_least")
    if "freezes" in document:
        top["freezes"] = policy_freezes.checked(document["freezes"], "/freezes")
    top |= {name: document[name] for name in ("limits", "masks") if name in document}
    if "shadow" in document:
        top["shadow"] = policy_shadow.checked(document["shadow"], "/shadow", document)
    seen: set[str] = set()
    rules = []
    for index, rule in enumerate(document["rules"]):
        pointer = f"/rules/{index}"
        _hold_to(RULE_SCHEMA, rule, pointer)
        if rule["id"] in seen:
            raise PolicyFault(f"{pointer}/id", "unique", f"Another rule is called {rule['id']} already.")
        seen.add(rule["id"])
        rules.append(policy_floors.raised(_completed(rule, pointer, top), top, pointer))
    return top | {"rules": rules}


def _hold_to(schema: dict[str, Any], value: Any, at: str) -> None:
    for fault in schemas.validate(schema, value):
        raise PolicyFault(at + fault.pointer, fault.rule, fault.message)


def _completed(rule: dict[str, Any], pointer: str, top: dict[str, Any]) -> dict[str, Any]:
    match: dict[str, Any] = {key: [value] if isinstance(value, str) else value for key, value in rule["match"].items()}
    if "when" in match:
        check_condition(rule["id"], match["when"], f"{pointer}/match/when")
    if "kind" in match:
        _check_kind(rule, pointer)
    _check_verdict(rule, pointer)
    done = {"id": rule["id"], "match": match, "verdict": rule["verdict"], "reason": rule.get("reason", "")}
    done |= {"risk": rule["risk"]} if "risk" in rule else {}
    done |= policy_words.written(rule, pointer, top)
    return done | (_for_people(rule, pointer) if rule["verdict"] == "require_approval" else {"approvals": []})


def _check_verdict(rule: dict[str, Any], pointer: str) -> None:
    """That a rule says nothing which its verdict has no use for."""
    verdict = rule["verdict"]
    fitting = _FOR_ALL | {name for name, word in WORDS.items() if verdict in word.verdicts}
    for name in sorted(set(rule) - fitting) if verdict != "require_approval" else ():
        raise PolicyFault(f"{pointer}/{name}", "verdict", f"{name} belongs to require_approval, not to {verdict}.")


def _check_kind(rule: dict[str, Any], pointer: str) -> None:
    """Of anything but a call a rule says who is asked and for how long; what they may do is the machine's to say."""
    if rule["verdict"] != "require_approval":
        told = "What this rule is about is asked of people: only require_approval fits it."
        raise PolicyFault(f"{pointer}/verdict", "verdict", told)
    for name in _ONLY_FOR_CALLS:
        if name in rule:
            raise PolicyFault(f"{pointer}/{name}", "kind", f"{name} belongs to rules for calls.")
    if "change" in match_kinds(rule["match"]):
        _check_change(rule, pointer)


def _check_change(rule: dict[str, Any], pointer: str) -> None:
    """Of a change a rule says nothing that would never match, or never happen. Raises PolicyFault."""
    if rule.get("on_deadline") == "cancel_run":
        raise PolicyFault(f"{pointer}/on_deadline", "kind", "A change belongs to no run that could end.")
    match = rule["match"]
    if match_kinds(match) != ["change"]:
        raise PolicyFault(f"{pointer}/match/kind", "kind", "A rule for changes is about nothing else.")
    if "agent" in match:
        raise PolicyFault(f"{pointer}/match/agent", "kind", "No agent asks for a change; people do.")
    named = match.get("tool", [])
    if unknown := set([named] if isinstance(named, str) else named) - {*CHANGES}:
        told = f"{min(unknown)} is no change; say {', '.join(CHANGES)}."
        raise PolicyFault(f"{pointer}/match/tool", "kind", told)


def match_kinds(match: Mapping[str, Any]) -> list[str]:
    """What a rule is about; one that names no kind is about calls alone."""
    kinds = match.get("kind", "call")
    return [kinds] if isinstance(kinds, str) else list(kinds)


def _for_people(rule: dict[str, Any], pointer: str) -> dict[str, Any]:
    if "approvals" not in rule:
        raise PolicyFault(f"{pointer}/approvals", "required", "Say which team must approve.")
    escalation.check_end(rule, pointer)
    if not {"approve", "respond"} & set(rule.get("allowed_decisions", ["approve"])):
        told = "Nobody could let it go or answer it, so nobody need be asked: allow approve or respond, or deny it."
        raise PolicyFault(f"{pointer}/allowed_decisions", "satisfiable", told)
    needs = [{"team": need["team"], "count": need.get("count", 1)} for need in rule["approvals"]]
    return {
        "approvals": needs,
        "prevent_self_review": rule.get(
            "prevent_self_review", bool({"call", "change"} & set(match_kinds(rule["match"])))
        ),
        "editor_may_approve": rule.get("editor_may_approve", sum(need["count"] for need in needs) == 1),
        "allowed_decisions": rule.get("allowed_decisions", ["approve", "edit", "reject"]),
        "editable": rule.get("editable"),
        "deadline": seconds(rule.get("deadline", "1d"), f"{pointer}/deadline"),
        "on_deadline": rule.get("on_deadline", "return_expired"),
    }


def check_condition(rule_id: str, when: dict[str, Any], pointer: str) -> None:
    """Under a policy a condition is worth nothing unless all of it is checked, so what is loose in a tool is refused
    here. Raises PolicyFault."""
    try:
        admission = schemas.admit({"name": rule_id, "inputSchema": {"type": "object", **when}})
    except schemas.Inadmissible as fault:
        raise PolicyFault(pointer + fault.pointer.removeprefix("/inputSchema"), fault.rule, fault.message) from fault
    for warning in (warning for warning in admission.warnings if warning.unchecked):
        raise PolicyFault(pointer + warning.pointer.removeprefix("/inputSchema"), "condition", warning.text)
