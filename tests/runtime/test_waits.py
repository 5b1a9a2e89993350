"""A call that may go, and not yet: its run sleeps, wakes and is checked anew; until then people may stop it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, connections

from approvals import policies, rows
from approvals.approvals import Approval
from approvals.decisions import Refused, decide
from approvals.ledger import canonical, entries
from runtime import invariants, sweeps, timeline, waits
from runtime.calls import Attempt, Call
from runtime.runs import Run
from tests.runtime import tooling
from tests.runtime.conftest import Desk, call
from tests.runtime.crashing import wake, work_and_die, work_and_stop
from tests.runtime.test_leases import let_it_run_out
from tests.tampering import Tamper
from tests.throwaway import SERVERS

Later = Callable[[int], None]
FOR_EVER = {"from": "2020-01-01T00:00:00Z", "until": "2120-01-01T00:00:00Z"}


@pytest.fixture
def later(desk: Desk) -> Later:
    """Let the database's clock stand so many seconds ahead, for every process, and let the sweep come by."""

    def move(seconds: int) -> None:
        name = str(connection.settings_dict["NAME"])
        with SERVERS.postgres.connect(name) as admin:
            admin.execute(f"ALTER DATABASE \"{name}\" SET placet.clock_offset = '{int(seconds)}'".encode())
        connections.close_all()
        sweeps.wake_sleepers()

    return move


def load(desk: Desk, *, top: dict[str, Any] | None = None, **words: Any) -> None:
    rule = {"id": "r", "match": {}, "verdict": "require_approval", "approvals": [{"team": "finance"}], "deadline": "1h"}
    document = {"policy": 1, "rules": [rule | words]} | (top or {})
    policies.load(desk.cast.northwind, canonical.encode(document), by="system")


def approved(desk: Desk, tool: str = "asked.unsafe", **words: Any) -> tuple[Run, Call]:
    """A run whose call was approved under a rule with these words; nobody has looked since."""
    load(desk, **words)
    run = desk.begin([call(tool, 7)])
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    return run, desk.calls(run)[0]


def effects() -> list[int]:
    return [line["args"]["n"] for line in tooling.happened("done")]


def told(run: Run, kind: str) -> list[dict[str, Any]]:
    return [each for each in entries.read(run.workspace_id, run.public_id) if each["kind"] == kind]


def test_a_held_call_sleeps_until_its_time_and_goes_once(desk: Desk, later: Later) -> None:
    """DS-9: one approval lets one call go out, however often it is looked at."""
    run, held = approved(desk, hold_after="10m")
    assert desk.work(run).status == "sleeping" and effects() == []
    [entry] = told(run, "call.waits")
    assert entry["subject"] == held.public_id and entry["reason"] and entry["until"]
    later(601)
    assert desk.work(run).status == "completed" and effects() == [7]
    later(7200)
    Run.objects.filter(pk=run.pk).update(status="ready")
    desk.work(run)
    assert effects() == [7] and not list(invariants.offenders())


def test_it_looks_again_from_time_to_time_and_says_so_once(desk: Desk, later: Later) -> None:
    """A freeze that is lifted is not sat out."""
    run, _ = approved(desk)
    load(desk, freeze=["audit"], valid_for="1d", top={"freezes": {"audit": FOR_EVER}})
    assert desk.work(run).status == "sleeping"
    assert run.wake_at is not None and run.wake_at <= rows.now() + waits.LOOK
    later(901)
    assert desk.work(run).status == "sleeping" and len(told(run, "call.waits")) == 1
    load(desk, valid_for="1d")
    later(1900)
    assert desk.work(run).status == "completed" and effects() == [7]


def test_after_a_freeze_everything_is_checked_again(desk: Desk, later: Later) -> None:
    """A yes that grew stale meanwhile goes back to people; the old one stays on record, with the reason."""
    run, held = approved(desk, freeze=["audit"], valid_for="5m", top={"freezes": {"audit": FOR_EVER}})
    assert desk.work(run).status == "sleeping"
    load(desk, valid_for="5m")
    later(901)
    assert desk.work(run).status == "suspended_approval" and effects() == []
    first, second = Approval.objects.filter(subject=held.public_id).order_by("created_at")
    assert (first.status, second.status, second.asked_again_id) == ("approved", "pending", first.pk)
    assert "ran out" in told(run, "call.asked_again")[0]["reason"]
    desk.say(held, desk.cast.priya, "approve")
    assert desk.work(run).status == "completed" and effects() == [7]


