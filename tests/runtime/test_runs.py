"""Runs: accepted before anybody works on them, cancelled and retried by operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from approvals.approvals import Approval
from approvals.ledger import entries
from runtime import definitions, loop, runs, state
from runtime.runs import Run
from tests.runtime import tooling
from tests.runtime.conftest import Desk, call
from tests.runtime.test_dispatch import die_after_intent
from tests.runtime.test_leases import claimed, let_it_run_out


def test_a_run_is_committed_before_anybody_looks_at_it(desk: Desk) -> None:
    """DU-L3."""
    run = desk.start([call("free.pure")])
    assert Run.objects.get(pk=run.pk).status == "ready" and tooling.happened("sent") == []
    assert runs.title_of(run) == "Ticket 4471" and runs.run_named(run.workspace_id, run.public_id) == run
    assert runs.run_named(desk.cast.halden.pk, run.public_id) is None


def test_a_start_with_the_same_key_gives_the_first_run(desk: Desk, together: Callable[..., list[Any]]) -> None:
    """DU-E6, DU-E13."""
    started = together(*[lambda: desk.start([call("free.pure")], key="ticket-4471") for _ in range(4)])
    assert len({run.pk for run in started}) == 1 == Run.objects.count()


def test_input_that_is_not_json_starts_nothing(desk: Desk) -> None:
    with pytest.raises(state.NotState, match="/input/steps"):
        runs.start(desk.cast.northwind.pk, desk.agent, input={"steps": {1}}, title="", by="system")
    assert not Run.objects.exists()


def test_an_agent_of_another_workspace_takes_no_run(desk: Desk) -> None:
    """DU-L45."""
    with pytest.raises(ValueError, match="takes no runs"):
        runs.start(desk.cast.halden.pk, desk.agent, input={}, title="", by="system")


def test_an_accepted_run_survives_a_broker_that_is_down(desk: Desk, settings: Any, monkeypatch: Any) -> None:
    """DU-C3."""
    monkeypatch.setattr("runtime.hints.app.send_task", lambda *_, **__: (_ for _ in ()).throw(OSError("down")))
    assert desk.begin([call("free.pure")]).status == "completed"


def test_cancelling_withdraws_what_is_asked_and_ends_the_run(desk: Desk) -> None:
    run = desk.begin([call("asked.keyed", 1), call("asked.keyed", 2)], [call("free.unsafe", 3)])
    assert runs.cancel(run, by=desk.cast.omar.public_id, reason="Wrong ticket.", person_id=desk.cast.omar.pk)
    assert set(Approval.objects.values_list("status", flat=True)) == {"cancelled"}
    assert desk.work(run).status == "cancelled" and run.told == "Wrong ticket." and run.ended_at
    assert {each.status for each in desk.calls(run)} == {"cancelled"} and tooling.happened("sent") == []
    last = entries.read(run.workspace_id, run.public_id)[-1]
    assert (last["kind"], last["by"]) == ("run.cancelled", desk.cast.omar.public_id)


def test_cancelling_twice_or_after_the_end_is_an_answer(desk: Desk) -> None:
    run = desk.begin([call("asked.keyed")])
    assert runs.cancel(run, by="system", reason="Once.") and not runs.cancel(run, by="system", reason="Twice.")
    assert desk.work(run).told == "Once."
    assert not runs.cancel(run, by="system", reason="Late.")


def test_a_call_that_was_approved_but_not_sent_is_not_sent_after_a_cancel(desk: Desk) -> None:
    run = desk.begin([call("asked.unsafe")])
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    runs.cancel(run, by="system", reason="Stop.")
    assert desk.work(run).status == "cancelled"
    assert desk.calls(run)[0].status == "cancelled" and tooling.happened("sent") == []


def test_a_run_in_progress_is_cancelled_by_its_own_worker(desk: Desk) -> None:
    run = desk.start([call("free.pure")])
    lease = claimed(run)
    assert runs.cancel(run, by="system", reason="Stop.")
    run.refresh_from_db()
    assert run.status == "in_progress"
    loop._work(lease)
    run.refresh_from_db()
    assert run.status == "cancelled" and tooling.happened("sent") == []


def test_a_run_that_was_over_is_not_taken_up_again(desk: Desk) -> None:
    """T31, DU-S12: whoever writes the database cannot have its agent go on and propose its calls anew."""
    run = desk.begin([call("free.pure")])
    assert run.status == "completed"
    Run.objects.filter(pk=run.pk).update(status="ready", ended_at=None)
    run = desk.work(run)
    assert (run.status, run.reason_code, len(tooling.happened("sent"))) == ("parked", "unreadable", 1)


def test_a_wish_to_cancel_is_obeyed_though_its_words_were_changed(desk: Desk) -> None:
    """T31, DU-S4: nobody makes a run, past Placet, that can neither go on nor end."""
    run = desk.start([call("free.pure")])
    Run.objects.filter(pk=run.pk).update(cancel_by="system", cancel_reason=b"\x00never sealed")
    run = desk.work(run)
    assert (run.status, tooling.happened("sent")) == ("cancelled", [])
    assert "not as it was written" in run.reason


def test_a_cancelled_run_whose_sender_died_says_that_nobody_knows(desk: Desk) -> None:
    """DU-S9: calls that were being sent finish or become unknown; nothing is sent again for a run that ends."""
    run = desk.start([call("free.keyed"), call("free.keyed", 2)])
    die_after_intent(desk, run)
    runs.cancel(run, by="system", reason="Stop.")
    assert desk.work(run).status == "cancelled"
    assert [each.status for each in desk.calls(run)] == ["unknown", "cancelled"] and tooling.happened("sent") == []


@pytest.mark.parametrize("status", ["failed", "parked"])
def test_a_run_that_stands_still_can_be_closed_or_go_on(desk: Desk, status: str) -> None:
    """AP-D7."""
    run = desk.start([call("free.pure")])
    Run.objects.filter(pk=run.pk).update(status=status, reason="It was unwell.")
    assert runs.resume(run, by="system") and not runs.resume(run, by="system")
    assert desk.work(run).status == "completed" and run.reason == ""
    other = desk.start([call("free.pure")])
    Run.objects.filter(pk=other.pk).update(status=status)
    assert runs.cancel(other, by="system", reason="Enough.") and desk.work(other).status == "cancelled"


def test_the_thread_stays_usable_after_a_run_failed(desk: Desk) -> None:
    """AP-D7, AP-P7."""
    first = desk.begin([call("no.such.tool")])
    Run.objects.filter(pk=first.pk).update(status="failed")
    second = desk.begin([call("free.pure")], thread=first.thread)
    assert second.status == "completed" and second.thread_id == first.thread_id


def test_decide_step_cancel_and_expire_on_the_same_runs_neither_deadlock_nor_stick(
    desk: Desk, together: Callable[..., list[Any]]
) -> None:
    """The lock order holds: approval, run, calls, chain head. (PostgreSQL's log is watched for deadlocks.)"""
    from approvals import gate

    waiting = [desk.begin([call("asked.unsafe", n), call("asked.keyed", n)], [call("asked.pure", n)]) for n in range(4)]
    held = [each for run in waiting for each in desk.calls(run)]

    def decide(person: Any, verdict: str) -> None:
        for each in held:
            desk.say(each, person, verdict, message="Seen.")

    def work() -> None:
        for run in waiting * 6:
            loop.advance(run.pk, run.workspace_id)

    def end() -> None:
        for run in waiting[:2]:
            runs.cancel(run, by="system", reason="Enough.")

    found = together(
        lambda: decide(desk.cast.dana, "approve"),
        lambda: decide(desk.cast.priya, "reject"),
        work,
        work,
        end,
        lambda: [gate.expire_due() for _ in range(10)],
        seconds=120,
    )
    assert [each for each in found if isinstance(each, Exception)] == []
    settle(desk, waiting)
    for run in waiting:
        run.refresh_from_db()
        assert run.status in {"completed", "cancelled", "suspended_approval"}
        asked = Approval.objects.filter(chain=run.public_id, status="pending").count()
        assert (asked > 0) == (run.status == "suspended_approval")
    done = [line["call"] for line in tooling.happened("done")]
    assert len(done) == len(set(done))


def settle(desk: Desk, waiting: list[Run]) -> None:
    for run in waiting:
        let_it_run_out(run)
        desk.work(run)


def test_a_run_cannot_belong_to_another_workspaces_thread(desk: Desk) -> None:
    run = desk.start([call("free.pure")])
    with pytest.raises(DatabaseError), transaction.atomic():
        Run.objects.filter(pk=run.pk).update(workspace_id=desk.cast.halden.pk)


def test_a_second_agent_of_the_same_name_is_the_same_agent(desk: Desk) -> None:
    again = definitions.register_agent(desk.cast.northwind.pk, "scripted", "scripted", {}, by="system")
    assert (again.pk, again.version) == (desk.agent.pk, 1)
