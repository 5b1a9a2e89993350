"""A rule as a form, and back: what the form has no field for stays in the rule as it was written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.http import QueryDict

from approvals import bars, policies
from approvals.ledger import canonical
from approvals.pages.policy import fields, whens
from approvals.people import Workspace
from approvals.policies import PolicyFault
from approvals.policy_documents import KINDS, match_kinds

EXTRA: Final = 2
"""So many empty rows for conditions stand at the end."""
LONGEST: Final = 20_000
NEW: Final[dict[str, Any]] = {"id": "", "match": {}, "verdict": "require_approval", "approvals": []}


@dataclass(frozen=True)
class RuleForm:
    """What stands in the fields. ``raw`` is the condition as JSON where it says more than rows can."""

    id: str
    verdict: str
    tools: str
    agents: str
    kinds: tuple[str, ...]
    rows: tuple[whens.Row, ...]
    raw: str | None
    counts: Mapping[str, str]
    words: Mapping[str, Any]
    kept: Mapping[str, Any]
    place: str

    @property
    def shown_rows(self) -> list[whens.Row]:
        return [*self.rows, *[("", "maximum", "")] * EXTRA]


def of_rule(rule: Mapping[str, Any], place: int) -> RuleForm:
    """The form for a rule as it is written; a word that is not of its shape is kept, not shown."""
    match = rule.get("match") if isinstance(rule.get("match"), dict) else {}
    assert isinstance(match, dict)
    when = match.get("when") if isinstance(match.get("when"), dict) else None
    rows = whens.rows(when) if when is not None else []
    return RuleForm(
        id=str(rule.get("id", "")),
        verdict=str(rule.get("verdict", "")),
        tools=_lines(match.get("tool")),
        agents=_lines(match.get("agent")),
        kinds=tuple(match_kinds(match)) if "kind" in match else (),
        rows=tuple(rows or ()),
        raw=canonical.encode(when).decode() if when is not None and rows is None else None,
        counts={need["team"]: str(need.get("count", 1)) for need in _needs(rule)},
        words={field.name: field.shown(rule.get(field.name)) for field in fields.FIELDS},
        kept={name: rule[name] for name in rule if name in fields.KEPT},
        place=str(place),
    )


def of_post(sent: QueryDict, teams: Mapping[str, str], old: Mapping[str, Any]) -> RuleForm:
    """The form as it was sent. ``old`` is the rule that it was made of."""
    rows = zip(sent.getlist("argument"), sent.getlist("comparison"), sent.getlist("value"), strict=False)
    typed = {name: sent.getlist(name) if ticks else _text(sent, name) for name, ticks in _NAMES.items()}
    return RuleForm(
        id=_text(sent, "id").strip(),
        verdict=_text(sent, "verdict"),
        tools=_text(sent, "tools"),
        agents=_text(sent, "agents"),
        kinds=tuple(kind for kind in KINDS if kind in sent.getlist("kind")),
        rows=tuple((name.strip()[:200], word, value[:2000]) for name, word, value in rows if name.strip()),
        raw=_text(sent, "when") if "when" in sent else None,
        counts={team: _text(sent, f"count-{team}").strip() for team in teams},
        words=typed,
        kept={name: old[name] for name in old if name in fields.KEPT},
        place=_text(sent, "place").strip(),
    )


_NAMES: Final = {field.name: field.kind == "ticks" for field in fields.FIELDS}


def _text(sent: QueryDict, name: str) -> str:
    return sent.get(name, "").replace("\x00", "").replace("\r\n", "\n")[:LONGEST]


def _lines(names: Any) -> str:
    return names if isinstance(names, str) else "\n".join(map(str, names or ()))


def _needs(rule: Mapping[str, Any]) -> list[dict[str, Any]]:
    needs = rule.get("approvals")
    return [need for need in needs if isinstance(need, dict) and "team" in need] if isinstance(needs, list) else []


# And back


def rule_of(form: RuleForm) -> dict[str, Any]:
    """The rule as it is to be written. Raises PolicyFault for what no rule could be made of."""
    match: dict[str, Any] = {"kind": _one_or_more(list(form.kinds))} if form.kinds else {}
    for name, listed in (("tool", form.tools), ("agent", form.agents)):
        names = [line.strip() for line in listed.replace(",", "\n").splitlines() if line.strip()]
        match |= {name: _one_or_more(list(dict.fromkeys(names)))} if names else {}
    when = _raw(form.raw) if form.raw is not None else whens.condition(form.rows)
    match |= {"when": when} if when else {}
    rule: dict[str, Any] = {"id": form.id, "match": match, "verdict": form.verdict}
    said = {field.name: field.read(form.words[field.name]) for field in fields.FIELDS}
    if form.verdict == "require_approval" or any(form.counts.values()):
        rule |= _approvals(form)
    return rule | {name: value for name, value in said.items() if value is not None} | dict(form.kept)


def _approvals(form: RuleForm) -> dict[str, Any]:
    needs = []
    for team, typed in form.counts.items():
        if typed in {"", "0"}:
            continue
        if not typed.isdecimal() or len(typed) > 4:
            raise PolicyFault("/approvals", "count", f"Say how many of {team} as a number.")
        needs.append({"team": team} | ({"count": int(typed)} if int(typed) != 1 else {}))
    return {"approvals": needs} if needs else {}


def _raw(text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        read = canonical.parse(text)
    except canonical.Unrepresentable as fault:
        raise PolicyFault("/match/when", fault.rule, f"Line {fault.line or 1}: {fault.message}") from fault
    if not isinstance(read, dict):
        raise PolicyFault("/match/when", "type", "A condition is a JSON Schema: an object.")
    return read


def _one_or_more(names: list[str]) -> str | list[str]:
    return names[0] if len(names) == 1 else names


def check(workspace: Workspace, source: Mapping[str, Any], rule: Mapping[str, Any], others: list[str]) -> None:
    """That this rule may stand in the document, whatever is wrong elsewhere. Raises PolicyFault, whose pointer begins
    at the rule."""
    if rule["id"] in others:
        raise PolicyFault("/id", "unique", f"Another rule is called {rule['id']} already.")
    alone = {name: said for name, said in source.items() if name != "rules"} | {"rules": [dict(rule)]}
    try:
        bars.check_people(workspace.pk, policies.read_document(canonical.encode(alone))["rules"])
    except PolicyFault as fault:
        if not fault.pointer.startswith("/rules/0"):
            return  # that is wrong above the rules, where the page of the draft says so
        raise PolicyFault(fault.pointer.removeprefix("/rules/0"), fault.rule, fault.message) from fault


def put(source: Mapping[str, Any], index: int | None, rule: Mapping[str, Any] | None, place: str) -> dict[str, Any]:
    """The document with a rule put in its place, or taken out where it is None; ``index`` is where it stood."""
    rules = [each for number, each in enumerate(source["rules"]) if number != index]
    if rule is not None:
        wanted = int(place) - 1 if place.isdecimal() and len(place) < 6 else len(rules)
        rules.insert(max(0, min(wanted, len(rules))), dict(rule))
    return {**source, "rules": rules}
