"""Backtest: what was ruled, replayed against a policy that is not in force."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from approvals import erasure, gate, policies, policy_backtest, rows
from approvals.policies import read_document
from approvals.policy_backtest import Change, Report
from approvals.rulings import Ruling
from tests.cast import POLICY, REFUND, Cast, ask, propose, refund, say

WIDER = POLICY.replace("maximum: 5000}", "maximum: 60000}")
"""What goes without asking goes up to 600 euro."""


def rule(cast: Cast, amount: Any, **more: Any) -> str:
    """Have a refund ruled on; returns its subject."""
    proposal = propose(cast, refund(amount), **more)
    with rows.within(cast.northwind):
        gate.hold(gate.judge(proposal))
    return proposal.subject


def replay(cast: Cast, text: str, report: Report | None = None) -> list[Change]:
    return list(policy_backtest.replay(cast.northwind.pk, read_document(text), report or Report()))


def test_every_call_with_another_verdict_is_listed_and_no_other(cast: Cast) -> None:
    rule(cast, 5_000)
    wider, report = rule(cast, 42_000), Report()
    rule(cast, 200_000)
    (found,) = replay(cast, WIDER, report)
    assert (found.subject, found.before.verdict, found.after.verdict, found.open) == (
        wider,
        "require_approval",
        "allow",
        True,
    )
    assert report.same == 2


def test_a_rule_that_only_asks_more_people_is_told_as_that(cast: Cast) -> None:
    subject = rule(cast, 42_000)
    (found,) = replay(cast, POLICY.replace("approvals: [{team: finance}]", "approvals: [{team: finance, count: 2}]"))
    assert (found.subject, found.of_verdict) == (subject, False)


def test_a_rule_by_another_name_asks_nothing_else(cast: Cast) -> None:
    rule(cast, 42_000)
    assert replay(cast, POLICY.replace("id: refunds", "id: middling")) == []


def test_an_edit_was_ruled_on_too(cast: Cast, heard: object) -> None:
    """Its bytes are others, and so may be what the proposed policy says of them."""
    approval = ask(cast, refund(100_000))
    say(approval, cast.dana, "edit", edited=refund(50_000))
    (found,) = replay(cast, WIDER)
    assert (found.subject, found.revision, found.open) == (approval.subject, 2, False)


def test_what_placet_refused_whatever_policy_said_is_no_change(cast: Cast) -> None:
    """The arguments do not fit the schema: no policy would have let them through."""
    rule(cast, "much")
    report = Report()
    assert replay(cast, "policy: 1\nrules:\n  - {id: all, match: {}, verdict: allow}\n", report) == []
    assert (report.refused, report.same) == (1, 0)


def test_each_call_is_held_against_the_version_of_its_day(cast: Cast) -> None:
    rule(cast, 42_000)
    policies.load(cast.northwind, WIDER, by="system")
    rule(cast, 42_000)
    (found,) = replay(cast, WIDER)
    assert (found.before.policy_version, found.before.verdict) == (1, "require_approval")
    (found,) = replay(cast, POLICY)
    assert (found.before.policy_version, found.before.verdict) == (2, "allow")


def test_what_was_erased_or_forged_is_counted_and_not_guessed(cast: Cast) -> None:
    """AU-2: arguments that cannot be proved are replayed as nothing."""
    report = Report()
    proposal = propose(cast, refund(1))
    with rows.within(cast.northwind):
        gate.hold(gate.judge(proposal))
        erasure.erase(cast.northwind.pk, proposal.chain)
    forged = Ruling.objects.get()
    forged.pk, forged.subject, forged.args = rows.uuid7(), "call_forged", b"x"
    forged.save(force_insert=True)
    assert replay(cast, WIDER, report) == []
    assert report.erased == 1 and len(report.unproven) == 1 and report.unproven[0].startswith("call_forged")


def test_the_command_lists_the_changes_and_counts_the_rest(cast: Cast, tmp_path: Path) -> None:
    file, out = tmp_path / "next.yaml", StringIO()
    file.write_text(WIDER)
    rule(cast, 100)
    subject = rule(cast, 42_000)
    call_command("policy", "backtest", str(file), "--workspace", "northwind", stdout=out)
    listed, counted = out.getvalue().splitlines()
    assert f"{subject}  payments.create_refund  refund-desk" in listed
    assert listed.endswith("require_approval (refunds, 1 of finance) -> allow (small-refunds)  open now")
    assert counted == "2 calls: 1 other verdicts, 1 alike."
    assert "42000" not in listed and "ch_3PqT" not in listed, "arguments are sealed, and stay so"


def test_a_document_that_could_not_be_loaded_is_not_replayed(cast: Cast, tmp_path: Path) -> None:
    """AZ-3: it names a team that does not exist."""
    file = tmp_path / "next.yaml"
    file.write_text(POLICY.replace("finance", "board"))
    with pytest.raises(CommandError, match="no team board"):
        call_command("policy", "backtest", str(file), "--workspace", "northwind")


def test_only_calls_are_replayed(cast: Cast) -> None:
    """Of a question people are asked whatever policy says."""
    asked = gate.Asked(
        cast.northwind.pk, "q", "run_1", "desk", "agt", "question", "Which?", b"{}", {}, ("respond",), team="finance"
    )
    with rows.within(cast.northwind):
        gate.ask(asked)
    report = Report()
    assert replay(cast, WIDER, report) == [] and report == Report()


def test_the_name_of_a_tool_writes_no_line_of_its_own(cast: Cast, tmp_path: Path) -> None:
    """An agent may propose whatever it likes: the command prints escapes and line breaks as text."""
    hostile = replace(REFUND, name="x\x1b[2J\n0 calls.")
    with rows.within(cast.northwind):
        gate.hold(gate.refuse(propose(cast, refund(), tool=hostile), "There is no such tool."))
    file, out = tmp_path / "all.yaml", StringIO()
    rule = "{id: a, match: {}, verdict: require_approval, approvals: [{team: finance}]}"
    file.write_text(f"policy: 1\nrules: [{rule}]")
    call_command("policy", "backtest", str(file), "--workspace", "northwind", stdout=out)
    assert r"x\u001b[2J\n0 calls." in out.getvalue() and "\x1b" not in out.getvalue()
