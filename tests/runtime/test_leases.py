"""Leases: one worker at a time, and whoever was overtaken can commit nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, connection

from approvals import rows
from runtime import hints, leases, loop, processes, tools, turns
from runtime.leases import CancelWanted, Lease, LeaseLost
from runtime.runs import Run
from tests.runtime import tooling
from tests.runtime.conftest import Desk, call


def claim(run: Run) -> Lease | None:
    with rows.within(run.workspace_id):
        return leases.claim(run.workspace_id, run.pk)


def claimed(run: Run) -> Lease:
    lease = claim(run)
    assert lease is not None
    return lease


def let_it_run_out(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(lease_until="2020-01-01T00:00:00Z")


def commit(lease: Lease) -> None:
    with rows.within(lease.workspace_id):
        leases.move_head(lease, leases.next_checkpoint(lease, kind="step", body={"ops": []}))


def test_only_one_of_many_gets_the_claim(desk: Desk, together: Callable[..., list[Any]]) -> None:
    """DU-E6, DU-C2, DU-E3."""
    run = desk.start([call("free.pure")])
    found = together(*[lambda: claim(run) for _ in range(6)])
    assert sum(lease is not None for lease in found) == 1


def test_every_claim_mints_a_new_fence(desk: Desk) -> None:
    """DU-E2, DU-E5: the number, not a name or a time, says whose the run is."""
    run = desk.start([call("free.pure")])
    first = claimed(run)
    let_it_run_out(run)
    assert claimed(run).fence == first.fence + 1


def test_a_lease_that_has_not_run_out_is_left_alone(desk: Desk) -> None:
    """DU-C2: a second delivery finds the lease held and leaves."""
    run = desk.start([call("free.pure")])
    claimed(run)
    assert claim(run) is None and loop.advance(run.pk) is False


def test_an_overtaken_worker_can_commit_nothing(desk: Desk) -> None:
    """DU-E7: neither a step, nor a suspension, nor an end."""
    run = desk.start([call("free.pure")])
    old = claimed(run)
    let_it_run_out(run)
    claimed(run)
    for write in (
        commit,
        lambda lease: leases.suspend(lease, pokes=0),
        lambda lease: leases.release(lease, to="completed"),
    ):
        with pytest.raises(LeaseLost):
            write(old)
    run.refresh_from_db()
    assert (run.head_seq, run.status) == (1, "in_progress") and old.lost


def test_two_commits_of_one_place_never_both_land(desk: Desk) -> None:
    """DU-L1, DU-L7."""
    run = desk.start([call("free.pure")])
    lease = claimed(run)
    commit(lease)
    with pytest.raises(LeaseLost):
        commit(lease)


def test_a_wish_to_cancel_stops_the_next_commit(desk: Desk) -> None:
    run = desk.start([call("free.pure")])
    lease = claimed(run)
    Run.objects.filter(pk=run.pk).update(cancel_by="system")
    with pytest.raises(CancelWanted):
        commit(lease)


def test_a_poke_between_looking_and_suspending_is_noticed(desk: Desk) -> None:
    """DU-L34, AP-U16: no wake is lost, whichever comes first."""
    run = desk.start([call("free.pure")])
    lease = claimed(run)
    Run.objects.filter(pk=run.pk).update(pokes=5)
    assert leases.suspend(lease, pokes=lease.pokes) is None and lease.pokes == 5
    assert leases.suspend(lease, pokes=5) == "ready"


def test_a_kept_lease_is_renewed_while_the_worker_works(desk: Desk) -> None:
    run = desk.start([call("free.pure")])
    lease = claimed(run)
    lease.until = time.monotonic() + 1
    with leases.kept(lease):
        leases.renew_all()
    assert lease.until > time.monotonic() + leases.TTL - 2


def test_a_lease_that_is_young_or_whose_tool_hangs_is_not_renewed(desk: Desk) -> None:
    """DU-E15: a worker that hangs behind its deadline loses the run, though its process lives."""
    lease = claimed(desk.start([call("free.pure")]))
    with leases.kept(lease):
        until = lease.until
        leases.renew_all()
        lease.until, lease.renew_until = time.monotonic() + 1, time.monotonic() - 1
        leases.renew_all()
    assert lease.until < until


def test_renewing_tells_that_the_lease_is_lost(desk: Desk) -> None:
    run = desk.start([call("free.pure")])
    lease = claimed(run)
    let_it_run_out(run)
    claimed(run)
    lease.until = time.monotonic() + 1
    with leases.kept(lease):
        leases.renew_all()
    assert lease.lost and not lease.valid


def test_a_lost_acknowledgement_is_no_second_commit(desk: Desk) -> None:
    """DU-E7: found by the attempt's own id."""
    lease = claimed(desk.start([call("free.pure")]))
    tries: list[int] = []

    def write() -> None:
        tries.append(1)
        raise OperationalError("the connection is gone")

    leases.durably(lease, write, lambda: True)
    assert len(tries) == 1


