"""Rules in words: nothing of a rule is left out, and what differs is told in different words."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import policy_source
from approvals.pages.policy import compared, heads, telling, woven
from approvals.policies import read_document

TEAMS = {"finance": "Finance", "legal": "Legal"}
PLAIN: dict[str, Any] = {
    "id": "r",
    "match": {"tool": "t"},
    "verdict": "require_approval",
    "approvals": [{"team": "finance"}],
}
FREEZES = {"nights": {"days": ["mon"], "from": "22:00", "to": "06:00", "zone": "UTC"}}
LEVELS = [{"teams": ["legal"], "deadline": "2h"}]
GLASS = {"team": "finance", "review": {"team": "legal"}}
SAID: list[dict[str, Any]] = [
    {"match": {}},
    {"match": {"tool": ["t", "u"]}},
    {"match": {"tool": "t", "agent": "desk"}},
    {"match": {"kind": "breakpoint"}},
    {"match": {"kind": ["question", "budget"]}},
    {"match": {"kind": "change"}},
    {"match": {"kind": "change", "tool": "change.policy"}},
    {"match": {"tool": "t", "when": {"required": ["a"]}}},
    {"match": {"tool": "t", "when": {"properties": {"a": {"maximum": 5}}}}},
    {"match": {"tool": "t", "when": {"required": ["a"], "properties": {"a": {"maximum": 5}}}}},
    {"match": {"tool": "t", "when": {"required": ["a"], "properties": {"a": {"exclusiveMaximum": 5}}}}},
    {"match": {"tool": "t", "when": {"required": ["a"], "properties": {"a": {"type": "integer", "maximum": 5}}}}},
    {"match": {"tool": "t", "when": {"required": ["a"], "properties": {"a": {"const": "5"}}}}},
    {"match": {"tool": "t", "when": {"required": ["a"], "properties": {"a": {"const": 5}}}}},
    {"match": {"tool": "t", "when": {"required": ["a"], "properties": {"a": {"enum": [True, None]}}}}},
    {"match": {"tool": "t", "when": {"not": {"required": ["a"]}}}},
    {"match": {"tool": "t", "when": {"properties": {"a": {"properties": {"b": {"minLength": 2}}}}}}},
    {"match": {"tool": "t", "when": {"properties": {"a": False}}}},
    {"verdict": "allow", "approvals": None},
    {"verdict": "allow", "approvals": None, "freeze": ["nights"]},
    {"verdict": "deny", "approvals": None},
    {"reason": "Because."},
    {"risk": "low"},
    {"risk": "high"},
    {"approvals": [{"team": "finance", "count": 2}]},
    {"approvals": [{"team": "finance"}, {"team": "legal"}]},
    {"approvals": [{"team": "legal"}]},
    {"prevent_self_review": False},
    {"editor_may_approve": False},
    {"allowed_decisions": ["approve", "reject"]},
    {"allowed_decisions": ["reject", "respond"]},
    {"editable": []},
    {"editable": ["/a"]},
    {"editable": ["/a", "/b"]},
    {"deadline": "2d"},
    {"on_deadline": "cancel_run"},
    {"on_deadline": "escalate", "escalate": LEVELS},
    {"on_deadline": "escalate", "escalate": [{"teams": ["legal"], "deadline": "3h"}]},
    {"remind_after": "1h"},
    {"assurance": "click"},
    {"assurance": "session"},
    {"assurance": "fresh"},
    {"require_message_on": ["approve"]},
    {"require_message_on": ["approve", "edit"]},
    {"hold_after": "5m"},
    {"hold_after": "5m", "valid_for": "3d"},
    {"valid_for": "1h"},
    {"freeze": ["nights"]},
    {"standing": {"for": "1h", "uses": 1}},
    {"standing": {"for": "1h", "uses": 2}},
    {"standing": {"for": "1h", "uses": 2, "sum": {"of": "/a", "at_most": 9}}},
    {"break_glass": GLASS},
    {"break_glass": {"team": "legal", "review": {"team": "legal", "within": "2h"}}},
]


def document(said: dict[str, Any]) -> dict[str, Any]:
    rule = {word: value for word, value in (PLAIN | said).items() if value is not None}
    return read_document(policy_source.text({"policy": 1, "freezes": FREEZES, "rules": [rule]}))


def words(said: dict[str, Any]) -> str:
    told = telling.told(document(said)["rules"][0], TEAMS)
    return " | ".join(["".join(part.text for part in told.sentence), *told.more, told.reason])


def test_rules_that_say_different_things_are_told_in_different_words() -> None:
    told = [words(said) for said in [{}, *SAID]]
    assert [one for one in told if told.count(one) > 1] == []


@pytest.mark.parametrize("said", [{}, *SAID], ids=lambda said: "-".join(said) or "plain")
def test_the_source_of_a_document_reads_as_the_same_document(said: dict[str, Any]) -> None:
    whole = document(said)
    assert read_document(policy_source.written(whole)) == whole


def test_the_words_of_a_rule_have_their_weights() -> None:
    told = telling.told(document({"match": {"tool": "t", "agent": "desk"}})["rules"][0], TEAMS)
    assert [(part.text, part.look) for part in told.sentence if part.look] == [
        ("t", "code"),
        ("desk", "code"),
        ("one of Finance", "strong"),
    ]


def test_a_comparison_holds_every_character_of_both_sides() -> None:
    old, new = (document({"approvals": [{"team": "finance", "count": count}]}) for count in (1, 2))
    [line] = compared.lines(old, new, TEAMS)
    told = {kind: "".join(run.text for run in line.sentence if run.kind in ("same", kind)) for kind in ("del", "ins")}
    assert told == {"del": "t needs one of Finance.", "ins": "t needs two of Finance."}
    assert {run.text.strip() for run in line.sentence if run.kind == "ins"} == {"two"} and line.news == "changed"


def test_a_rule_that_changed_its_place_says_from_where() -> None:
    rules = [PLAIN | {"id": name, "match": {"tool": name}} for name in ("a", "b", "c")]
    old, new = (
        read_document(policy_source.text({"policy": 1, "rules": each})) for each in (rules, rules[2:] + rules[:2])
    )
    assert [(line.rule_id, line.news) for line in compared.lines(old, new, TEAMS)] == [
        ("c", "was rule 3"),
        ("a", ""),
        ("b", ""),
    ]


def test_what_stands_above_the_rules_is_compared_too() -> None:
    old, new = ({"rules": [], "limits": {"yeses_per_minute": most}} for most in (5, 9))
    [(_, runs)] = compared.tops(old, new)
    assert [(run.kind, run.text.strip()) for run in runs if run.kind != "same"] == [("del", "5"), ("ins", "9")]
    assert [kind for _, (run,) in compared.tops(old, {"rules": []}) for kind in [run.kind]] == ["del"]


def test_a_word_above_the_rules_that_nobody_knows_yet_is_told_literally() -> None:
    assert heads.told({"policy": 1, "rules": [], "moons": [1]}) == [("moons", "[1]")]


def test_what_a_list_says_otherwise_stands_in_its_place() -> None:
    runs = woven.lists(["2 days", "never", "so"], ["8 hours", "never", "so", "held"])
    assert [(run.kind, run.text) for run in runs] == [
        ("del", "2 days"),
        ("ins", "8 hours"),
        ("same", " · "),
        ("same", "never"),
        ("same", " · "),
        ("same", "so"),
        ("same", " · "),
        ("ins", "held"),
    ]


@pytest.mark.parametrize(
    ("seconds", "words"), [(60, "1 minute"), (87_300, "1 day 15 minutes"), (7201, "2 hours 1 second")]
)
def test_a_length_of_time_is_told_exactly(seconds: int, words: str) -> None:
    assert telling.length(seconds) == words


@pytest.mark.parametrize(
    ("match", "sentence"),
    [
        ({"kind": "change", "tool": ["change.policy", "change.team"]}, "A change of the policy or of a team needs"),
        ({"kind": ["question", "budget"]}, "A question of an agent or a spent budget needs"),
    ],
)
def test_what_is_asked_beside_calls_is_never_told_to_be_editable(match: dict[str, Any], sentence: str) -> None:
    told = words({"match": match})
    assert told.startswith(sentence) and "edit" not in told
