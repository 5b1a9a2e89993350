"""Workers whose clocks are ten minutes apart: only the database's clock says what is due, whose turn it is, and what
has run out."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest

from approvals import gate, policies
from approvals.approvals import Approval
from runtime import loop, sweeps, timeline
from runtime.calls import Attempt
from runtime.runs import Run
from tests.runtime import tooling
from tests.runtime.conftest import POLICY, Desk, call
from tests.runtime.crashing import fork, work_and_die
from tests.runtime.test_leases import let_it_run_out
from tests.runtime.test_retries import NOT_REACHED, Sends

TEN_MINUTES = 600


def elsewhere(apart: int, function: Callable[[], object], at: str = "nowhere") -> int:
    """Run the function in a process whose clock is so many seconds from ours; its exit status, negative for a
    signal."""

    def skewed() -> object:
        true, true_ns = time.time, time.time_ns
        time.time = lambda: true() + apart
        time.time_ns = lambda: true_ns() + apart * 10**9
        return function()

    return os.waitstatus_to_exitcode(os.waitpid(fork(skewed, at), 0)[1])


def must(fact: bool) -> None:
    """In another process: leave with a status that says whether it is so."""
    os._exit(0 if fact else 7)


def work(run: Run) -> Callable[[], object]:
    return lambda: loop.advance(run.pk, run.workspace_id)


@pytest.mark.parametrize("apart", [TEN_MINUTES, -TEN_MINUTES])
def test_a_lease_is_held_and_runs_out_by_the_database_alone(desk: Desk, apart: int) -> None:
    """DU-E5, DU-E7: whoever is ahead takes nothing over too early, whoever is behind nothing too late."""
    run = desk.begin([call("asked.keyed", 7)])
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    assert elsewhere(-apart, work(run), at="send.after") < 0
    assert elsewhere(apart, lambda: must(not loop.advance(run.pk, run.workspace_id))) == 0
    assert Attempt.objects.count() == 1
    let_it_run_out(run)
    assert elsewhere(apart, work(run)) == 0
    run.refresh_from_db()
    assert run.status == "completed" and len(tooling.happened("done")) == 1 and timeline.doubts(run) == []


@pytest.mark.parametrize("apart", [TEN_MINUTES, -TEN_MINUTES])
def test_a_whole_run_told_by_two_clocks_has_one_order(desk: Desk, apart: int) -> None:
    """DU-E5: a later step is not an earlier one because its worker's clock is behind."""
    run = desk.start([call("free.keyed", 1)], [call("free.keyed", 2)], [call("free.keyed", 3)])
    assert elsewhere(apart, work(run), at="step.after#2") < 0
    let_it_run_out(run)
    assert elsewhere(-apart, work(run)) == 0
    run.refresh_from_db()
    assert run.status == "completed" and [each["args"]["n"] for each in desk.results(run)] == [1, 2, 3]
    kinds = [moment.kind for moment in timeline.moments(run) if moment.kind.endswith(".committed")]
    assert kinds[0] == "input.committed" and kinds[-1] == "step.committed"
    deadlines = Attempt.objects.order_by("number").values_list("created_at", "send_deadline")
    assert all(10 < (deadline - sent).total_seconds() < 20 for sent, deadline in deadlines)


def test_nothing_runs_out_or_wakes_by_a_sweep_that_is_ahead(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """AP-U10: neither an approval's deadline nor the wait of a run that sleeps."""
    policies.load(desk.cast.northwind, POLICY.replace("deadline: 1h", "deadline: 5m"), by="system")
    Sends(monkeypatch, NOT_REACHED)
    sleeps = desk.begin([call("free.unsafe", 1)])
    waits = desk.begin([call("asked.unsafe", 2)])
    Run.objects.filter(pk=sleeps.pk).update(wake_at=Approval.objects.get().expires_at)
    assert elsewhere(TEN_MINUTES, lambda: must(gate.expire_due() == 0 == sweeps.wake_sleepers())) == 0
    sleeps.refresh_from_db()
    assert (sleeps.status, desk.work(waits).status) == ("sleeping", "suspended_approval")


def test_a_yes_still_counts_for_a_worker_that_is_ahead(desk: Desk) -> None:
    """AP-U10: the deadline of an approval is compared with the database's clock at dispatch too."""
    policies.load(desk.cast.northwind, POLICY.replace("deadline: 1h", "deadline: 5m"), by="system")
    run = desk.begin([call("asked.unsafe", 7)])
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    assert elsewhere(TEN_MINUTES, work(run)) == 0
    run.refresh_from_db()
    assert run.status == "completed" and len(tooling.happened("done")) == 1


def test_one_that_dies_is_followed_whatever_its_clock_said(desk: Desk) -> None:
    """DU-C6, DU-C4: a safe call is sent again under its key as long as the key is known by the database's clock."""
    run = desk.start([call("free.keyed", 7)])
    assert work_and_die(run, "send.after")
    let_it_run_out(run)
    assert elsewhere(TEN_MINUTES, work(run)) == 0
    run.refresh_from_db()
    assert run.status == "completed" and len(tooling.happened("done")) == 1
