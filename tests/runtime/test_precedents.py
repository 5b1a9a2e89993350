"""Rows that say what became of a call can be put back; the ledger and the anchors tell."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import rows
from approvals.ledger import anchors, keys
from runtime import attempts, evidence, precedents, runs
from runtime.attempts import Attempt
from runtime.runs import Run
from tests.columns import written
from tests.runtime import tooling
from tests.runtime.conftest import Desk, call
from tests.runtime.crashing import work_and_die
from tests.runtime.test_leases import let_it_run_out
from tests.tampering import Tamper


def test_a_call_moved_to_another_run_is_not_sent(desk: Desk, tamper: Tamper) -> None:
    """IN-A7, T31: approved for one run, it runs in no other."""
    run, other = desk.begin([call("asked.keyed")]), desk.begin([call("asked.unsafe")])
    moved = desk.calls(run)[0]
    tamper("UPDATE runtime_call SET status = 'cancelled' WHERE run_id = %s", other.pk)
    tamper("UPDATE runtime_call SET run_id = %s, idx = 5 WHERE id = %s", other.pk, moved.pk)
    tamper("UPDATE runtime_call SET status = 'cleared', digest = %s WHERE id = %s", "0" * 64, moved.pk)
    moved.refresh_from_db()
    with rows.within(desk.cast.northwind.pk):
        assert precedents.against(moved, other.public_id) == "No entry of this run's ledger says that it was proposed."


def lost(desk: Desk, tool: str = "asked.unsafe") -> Run:
    """A run whose call was approved, and whose worker died when it had sent it."""
    run = desk.begin([call(tool)])
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    assert work_and_die(run, "send.after") and len(tooling.happened("done")) == 1
    let_it_run_out(run)
    return run


@pytest.mark.parametrize("tool", ["asked.unsafe", "asked.keyed"])
def test_a_call_that_was_sent_and_is_said_to_be_cleared_is_not_sent_again(
    desk: Desk, tamper: Tamper, tool: str
) -> None:
    """T31, DU-C4: whoever sets it back has chosen nothing."""
    run = lost(desk, tool)
    tamper("UPDATE runtime_call SET status = 'cleared'")
    sentence = "is cleared, and by the ledger it was sent and nobody had it sent again."
    assert [each for each in evidence.unproven(run.workspace_id) if sentence in each]
    assert desk.wait_out(run).status == "parked" and sentence in run.reason
    assert len(tooling.happened("done")) == 1


@pytest.mark.parametrize("of_old", [False, True])
def test_an_attempt_of_another_call_lets_nothing_be_sent_again(desk: Desk, tamper: Tamper, of_old: bool) -> None:
    """T31, DU-C4: that one had no effect, says its genuine end; it is not the one that the ledger names."""
    failed = desk.begin([call("free.unsafe", 9, **{"raise": "refused"})])
    foreign = Attempt.objects.get(call__run=failed)
    run = lost(desk)
    tamper("DELETE FROM runtime_attempt WHERE id <> %s", foreign.pk)
    tamper("UPDATE runtime_call SET attempt_id = %s WHERE run_id = %s", foreign.pk, run.pk)
    tamper("UPDATE runtime_attempt SET call_id = %s", desk.calls(run)[0].pk)
    if of_old:
        mac = keys.sign("attempt", attempts._end(foreign.pk, foreign.outcome))
        tamper("UPDATE runtime_attempt SET end_mac = %s", mac)
    foreign.refresh_from_db()
    assert foreign.did_nothing is of_old
    sentence = "has attempts that are not those of its ledger."
    assert [each for each in evidence.unproven(run.workspace_id) if sentence in each]
    desk.wait_out(run)
    assert len(tooling.happened("done")) == 1 and (run.status == "parked" and sentence in run.reason) is of_old


def test_an_older_state_put_back_whole_parks_the_run(desk: Desk, tamper: Tamper) -> None:
    """AU-5, IN-A4, T31: chain, head and rows all fit each other, and the anchor knows more."""
    run = desk.begin([call("asked.unsafe")])
    tables: tuple[str, ...] = (
        "runtime_run",
        "runtime_call",
        "runtime_attempt",
        "runtime_checkpoint",
        "approvals_chain",
    )
    tables += ("approvals_entry", "approvals_approval", "approvals_decision")
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    for table in tables:
        tamper(f"CREATE TABLE old_{table} AS TABLE {table}")
    assert desk.work(run).status == "completed" and anchors.anchor() == 1
    for table in tables:
        tamper(f"DELETE FROM {table}")
        tamper(f"INSERT INTO {table} ({written(table)}) SELECT {written(table)} FROM old_{table}")
    run.refresh_from_db()
    assert run.status == "ready"
    assert desk.work(run).status == "parked" and "an older state was put back" in run.reason
    assert len(tooling.happened("sent")) == 1


@pytest.mark.parametrize("tool", ["free.unsafe", "asked.unsafe"])
def test_a_run_that_was_cancelled_and_is_set_back_sends_nothing(desk: Desk, tamper: Tamper, tool: str) -> None:
    """AU-5, T31, DU-E7: with the rows of run and call as they were before."""
    run = desk.start([call(tool, 7)])
    if tool == "asked.unsafe":
        desk.work(run)
        desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    runs.cancel(run, by=desk.cast.omar.public_id, reason="Enough.")
    assert desk.work(run).status == "cancelled"
    tamper("UPDATE runtime_call SET status = 'cleared', ended_at = NULL, message = ''")
    tamper("UPDATE runtime_run SET status = 'ready', cancel_by = '', ended_at = NULL")
    run.refresh_from_db()
    assert desk.work(run).status != "ready" and tooling.happened("sent") == []


def test_a_file_of_anchors_that_is_not_for_workers_stops_nobody(
    desk: Desk, settings: Any, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.PLACET_ANCHORS = tmp_path
    assert desk.begin([call("free.pure")]).status == "completed"
    assert "is not compared with it" in caplog.text
