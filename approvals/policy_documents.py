"""The text of a policy: how a YAML or JSON document is read, checked and written out with every default."""

from __future__ import annotations

import re
from typing import Any

import yaml

from approvals import schemas
from approvals.ledger import canonical

FORMAT = 1
DEADLINE_MAX = 90 * 24 * 3600
"""The longest deadline in seconds: 90 days."""
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_NAME = {"type": "string", "minLength": 1, "maxLength": 200}
_NAMES = {"anyOf": [_NAME, {"type": "array", "items": _NAME, "minItems": 1, "uniqueItems": True}]}
KINDS = ("breakpoint", "question", "budget", "outcome")
"""What people are asked beside calls; a rule that names one of these says who is asked, and for how long."""
_KIND = {"enum": [*KINDS]}
_KINDS = {"anyOf": [_KIND, {"type": "array", "items": _KIND, "minItems": 1, "uniqueItems": True}]}

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["policy", "rules"],
    "properties": {
        "policy": {"const": FORMAT},
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
        "risk": {"enum": ["low", "medium", "high"]},
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
        "editable": {"type": "array", "items": {"type": "string", "pattern": "^(/[^/]*)+$"}, "uniqueItems": True},
        "deadline": {"type": ["integer", "string"]},
        "on_deadline": {"enum": ["return_expired", "cancel_run"]},
    },
}
_ONLY_FOR_CALLS = ("allowed_decisions", "editable", "editor_may_approve")
_ONLY_FOR_PEOPLE = set(RULE_SCHEMA["properties"]) - {"id", "match", "verdict", "reason", "risk"}


class PolicyFault(ValueError):
    """A document that cannot be a policy: the JSON pointer of the place, the rule it breaks, and a sentence."""

    def __init__(self, pointer: str, rule: str, message: str) -> None:
        super().__init__(f"{pointer or 'the document'}: {message}")
        self.pointer, self.rule, self.message = pointer, rule, message


class _Loader(yaml.SafeLoader):
    """YAML with the JSON core schema alone (no dates, no yes/no, no merge keys) and no key said twice."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}


for _tag, _pattern, _first in (
    ("tag:yaml.org,2002:bool", r"^(?:true|false)$", "tf"),
    ("tag:yaml.org,2002:null", r"^(?:null|~|)$", ["n", "~", ""]),
    ("tag:yaml.org,2002:int", r"^-?(?:0|[1-9][0-9]*)$", "-0123456789"),
    ("tag:yaml.org,2002:float", r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$", "-0123456789"),
):
    _Loader.add_implicit_resolver(_tag, re.compile(_pattern), list(_first))


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        line = key_node.start_mark.line + 1
        if not isinstance(key, str):
            raise PolicyFault("", "key", f"Line {line}: a key must be text.")
        if key in found:
            raise PolicyFault("", "duplicate", f"Line {line}: {key} is said twice.")
        found[key] = loader.construct_object(value_node, deep=True)
    return found


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_document(text: str | bytes) -> dict[str, Any]:
    """The document with every default written out. Raises PolicyFault for anything that is not a policy."""
    document = parse(text)
    _hold_to(SCHEMA, document, "")
    seen: set[str] = set()
    rules = []
    for index, rule in enumerate(document["rules"]):
        pointer = f"/rules/{index}"
        _hold_to(RULE_SCHEMA, rule, pointer)
        if rule["id"] in seen:
            raise PolicyFault(f"{pointer}/id", "unique", f"Another rule is called {rule['id']} already.")
        seen.add(rule["id"])
        rules.append(_completed(rule, pointer))
    return {"policy": FORMAT, "rules": rules}


def parse(text: str | bytes) -> Any:
    """The value of a YAML or JSON text, read strictly. Raises PolicyFault with the line or place."""
    raw = text.encode() if isinstance(text, str) else bytes(text)
    try:
        if raw.lstrip()[:1] == b"{":
            return canonical.parse(raw)
        if len(raw) > canonical.MAX_BYTES:
            raise PolicyFault("", "size", f"A policy has at most {canonical.MAX_BYTES} bytes.")
        if b"&" in raw or b"*" in raw:
            _refuse_aliases(raw)
        value = yaml.load(raw, Loader=_Loader)
        canonical.encode(value)
    except canonical.Unrepresentable as fault:
        raise PolicyFault(fault.pointer, fault.rule, fault.message) from fault
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as fault:
        raise PolicyFault("", "syntax", f"This is no YAML: {' '.join(str(fault).split())}") from fault
    return value


def _refuse_aliases(raw: bytes) -> None:
    """Aliases let a small text unfold into gigabytes, and no policy needs them."""
    for event in yaml.parse(raw, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent) and event.start_mark:
            raise PolicyFault(
                "", "alias", f"Line {event.start_mark.line + 1}: write the part out instead of naming it with *."
            )


def _hold_to(schema: dict[str, Any], value: Any, at: str) -> None:
    for fault in schemas.validate(schema, value):
        raise PolicyFault(at + fault.pointer, fault.rule, fault.message)


def _completed(rule: dict[str, Any], pointer: str) -> dict[str, Any]:
    match: dict[str, Any] = {key: [value] if isinstance(value, str) else value for key, value in rule["match"].items()}
    if "when" in match:
        _check_condition(rule["id"], match["when"], f"{pointer}/match/when")
    if "kind" in match:
        _check_kind(rule, pointer)
    done = {"id": rule["id"], "match": match, "verdict": rule["verdict"], "reason": rule.get("reason", "")}
    done |= {"risk": rule["risk"]} if "risk" in rule else {}
    if rule["verdict"] != "require_approval":
        for name in sorted(_ONLY_FOR_PEOPLE & set(rule)):
            raise PolicyFault(
                f"{pointer}/{name}", "verdict", f"{name} belongs to require_approval, not to {rule['verdict']}."
            )
        return done | {"approvals": []}
    return done | _for_people(rule, pointer)


def _check_kind(rule: dict[str, Any], pointer: str) -> None:
    """Of anything but a call a rule says who is asked and for how long; what they may do is the machine's to say."""
    if rule["verdict"] != "require_approval":
        told = "What this rule is about is asked of people: only require_approval fits it."
        raise PolicyFault(f"{pointer}/verdict", "verdict", told)
    for name in _ONLY_FOR_CALLS:
        if name in rule:
            raise PolicyFault(f"{pointer}/{name}", "kind", f"{name} belongs to rules for calls.")


