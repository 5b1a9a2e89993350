"""Cases beside a policy: what is expected of it, and what the command says where it does not hold."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from approvals import policy_cases
from approvals.ledger import canonical
from approvals.policies import PolicyFault, read_document
from tests.cast import POLICY

CASES = """
cases:
  - {name: a small one goes, tool: payments.create_refund, args: {amount: 5000}, expect: allow}
  - name: a large one asks two
    tool: payments.create_refund
    args: {amount: 100001}
    expect: {verdict: require_approval, rule: large-refunds, people: 2, teams: [finance], assurance: click}
  - {name: what no rule names, tool: payments.close, expect: {verdict: deny, rule: null}}
"""


def run(folder: Path, cases: str = CASES, policy: str = POLICY) -> str:
    out = StringIO()
    (folder / "refunds.yaml").write_text(policy)
    (folder / "refunds.cases.yaml").write_text(cases)
    try:
        call_command("policy", "test", str(folder / "refunds.yaml"), stdout=out)
    except CommandError as error:
        out.write(f"error: {error}")
    return out.getvalue()


def test_cases_that_hold_are_listed_and_so_are_rules_that_none_comes_to(tmp_path: Path) -> None:
    """No database is asked: this test has none."""
    assert run(tmp_path).splitlines() == [
        "ok      a small one goes",
        "ok      a large one asks two",
        "ok      what no rule names",
        "No case comes to rule refunds.",
        "No case comes to rule no-closing.",
        "3 cases hold.",
    ]


def test_a_case_that_fails_says_what_was_found_and_why(tmp_path: Path) -> None:
    told = run(tmp_path, policy=POLICY.replace("maximum: 5000", "maximum: 4999")).splitlines()
    assert told[:4] == [
        "FAILED  a small one goes",
        '        verdict: expected "allow", found "require_approval"',
        "          small-refunds: /amount: Must be at most 4999; 5000 is not.",
        "        * refunds: tool, agent and arguments match",
    ]
    assert told[-1] == "error: 1 of 3 cases failed."


CASE: dict[str, Any] = {"name": "one", "tool": "pay", "expect": "allow"}


@pytest.mark.parametrize(
    ("cases", "pointer"),
    [
        ([], "/cases"),
        ([{"name": "one", "expect": "allow"}], "/cases/0/tool"),
        ([CASE, CASE], "/cases/1/name"),
        ([CASE | {"expect": "allowed"}], "/cases/0/expect"),
        ([CASE | {"expect": {}}], "/cases/0/expect"),
        ([CASE | {"expect": {"verdicts": "allow"}}], "/cases/0/expect/verdicts"),
        ([CASE | {"arguments": {}}], "/cases/0/arguments"),
    ],
)
def test_cases_that_test_nothing_are_refused_at_their_place(cases: list[Any], pointer: str) -> None:
    """A case with a slip of the pen must not pass."""
    with pytest.raises(PolicyFault) as caught:
        policy_cases.read_cases(canonical.encode({"cases": cases}))
    assert caught.value.pointer == pointer


def test_what_is_asked_beside_calls_can_be_a_case() -> None:
    rule = {"id": "pauses", "match": {"kind": "breakpoint"}, "verdict": "require_approval"}
    document = read_document(
        canonical.encode({"policy": 1, "rules": [rule | {"approvals": [{"team": "finance"}], "risk": "low"}]})
    )
    case = {"name": "one", "kind": "breakpoint", "expect": {"rule": "pauses", "risk": "low", "people": 1}}
    cases = policy_cases.read_cases(canonical.encode({"cases": [case, CASE | {"name": "two"}]}))
    first, second = policy_cases.run(document, cases)
    assert (first.wrong, second.wrong) == ({}, {"verdict": "deny"})


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "refunds.yaml").write_text(POLICY)
    with pytest.raises(CommandError, match=r"refunds\.cases.yaml: No such file"):
        call_command("policy", "test", str(tmp_path / "refunds.yaml"))
