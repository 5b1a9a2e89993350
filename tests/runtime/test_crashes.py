"""Killing the worker at every named point, and letting it sleep through its lease: one effect, and the run goes on."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection

from approvals.approvals import Approval
from runtime import crashpoints, timeline, tools
from runtime.calls import Attempt
from runtime.runs import Run
from tests.runtime import tooling
from tests.runtime.conftest import Desk, call
from tests.runtime.crashing import fork, wake, work_and_die, work_and_stop
from tests.runtime.test_crashes_at_breakpoints import AT_A_BREAKPOINT, PAST_A_BREAKPOINT
from tests.runtime.test_leases import let_it_run_out
from tests.runtime.test_waits import ON_THE_WAY_TO_SLEEP

BEFORE_PEOPLE = ["claim.after", "step.before", "step.after", "suspend.before"]
AFTER_PEOPLE = [
    "claim.after",
    "intent.before",
    "intent.after",
    "send.before",
    "send.after",
    "result.before",
    "result.after",
    "step.before",
    "step.after",
]
NOBODY_KNOWS = {"intent.after", "send.before", "send.after", "result.before"}


def waiting(desk: Desk, tool: str) -> Run:
    return desk.begin([call(tool, 7)])


def decide(desk: Desk, run: Run) -> None:
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")


def effects() -> list[int]:
    return [line["args"]["n"] for line in tooling.happened("done")]


@pytest.mark.parametrize("point", BEFORE_PEOPLE)
def test_killed_before_people_are_asked_it_asks_once(desk: Desk, point: str) -> None:
    """AP-U1, AP-U4, DU-L1, DU-L2, DU-L6, DU-L33: the request is there, once, and can be answered."""
    run = desk.start([call("asked.keyed", 7)])
    assert work_and_die(run, point)
    let_it_run_out(run)
    assert desk.work(run).status == "suspended_approval" and Approval.objects.filter(status="pending").count() == 1
    decide(desk, run)
    assert desk.work(run).status == "completed" and effects() == [7]


@pytest.mark.parametrize("point", AFTER_PEOPLE)
def test_a_keyed_call_has_one_effect_wherever_its_worker_is_killed(desk: Desk, point: str) -> None:
    """AP-U1, AP-U2, DU-L1, DU-C4, AP-D3: sent again under the same key where nobody knows, and never asked about
    again."""
    run = waiting(desk, "asked.keyed")
    decide(desk, run)
    assert work_and_die(run, point)
    let_it_run_out(run)
    assert desk.work(run).status == "completed" and effects() == [7]
    assert timeline.doubts(run) == [] and Approval.objects.count() == 1
    assert desk.results(run)[0]["status"] == "executed" and len(desk.results(run)) == 1


@pytest.mark.parametrize("point", AFTER_PEOPLE)
def test_an_unsafe_call_is_sent_at_most_once_wherever_its_worker_is_killed(desk: Desk, point: str) -> None:
    """Where nobody knows, it says so, and waits for a person."""
    run = waiting(desk, "asked.unsafe")
    decide(desk, run)
    assert work_and_die(run, point)
    let_it_run_out(run)
    desk.wait_out(run)
    unknown = point in NOBODY_KNOWS
    assert run.status == ("suspended_approval" if unknown else "completed")
    assert effects() == ([] if point in {"intent.after", "send.before"} else [7])
    assert Approval.objects.get(kind="call").outcome == ("unknown" if unknown else "executed")
    assert Approval.objects.filter(kind="outcome").count() == unknown
    assert timeline.doubts(run) == []


@pytest.mark.parametrize("effect", ["pure", "natural"])
def test_other_calls_that_may_be_repeated_are(desk: Desk, effect: str) -> None:
    run = waiting(desk, f"asked.{effect}")
    decide(desk, run)
    assert work_and_die(run, "send.after")
    let_it_run_out(run)
    assert desk.work(run).status == "completed" and effects() == [7, 7]
    assert {line["key"] for line in tooling.happened("done")} == {desk.calls(run)[0].key}


def test_killed_again_and_again_it_is_parked_after_five(desk: Desk) -> None:
    """DU-C5: a call that ends every worker that sends it."""
    run = waiting(desk, "asked.keyed")
    decide(desk, run)
    for _ in range(5):
        assert work_and_die(run, "send.before")
        let_it_run_out(run)
    assert desk.work(run).reason_code == "no_progress" and Attempt.objects.count() == 5


def test_a_sibling_that_had_ended_is_not_run_again(desk: Desk) -> None:
    """DU-L21, DU-L18, AP-P8."""
    run = desk.begin([call("asked.unsafe", 1), call("asked.unsafe", 2), call("asked.unsafe", 3)])
    for each in desk.calls(run):
        desk.say(each, desk.cast.dana, "approve")
    assert work_and_die(run, "intent.before#2")
    let_it_run_out(run)
    assert desk.work(run).status == "completed" and effects() == [1, 2, 3]


def test_a_worker_that_sleeps_before_sending_wakes_up_too_late(desk: Desk) -> None:
    """DU-E15: its lease is over, and it does not send what another has called unknown."""
    run = waiting(desk, "asked.unsafe")
    decide(desk, run)
    child = work_and_stop(run, "send.before")
    assert desk.wait_out(run).status == "suspended_approval"
    wake(child)
    run.refresh_from_db()
    assert run.status == "suspended_approval" and desk.calls(run)[0].status == "unknown" and effects() == []


def test_a_worker_that_sleeps_after_sending_brings_the_truth(desk: Desk) -> None:
    """What it says is evidence about its own attempt, and settles it."""
    run = waiting(desk, "asked.unsafe")
    decide(desk, run)
    child = work_and_stop(run, "send.after")
    assert desk.wait_out(run).status == "suspended_approval"
    wake(child)
    assert desk.work(run).status == "completed" and effects() == [7]
    assert Approval.objects.get(kind="call").outcome == "executed" and timeline.doubts(run) == []
    assert Approval.objects.get(kind="outcome").status == "cancelled"


def test_a_worker_that_sleeps_after_sending_and_is_overtaken_has_one_effect(desk: Desk) -> None:
    run = waiting(desk, "asked.keyed")
    decide(desk, run)
    child = work_and_stop(run, "send.after")
    assert desk.work(run).status == "completed"
    wake(child)
    assert effects() == [7] and [each.late for each in Attempt.objects.order_by("number")] == [True, False]


def test_a_worker_that_sleeps_before_committing_a_step_commits_nothing(desk: Desk) -> None:
    """DU-L1, DU-L40: no fork in a history."""
    run = desk.start([call("asked.keyed", 7)])
    child = work_and_stop(run, "step.before")
    assert desk.work(run).status == "suspended_approval"
    head = run.head_seq
    wake(child)
    run.refresh_from_db()
    assert run.head_seq == head and Approval.objects.count() == 1


def test_every_point_is_reached_and_none_is_misspelt(desk: Desk) -> None:
    elsewhere = {
        "suspend.after",
        "refuse.before",
        "refuse.after",
        *AT_A_BREAKPOINT,
        *PAST_A_BREAKPOINT,
        *ON_THE_WAY_TO_SLEEP,
    }
    assert set(BEFORE_PEOPLE + AFTER_PEOPLE) | elsewhere == crashpoints.POINTS
    with pytest.raises(ValueError, match="no crash point"):
        crashpoints.reach("intent.afterwards")


def test_killed_while_suspending_after_a_sibling_ran_it_still_waits(desk: Desk) -> None:
    """AP-P8: the suspension is a commit of its own where a sibling was sent first."""
    for point in ("suspend.before", "suspend.after"):
        run = desk.start([call("free.keyed", 1), call("asked.keyed", 2)])
        assert work_and_die(run, point)
        let_it_run_out(run)
        assert desk.work(run).status == "suspended_approval"
        desk.say(desk.calls(run)[1], desk.cast.dana, "approve")
        assert desk.work(run).status == "completed"


def test_a_worker_is_armed_while_it_runs_and_once(tmp_path: Path) -> None:
    order = tmp_path / "crash-at"
    order.write_text("send.before")

    def come_by() -> None:
        crashpoints.reach("intent.after")
        crashpoints.reach("send.before")

    assert os.waitstatus_to_exitcode(os.waitpid(fork(come_by, f"@{order}"), 0)[1]) == -signal.SIGKILL
    assert not order.exists()
    assert os.waitstatus_to_exitcode(os.waitpid(fork(come_by, f"@{order}"), 0)[1]) == 0


def test_a_worker_that_is_cut_off_from_the_database_while_it_sends_still_records_the_answer(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DU-E1: the connection is gone when the answer comes; it is written over a new one, once."""
    send = tools.send

    def send_and_lose_the_connection(*given: Any) -> tools.Answer:
        answer = send(*given)
        with suppress(OperationalError), connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return answer

    monkeypatch.setattr(tools, "send", send_and_lose_the_connection)
    run = desk.begin([call("free.unsafe", 7)], [call("free.unsafe", 8)])
    assert run.status == "completed" and effects() == [7, 8]
    assert [each.outcome for each in Attempt.objects.order_by("created_at")] == ["executed", "executed"]