def test_a_commit_that_did_not_land_is_tried_again(desk: Desk) -> None:
    """DU-E1."""
    lease = claimed(desk.start([call("free.pure")]))
    tries: list[int] = []

    def write() -> None:
        tries.append(1)
        if len(tries) < 3:
            raise OperationalError("the database restarts")

    leases.durably(lease, write, lambda: False)
    assert len(tries) == 3


def test_a_worker_asked_to_stop_gives_the_run_back_at_its_next_commit(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DU-E2: and tells the others when it listens no more; a hint sent at once could come to itself and be lost."""
    run, send = desk.start([call("free.unsafe", 1)], [call("free.unsafe", 2)]), tools.send
    told: list[Any] = []

    def stop_and_send(*args: Any) -> tools.Answer:
        processes.stopping.set()
        return send(*args)

    monkeypatch.setattr(hints, "hint", lambda _, run_id: told.append(run_id))
    monkeypatch.setattr(tools, "send", stop_and_send)
    try:
        assert loop.advance(run.pk) and not loop.advance(run.pk)
    finally:
        processes.stopping.clear()
    run.refresh_from_db()
    assert (run.status, run.lease_owner, run.head_seq, told) == ("ready", "", 3, [])
    hints.send_postponed()
    monkeypatch.undo()
    assert told == [run.pk] and desk.work(run).status == "completed"
    assert [line["args"]["n"] for line in tooling.happened("sent")] == [1, 2]


def test_a_run_that_ends_its_workers_is_parked(desk: Desk) -> None:
    """DU-C5: five workers in a row, and no commit."""
    run = desk.start([call("free.pure")])
    for _ in range(loop.CLAIMS):
        claimed(run)
        let_it_run_out(run)
    loop.advance(run.pk)
    run.refresh_from_db()
    assert (run.status, run.reason_code) == ("parked", "no_progress") and "5 workers" in run.reason


def test_a_long_run_is_worked_on_in_slices(desk: Desk) -> None:
    """Twenty steps, and the run goes to the back of the queue."""
    run = desk.start(*[[] for _ in range(25)])
    loop.advance(run.pk)
    run.refresh_from_db()
    assert (run.status, run.head_seq) == ("ready", 1 + turns.STEPS)
    assert desk.work(run).status == "completed" and tooling.happened("sent") == []


def test_many_workers_on_many_runs_do_every_call_once(desk: Desk, together: Callable[..., list[Any]]) -> None:
    """DU-L7, DU-C2: every worker is told of every run, three times."""
    started = [desk.start([call("free.unsafe", n)]) for n in range(8)]
    order = threading.Lock()

    def work() -> None:
        for run in started * 3:
            loop.advance(run.pk, run.workspace_id)
        with order:
            connection.close()

    assert together(work, work, work, seconds=120) == [None, None, None]
    assert {run.status for run in Run.objects.all()} == {"completed"}
    assert sorted(line["args"]["n"] for line in tooling.happened("done")) == list(range(8))
