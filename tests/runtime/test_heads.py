"""A step that only changes the state is one statement: it is written with its head, or not at all, and once."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError, connection

from approvals.rows import wire
from runtime import loop, runs, snapshots
from runtime.agents.agent import Step
from runtime.calls import Call
from runtime.checkpoints import Checkpoint
from runtime.runs import Run
from tests.runtime import growing
from tests.runtime.conftest import Desk, call
from tests.runtime.crashing import work_and_die
from tests.runtime.test_leases import claimed, let_it_run_out
from tests.runtime.test_snapshots import at, from_nothing
from tests.throwaway import SERVERS

SCRIPT = growing.talk(6)


def whole(run: Run) -> None:
    """Completed, with every step once, and readable."""
    run.refresh_from_db()
    assert run.status == "completed" and run.head_seq == Checkpoint.objects.filter(run=run).count() == len(SCRIPT) + 1
    assert at(run, run.head_seq) == from_nothing(run, run.head_seq)
    assert len(at(run, run.head_seq)["messages"]) == len(SCRIPT)


def when(monkeypatch: pytest.MonkeyPatch, number: int, happens: Any) -> None:
    """Something happens while the agent thinks about its step of this number."""
    asked = growing.told.step

    def step(node: str, given: dict[str, Any], results: Any) -> Step:
        if given.get("at") == number:
            happens()
        return asked(node, given, results)

    monkeypatch.setattr(growing.told, "step", step)


def cut_off() -> int:
    """End the worker's connection; returns which it was."""
    pid: int = connection.connection.info.backend_pid
    with SERVERS.postgres.connect() as admin:
        admin.execute("SELECT pg_terminate_backend(%s)", [pid])
    return pid


def test_a_worker_that_was_cut_off_commits_its_step_all_the_same(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """DU-E1: the connection is gone when the step is to be written."""
    run, cut = growing.start(desk, *SCRIPT), list[int]()
    when(monkeypatch, 3, lambda: cut.append(cut_off()))
    whole(desk.work(run))
    assert len(cut) == 1 and connection.connection.info.backend_pid not in cut


def test_a_step_whose_acknowledgement_was_lost_is_there_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """DU-E7: it is found by its attempt, and not written again."""
    run, sent = growing.start(desk, *SCRIPT), wire.value
    lost: list[str] = []

    def value(statement: str, values: Any, **more: Any) -> Any:
        answer = sent(statement, values, **more)
        if values.get("seq") == 4 and not lost:
            lost.append("the answer")
            raise OperationalError("the connection was cut behind the commit")
        return answer

    monkeypatch.setattr(wire, "value", value)
    whole(desk.work(run))
    assert lost


@pytest.mark.parametrize("point", ["step.before", "step.after", "step.before#4", "step.after#4"])
def test_killed_at_a_plain_step_it_goes_on_from_the_last_one(
    desk: Desk, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DU-L1, DU-L2, DU-E12: with a snapshot after every step, so also between a step and its snapshot."""
    monkeypatch.setattr(snapshots, "FLOOR", 1)
    run = growing.start(desk, *SCRIPT)
    assert work_and_die(run, point)
    let_it_run_out(run)
    whole(desk.work(run))


def test_a_run_that_somebody_else_took_is_not_written_to(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """DU-E3: an old fence writes nothing, neither a checkpoint nor a snapshot."""
    monkeypatch.setattr(snapshots, "FLOOR", 1)
    run = growing.start(desk, *SCRIPT)

    def overtake() -> None:
        let_it_run_out(run)
        claimed(run)

    when(monkeypatch, 3, overtake)
    loop.advance(run.pk, run.workspace_id)
    run.refresh_from_db()
    assert (run.status, run.head_seq, run.fence) == ("in_progress", 4, 2)
    assert Checkpoint.objects.filter(run=run).count() == 4


def test_a_wish_to_cancel_is_obeyed_by_the_very_step(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    run = growing.start(desk, *SCRIPT)
    when(monkeypatch, 3, lambda: runs.cancel(run, by="system", reason="Enough."))
    desk.work(run)
    assert (run.status, run.head_seq) == ("cancelled", 4)


def test_results_are_consumed_by_the_plain_step_that_was_told_them(desk: Desk) -> None:
    """DU-L15: given once, in the statement that writes the step."""
    run = desk.begin([call("free.pure", 1), call("free.pure", 2)], [], [call("free.pure", 3)])
    assert run.status == "completed"
    told = Call.objects.filter(run=run).order_by("step", "idx").values_list("step", "consumed_seq")
    assert [consumed for _, consumed in told] == [5, 5, 8]
    assert [each["args"]["n"] for each in desk.results(run)] == [1, 2, 3]
