"""Requested changes reach the agent, and its next proposal names the approval by which they were requested."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import policies
from approvals.approvals import Approval
from runtime.agents.agent import BadStep, ProposedCall, Step, check
from tests.runtime import tooling
from tests.runtime.conftest import POLICY, Desk, call

ANSWERABLE = POLICY.replace("deadline: 1h", "allowed_decisions: [approve, edit, reject, respond]\n    deadline: 1h")


def test_the_agent_is_told_and_proposes_the_call_anew(desk: Desk) -> None:
    policies.load(desk.cast.northwind, ANSWERABLE, by="system")
    run = desk.begin([call("asked.keyed", 7)], [call("asked.keyed", 5) | {"revises": 0}])
    first = Approval.objects.get()
    desk.say(desk.calls(run)[0], desk.cast.dana, "respond", changes=[("/n", "Five will do.")], message="Nearly.")
    desk.work(run)
    told = desk.results(run)[0]
    wanted = {"requested_changes": [{"pointer": "/n", "comment": "Five will do."}], "approval": first.public_id}
    assert (told["status"], told["value"], told["message"]) == ("answered", wanted, "Nearly.")
    assert told["by"] == "Dana Okafor" and [each.status for each in desk.calls(run)] == ["answered", "held"]
    desk.say(desk.calls(run)[1], desk.cast.dana, "approve")
    desk.work(run)
    assert [line["args"]["n"] for line in tooling.happened("done")] == [5] and run.status == "completed"


def test_a_proposal_that_names_another_approval_is_refused(desk: Desk) -> None:
    policies.load(desk.cast.northwind, ANSWERABLE, by="system")
    run = desk.begin([call("asked.keyed", 7)], [call("asked.unsafe", 5) | {"revises": 0}])
    desk.say(desk.calls(run)[0], desk.cast.dana, "respond", changes=[("", "Not so many.")])
    desk.work(run)
    assert [each.status for each in desk.calls(run)] == ["answered", "refused"]
    assert "No changes of a call of asked.unsafe were requested" in desk.results(run)[1]["message"]


def test_what_a_call_revises_is_text() -> None:
    wrong: Any = 7
    with pytest.raises(BadStep, match="revises"):
        check(Step(calls=[ProposedCall("asked.keyed", {}, revises=wrong)]))