def test_a_stopped_call_never_goes_and_the_agent_is_told_why(desk: Desk, later: Later) -> None:
    run, held = approved(desk, hold_after="10m")
    desk.work(run)
    desk.say(held, desk.cast.priya, "stop", message="Wrong account.")
    assert desk.work(run).status == "completed" and effects() == []
    [result] = desk.results(run)
    assert (result["status"], result["message"]) == (
        "refused",
        "Priya Nair stopped it before it was sent. Wrong account.",
    )
    approval = Approval.objects.get(subject=held.public_id)
    assert (approval.status, approval.outcome) == ("approved", "failed") and "stopped it" in approval.outcome_note
    assert timeline.doubts(run) == [] and not list(invariants.offenders())


def test_a_stop_before_any_worker_came_counts(desk: Desk) -> None:
    run, held = approved(desk, hold_after="10m")
    desk.say(held, desk.cast.priya, "stop")
    assert desk.work(run).status == "completed" and effects() == []


def test_a_stop_that_comes_too_late_changes_nothing(desk: Desk) -> None:
    """DS-1: the row of the call says who was first."""
    run, held = approved(desk)
    desk.work(run)
    answer = desk.say(held, desk.cast.priya, "stop")
    assert isinstance(answer, Refused) and answer.code == "too_late"
    assert effects() == [7] and desk.calls(run)[0].status == "executed"
    assert not told(run, "approval.stopped") and told(run, "decision.refused")[0]["code"] == "too_late"


def test_a_stop_between_the_last_check_and_the_sending_wins(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A race that the call's row decides: what was stopped in the last moment is not sent, and the run goes on."""
    from runtime import leases

    run, held = approved(desk)
    prove, stopped = leases.prove, threading.Event()

    def stop_first(lease: Any, **more: Any) -> None:
        if not stopped.is_set():
            stopped.set()
            thread = threading.Thread(target=_stop, args=(desk, run, held.approval, held.digest))
            thread.start()
            thread.join()
        prove(lease, **more)

    monkeypatch.setattr("runtime.dispatch.leases.prove", stop_first)
    assert desk.work(run).status == "completed" and effects() == [] and not Attempt.objects.exists()


def _stop(desk: Desk, run: Run, approval: str, digest: str) -> None:
    key = rows.parse_id("apr", approval)
    how: dict[str, Any] = {"verdict": "stop", "revision": 1, "digest": digest, "via": "web"}
    assert key is not None
    try:
        decide(run.workspace_id, key, by=desk.cast.priya, **how)
    finally:
        connections.close_all()


# Killed on the way

ON_THE_WAY_TO_SLEEP = ["later.before", "later.after", "sleep.before", "sleep.after"]


@pytest.mark.parametrize("point", ["intent.before", *ON_THE_WAY_TO_SLEEP])
def test_killed_on_the_way_to_sleep_it_still_goes_once(desk: Desk, later: Later, point: str) -> None:
    """DU-L1, AP-D3: whatever was committed of the wait."""
    run, _ = approved(desk, hold_after="10m")
    assert work_and_die(run, point)
    let_it_run_out(run)
    desk.work(run)
    assert effects() == []
    later(601)
    assert desk.work(run).status == "completed" and effects() == [7] and timeline.doubts(run) == []


@pytest.mark.parametrize("point", ["intent.before", *ON_THE_WAY_TO_SLEEP])
def test_killed_on_the_way_to_sleep_a_stopped_call_never_goes(desk: Desk, later: Later, point: str) -> None:
    run, held = approved(desk, hold_after="10m")
    assert work_and_die(run, point)
    assert not isinstance(desk.say(held, desk.cast.priya, "stop"), Refused)
    let_it_run_out(run)
    desk.work(run)
    later(601)
    desk.work(run)
    run.refresh_from_db()
    assert run.status == "completed" and effects() == [] and desk.calls(run)[0].status == "refused"


def test_a_worker_that_sleeps_past_the_hold_does_not_send_what_was_stopped(desk: Desk) -> None:
    run, held = approved(desk, hold_after="10m")
    child = work_and_stop(run, "later.before")
    desk.say(held, desk.cast.priya, "stop")
    wake(child)
    assert desk.work(run).status == "completed" and effects() == []


# Tampering


def test_a_stop_that_is_removed_past_placet_opens_nothing(desk: Desk, later: Later, tamper: Tamper) -> None:
    """AU-2, SC-6: the ledger still says that it was stopped, and the run is parked."""
    run, _ = approved(desk, hold_after="10m")
    desk.work(run)
    desk.say(desk.calls(run)[0], desk.cast.priya, "stop")
    tamper("DELETE FROM approvals_decision WHERE verdict = 'stop'")
    tamper("UPDATE runtime_call SET status = 'cleared', ended_at = NULL")
    tamper("UPDATE approvals_approval SET outcome = 'none'")
    later(601)
    desk.work(run)
    assert (run.status, run.reason_code) == ("parked", "unreadable") and effects() == []