def _for_people(rule: dict[str, Any], pointer: str) -> dict[str, Any]:
    if "approvals" not in rule:
        raise PolicyFault(f"{pointer}/approvals", "required", "Say which team must approve.")
    needs = [{"team": need["team"], "count": need.get("count", 1)} for need in rule["approvals"]]
    return {
        "approvals": needs,
        "prevent_self_review": rule.get("prevent_self_review", "kind" not in rule["match"]),
        "editor_may_approve": rule.get("editor_may_approve", sum(need["count"] for need in needs) == 1),
        "allowed_decisions": rule.get("allowed_decisions", ["approve", "edit", "reject"]),
        "editable": rule.get("editable"),
        "deadline": seconds(rule.get("deadline", "1d"), f"{pointer}/deadline"),
        "on_deadline": rule.get("on_deadline", "return_expired"),
    }


def _check_condition(rule_id: str, when: dict[str, Any], pointer: str) -> None:
    """Under a policy a condition is worth nothing unless all of it is checked, so what is loose in a tool is refused
    here."""
    try:
        admission = schemas.admit({"name": rule_id, "inputSchema": {"type": "object", **when}})
    except schemas.Inadmissible as fault:
        raise PolicyFault(pointer + fault.pointer.removeprefix("/inputSchema"), fault.rule, fault.message) from fault
    for warning in (warning for warning in admission.warnings if warning.unchecked):
        raise PolicyFault(pointer + warning.pointer.removeprefix("/inputSchema"), "condition", warning.text)


def seconds(value: int | str, pointer: str = "") -> int:
    """A duration in seconds: a number of them, or one with s, m, h or d. Raises PolicyFault."""
    found = re.fullmatch(r"([1-9][0-9]{0,8})([smhd])?", str(value), re.ASCII)
    length = int(found[1]) * _UNITS[found[2] or "s"] if found else 0
    if not 1 <= length <= DEADLINE_MAX:
        raise PolicyFault(pointer, "duration", "Give seconds, or a number with s, m, h or d, of at most 90 days.")
    return length
