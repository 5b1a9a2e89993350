"""The loop: steps, suspension, decisions in any order, and what the agent is told."""

from __future__ import annotations

from tests.runtime import tooling
from tests.runtime.conftest import Desk, call


def test_a_run_whose_calls_policy_allows_goes_through(desk: Desk) -> None:
    run = desk.begin([call("free.keyed", 1)], [call("free.pure", 2)])
    assert (run.status, run.reason) == ("completed", "")
    assert [result["value"]["twice"] for result in desk.results(run)] == [2, 4]
    assert len(tooling.happened("done")) == 2


def test_a_run_waits_for_people_and_runs_what_they_approved(desk: Desk) -> None:
    run = desk.begin([call("asked.keyed", 7)])
    assert run.status == "suspended_approval" and tooling.happened("sent") == []
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    assert desk.work(run).status == "completed"
    assert [line["args"] for line in tooling.happened("done")] == [{"n": 7}]
