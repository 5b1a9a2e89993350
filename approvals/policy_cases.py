"""Cases written beside a policy: calls, and what it has to say of each. They need no workspace and no database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from approvals import bars, policies, policy_documents, schemas
from approvals.policies import Opinion, PolicyFault, Trial

_NAME = {"type": "string", "minLength": 1, "maxLength": 200}
_VERDICT = {"enum": ["allow", "deny", "require_approval"]}
_TEAMS = {"type": "array", "items": _NAME, "uniqueItems": True}
_EXPECTED = {
    "type": "object",
    "additionalProperties": False,
    "minProperties": 1,
    "properties": {
        "verdict": _VERDICT,
        "rule": {"type": ["string", "null"]},
        "people": {"type": "integer", "minimum": 0},
        "teams": _TEAMS,
        "risk": {"type": "string"},
        "assurance": {"type": "string"},
    },
}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["cases"],
    "properties": {
        "cases": {
            "type": "array",
            "minItems": 1,
            "maxItems": 5000,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["name", "expect"],
                "properties": {
                    "name": _NAME,
                    "kind": {"enum": ["call", *policy_documents.KINDS]},
                    "tool": _NAME,
                    "agent": _NAME,
                    "args": {},
                    "expect": {"if": {"type": "string"}, "then": _VERDICT, "else": _EXPECTED},
                },
            },
        }
    },
}
_STEPS: Final = 5_000_000
"""What reading the cases may cost, in steps of validation: whoever writes the policy writes them."""


@dataclass(frozen=True)
class Case:
    """One call and what is expected of the policy: a few of the words that `told_of` gives."""

    name: str
    kind: str
    tool: str
    agent: str
    args: Any
    expect: Mapping[str, Any]


@dataclass(frozen=True)
class Result:
    """What became of a case: ``wrong`` names each expectation that does not hold with what was found instead."""

    case: Case
    opinion: Opinion
    trials: list[Trial]
    wrong: dict[str, Any]


def beside(policy: Path) -> Path:
    """Where the cases of a policy stand: beside ``refunds.yaml`` that is ``refunds.cases.yaml``."""
    return policy.with_name(f"{policy.stem}.cases{policy.suffix}")


def read_cases(text: bytes) -> list[Case]:
    """The cases in a YAML or JSON text. Raises PolicyFault, naming the place."""
    document = policy_documents.parse(text)
    for fault in schemas.validate(SCHEMA, document, steps=_STEPS):
        raise PolicyFault(fault.pointer, fault.rule, fault.message)
    found: list[Case] = []
    for index, case in enumerate(document["cases"]):
        if case["name"] in {one.name for one in found}:
            raise PolicyFault(f"/cases/{index}/name", "unique", f"Another case is called {case['name']} already.")
        found.append(_case(case, f"/cases/{index}"))
    return found


def _case(said: dict[str, Any], pointer: str) -> Case:
    kind, expect = said.get("kind", "call"), said["expect"]
    if kind == "call" and "tool" not in said:
        raise PolicyFault(f"{pointer}/tool", "required", "Say which tool is called.")
    expect = {"verdict": expect} if isinstance(expect, str) else expect
    return Case(said["name"], kind, said.get("tool", kind), said.get("agent", ""), said.get("args", {}), expect)


def run(document: Mapping[str, Any], cases: list[Case]) -> list[Result]:
    """What a document with its defaults written out says of each case."""
    return [_run(document["rules"], case) for case in cases]


def _run(rules: list[dict[str, Any]], case: Case) -> Result:
    asked = {"tool": case.tool, "agent": case.agent, "args": case.args, "kind": case.kind}
    opinion = policies.judged(rules, 0, **asked)
    found = told_of(opinion)
    wrong = {word: found[word] for word, wanted in case.expect.items() if not _is(found[word], wanted)}
    return Result(case, opinion, policies.tried(rules, **asked), wrong)


def told_of(opinion: Opinion) -> dict[str, Any]:
    """What may be expected of an opinion: the verdict, the rule (None where none matched), how many people it asks and
    of which teams, the risk and the assurance it says."""
    rule = opinion.rule or {"approvals": []}
    return {
        "verdict": opinion.verdict,
        "rule": opinion.rule_id or None,
        "people": len(bars.seats(rule)),
        "teams": sorted({need["team"] for need in rule["approvals"]}),
        "risk": rule.get("risk"),
        "assurance": rule.get("assurance", "click"),
    }


def _is(found: Any, wanted: Any) -> bool:
    return sorted(wanted) == found if isinstance(found, list) else bool(found == wanted)


def unreached(document: Mapping[str, Any], results: list[Result]) -> list[str]:
    """The rules that no case comes to: what they say is said by nobody beside them."""
    reached = {result.opinion.rule_id for result in results}
    return [rule["id"] for rule in document["rules"] if rule["id"] not in reached]
