"""Real worker processes: hinted by messages, alive in the database, and gone without leaving a lease behind."""

from __future__ import annotations

from typing import Any

import pytest

from runtime import processes
from runtime.children import until
from runtime.processes import Process
from runtime.runs import Run
from runtime.stack import Stack
from tests.runtime import tooling
from tests.runtime.conftest import Desk, call


@pytest.fixture
def workers(desk: Desk, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Stack:
    """The stack, whose workers know the tools of the tests; none of its processes is started."""
    monkeypatch.setenv("PLACET_MODULES", tooling.__name__)
    stack: Stack = request.getfixturevalue("stack")
    stack.environment["PLACET_HOME"] = str(tooling.world().parent)
    return stack


def ends(run: Run, *statuses: str) -> bool:
    def is_there() -> bool:
        run.refresh_from_db()
        return run.status in statuses

    return until(is_there, seconds=60)


def test_a_worker_needs_nothing_but_a_hint(desk: Desk, workers: Stack) -> None:
    """AP-D15: decided here, done there; the sweep is not even running."""
    workers.start("runs")
    assert until(lambda: processes.alive("runs") == 1, seconds=60)
    run = desk.start([call("asked.keyed", 7)])
    assert ends(run, "suspended_approval")
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    assert ends(run, "completed") and [line["args"]["n"] for line in tooling.happened("done")] == [7]


def test_a_worker_that_is_asked_to_stop_gives_its_runs_back(desk: Desk, workers: Stack) -> None:
    """DU-E2: at once, not when the lease has run out; and the next one goes on."""
    workers.start("runs")
    run = desk.start(*[[call("free.pure", n)] for n in range(40)])
    assert until(lambda: Run.objects.get(pk=run.pk).head_seq > 3, seconds=60)
    workers.stop("runs")
    run.refresh_from_db()
    assert (run.status, run.lease_owner) == ("ready", "") and not Process.objects.filter(kind="runs").exists()
    workers.start("runs")
    assert ends(run, "completed") and [line["args"]["n"] for line in tooling.happened("sent")] == list(range(40))


def test_a_sweep_of_its_own_finds_what_the_broker_lost(desk: Desk, workers: Stack, broker: Any) -> None:
    """DU-C3, AP-U16: with the real processes."""
    started = [desk.start([call("free.keyed", n)]) for n in range(5)]
    broker.flushall()
    workers.start("runs", "sweep")
    assert all(ends(run, "completed") for run in started)
    assert sorted(line["args"]["n"] for line in tooling.happened("done")) == list(range(5))
