"""Policy documents, the first rule that matches, and why."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import policies
from approvals.bars import filled
from approvals.ledger import canonical, entries
from approvals.policies import Policy, PolicyFault, read_document
from tests.cast import POLICY, Cast, refund

ALLOW_ALL = "policy: 1\nrules:\n  - {id: all, match: {}, verdict: allow}\n"


def judged(cast: Cast, tool: str, args: Any, agent: str = "refund-desk") -> tuple[str, str]:
    opinion = policies.judge(cast.northwind.pk, tool=tool, agent=agent, args=args)
    return opinion.verdict, opinion.rule_id


@pytest.mark.parametrize(
    ("tool", "args", "said"),
    [
        ("payments.create_refund", refund(5_000), ("allow", "small-refunds")),
        ("payments.create_refund", refund(5_001), ("require_approval", "refunds")),
        ("payments.create_refund", refund(100_000), ("require_approval", "refunds")),
        ("payments.create_refund", refund(100_001), ("require_approval", "large-refunds")),
        ("payments.close_account", {}, ("deny", "no-closing")),
        ("payments.create_refund_all", refund(1), ("deny", "")),
        ("PAYMENTS.create_refund", refund(1), ("deny", "")),
    ],
)
def test_the_first_rule_that_matches_decides(cast: Cast, tool: str, args: Any, said: tuple[str, str]) -> None:
    """AP-A11, AZ-14: an unknown tool is refused, and no tool is matched by the head of its name."""
    assert judged(cast, tool, args) == said


def test_without_a_policy_nothing_is_allowed(cast: Cast) -> None:
    assert policies.judge(cast.halden.pk, tool="payments.create_refund", agent="a", args=refund(1)).verdict == "deny"


def test_an_argument_named_like_a_rule_word_matches_nothing_else(cast: Cast) -> None:
    """AP-A12: arguments are looked at under their own names only."""
    assert judged(cast, "payments.close_account", {"tool": "payments.create_refund", "verdict": "allow"}) == (
        "deny",
        "no-closing",
    )


def test_explain_tells_which_rule_and_why_not_the_others(cast: Cast) -> None:
    opinion, trials = policies.explain(cast.northwind.pk, tool="payments.create_refund", agent="x", args=refund(7_000))
    assert opinion.rule_id == "refunds"
    assert [(trial.rule_id, trial.matches) for trial in trials] == [("small-refunds", False), ("refunds", True)]
    assert trials[0].why.startswith("/amount: ")


def test_loading_makes_versions_and_the_same_text_none(cast: Cast) -> None:
    assert policies.load(cast.northwind, POLICY, by="system").version == 1
    assert policies.load(cast.northwind, ALLOW_ALL, by="system").version == 2
    kinds = [entry["kind"] for entry in entries.read(cast.northwind.pk, "workspace")]
    assert kinds.count("policy.loaded") == 2


def test_a_forged_policy_allows_nothing(cast: Cast) -> None:
    """AU-2, SC-6: a row written past Placet opens nothing."""
    document = canonical.encode(read_document(ALLOW_ALL))
    forged = Policy(workspace=cast.northwind, version=9, document=document)
    forged.digest, forged.mac = canonical.sha256_hex(document), cast.policy.mac
    forged.save(force_insert=True)
    opinion = policies.judge(cast.northwind.pk, tool="payments.close_account", agent="x", args={})
    assert (opinion.verdict, opinion.policy_version) == ("deny", 9)
    assert "not as it was saved" in opinion.reason


RULE = {"id": "r", "match": {}, "verdict": "require_approval", "approvals": [{"team": "finance"}]}


@pytest.mark.parametrize(
    ("rules", "pointer"),
    [
        ([{}], "/rules/0/id"),
        ([RULE | {"verdict": "yes"}], "/rules/0/verdict"),
        ([RULE | {"approval": []}], "/rules/0/approval"),
        ([RULE, RULE], "/rules/1/id"),
        ([RULE | {"approvals": [{"team": "board"}]}], "/rules/0/approvals/0/team"),
        ([RULE | {"approvals": [{"team": "finance", "count": 3}]}], "/rules/0/approvals"),
        ([RULE | {"approvals": [{"team": "finance", "count": 0}]}], "/rules/0/approvals/0/count"),
        ([RULE | {"deadline": "soon"}], "/rules/0/deadline"),
        ([RULE | {"deadline": "91d"}], "/rules/0/deadline"),
        ([RULE | {"on_deadline": "approve"}], "/rules/0/on_deadline"),
        ([RULE | {"allowed_decisions": ["approve"]}], "/rules/0/allowed_decisions"),
        ([RULE | {"editable": ["amount"]}], "/rules/0/editable/0"),
        ([{"id": "r", "match": {}, "verdict": "allow", "approvals": [{"team": "finance"}]}], "/rules/0/approvals"),
        (
            [RULE | {"match": {"when": {"properties": {"a": {"pattern": "(?=x)"}}}}}],
            "/rules/0/match/when/properties/a/pattern",
        ),
        ([RULE | {"match": {"when": {"propertys": {}}}}], "/rules/0/match/when/propertys"),
        ([RULE | {"match": {"when": {"$ref": "https://example.com/s"}}}], "/rules/0/match/when/$ref"),
    ],
)
def test_a_document_that_cannot_be_a_policy_names_the_place(cast: Cast, rules: list[Any], pointer: str) -> None:
    """AZ-3, JS-1: also a rule that nobody could satisfy, and no deadline that approves."""
    with pytest.raises(PolicyFault) as caught:
        policies.load(cast.northwind, canonical.encode({"policy": 1, "rules": rules}), by="system")
    assert caught.value.pointer == pointer


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "policy: 1",
        "policy: 1\nrules: []\nrules: []",
        "policy: 1\npolicy: 1\nrules: []",
        "a: &x [*x]",
        '{"policy": NaN}',
        "a: !!python/name:os.system",
        "policy: !!int '1'\nrules: []",
        "policy: 1\nrules: !!seq []",
        "policy: 1\nrules: ! []",
    ],
)
def test_a_text_that_is_no_policy_is_refused_with_a_sentence(text: str) -> None:
    """IN-E5: said twice is refused in YAML as in JSON, and aliases and tags are not read."""
    with pytest.raises(PolicyFault) as caught:
        read_document(text)
    assert caught.value.message


def test_yaml_has_no_yes_and_no_dates() -> None:
    """The core schema of JSON alone: `no` stays a word and 2026-12-01 stays text."""
    rule = read_document("policy: 1\nrules:\n- {id: no, match: {tool: 2026-12-01}, verdict: deny, reason: yes}")[
        "rules"
    ][0]
    assert (rule["id"], rule["match"]["tool"], rule["reason"]) == ("no", ["2026-12-01"], "yes")


def test_defaults_are_written_out() -> None:
    rule = read_document(canonical.encode({"policy": 1, "rules": [RULE]}))["rules"][0]
    assert (rule["prevent_self_review"], rule["editor_may_approve"], rule["deadline"]) == (True, True, 86_400)
    assert rule["allowed_decisions"] == ["approve", "edit", "reject"] and rule["editable"] is None


@pytest.mark.parametrize(
    ("seats", "people", "count"),
    [
        (["a", "b"], [{"a", "b"}], 1),
        (["a", "b"], [{"a", "b"}, {"a"}], 2),
        (["a", "a"], [{"a"}, {"b"}], 1),
        (["a", "b", "c"], [{"a"}, {"a", "b"}, {"b", "c"}], 3),
        (["a"], [], 0),
    ],
)
def test_one_person_fills_one_seat(seats: list[str], people: list[set[str]], count: int) -> None:
    """AZ-4."""
    assert filled(seats, people) == count
