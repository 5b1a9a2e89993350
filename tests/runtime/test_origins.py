"""Whose a run is, for whom and under which definition: the ledger says it, and the columns beside it decide nothing."""

from __future__ import annotations

import pytest

from approvals import policies
from approvals.approvals import Approval
from runtime import definitions, evidence
from tests.runtime import tooling
from tests.runtime.conftest import POLICY, Desk, call
from tests.tampering import Tamper

TRUSTED = "  - {id: trusted, match: {tool: asked.unsafe, agent: trusted}, verdict: allow}\n  - id: asked\n"


@pytest.fixture
def trusted(desk: Desk) -> definitions.Agent:
    """Another agent, whose calls nobody is asked about."""
    policies.load(desk.cast.northwind, POLICY.replace("  - id: asked\n", TRUSTED), by="system")
    return definitions.register_agent(desk.cast.northwind.pk, "trusted", "scripted", {"x": 1}, by="system")


def test_an_agent_that_takes_anothers_name_is_judged_as_itself(
    desk: Desk, trusted: definitions.Agent, tamper: Tamper
) -> None:
    """AU-5, T31: policy, stops and grants go by the name."""
    tamper("UPDATE runtime_agent SET name = 'was-trusted' WHERE name = 'trusted'")
    tamper("UPDATE runtime_agent SET name = 'trusted' WHERE name = 'scripted'")
    run = desk.begin([call("asked.unsafe", 7)])
    assert run.status == "suspended_approval" and Approval.objects.get().agent == "scripted"
    assert list(evidence.unproven(run.workspace_id)) == [
        "agent trusted is by the ledger scripted.",
        "agent was-trusted is by the ledger trusted.",
    ]


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ("agent_id = (SELECT id FROM runtime_agent WHERE name = 'trusted')", "is of another agent"),
        ("version_id = (SELECT id FROM runtime_agentversion WHERE digest != '' LIMIT 1 OFFSET 1)", "another version"),
        ("requester_id = (SELECT id FROM approvals_person WHERE name LIKE 'Omar%%')", "on behalf of somebody else"),
        ("rehearsal = true", "is no rehearsal"),
    ],
)
def test_a_run_whose_row_says_otherwise_takes_no_step(
    desk: Desk, trusted: definitions.Agent, tamper: Tamper, column: str, told: str
) -> None:
    """AU-5, T31, AZ-2: whoever asks approves nothing of it, whatever the row said while it was proposed."""
    run = desk.start([call("asked.unsafe", 7)])
    tamper(f"UPDATE runtime_run SET {column}")
    run.refresh_from_db()
    assert desk.work(run).status == "parked" and told in run.reason
    assert run.head_seq == 1 and not Approval.objects.exists() and tooling.happened("done") == []


def test_no_run_begins_under_an_older_version_that_was_put_back(desk: Desk, tamper: Tamper) -> None:
    """AU-5, T31: the newest one stops where people look at it."""
    stopping = {"interrupt_before": ["*"]}
    definitions.register_agent(desk.cast.northwind.pk, "scripted", "scripted", stopping, by="system")
    tamper("UPDATE runtime_agent SET version = 1 WHERE name = 'scripted'")
    desk.agent.refresh_from_db()
    with pytest.raises(definitions.TakesNoRuns, match="last registration"):
        desk.start([call("free.unsafe", 7)])


def test_a_run_that_no_entry_began_takes_no_step(desk: Desk, tamper: Tamper) -> None:
    run = desk.start([call("free.unsafe", 7)])
    tamper("DELETE FROM approvals_entry WHERE chain_id = (SELECT id FROM approvals_chain WHERE name LIKE 'run_%%')")
    assert desk.work(run).status == "parked" and tooling.happened("done") == []


def test_an_earlier_yes_sends_nothing_once_people_were_asked_again(desk: Desk, tamper: Tamper) -> None:
    """AU-5, T31: the older approval is approved and whole; the newer one, of the same call, was rejected."""
    frozen = "freezes: {audit: {from: '2020-01-01T00:00:00Z', until: '2120-01-01T00:00:00Z'}}\nrules:"
    waits = POLICY.replace("rules:", frozen).replace("deadline: 1h", "deadline: 1h\n    freeze: [audit]")
    policies.load(desk.cast.northwind, waits, by="system")
    run = desk.begin([call("asked.unsafe", 7)])
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    first = desk.calls(desk.work(run))[0].digest
    two = POLICY.replace("approvals: [{team: finance}]", "approvals: [{team: finance, count: 2}]")
    policies.load(desk.cast.northwind, two, by="system")
    desk.wait_out(run)
    desk.say(desk.calls(run)[0], desk.cast.priya, "reject", message="On second thoughts: never.")
    policies.load(desk.cast.northwind, POLICY, by="system")
    tamper("UPDATE runtime_call SET status = 'cleared', ended_at = NULL, digest = %s, message = ''", first)
    assert desk.calls(desk.work(run))[0].status == "refused" and tooling.happened("done") == []
