"""A stopped agent: its runs take no step and send nothing, and go on where they were when it is let go on."""

from __future__ import annotations

from functools import partial
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from approvals import gate, rows
from approvals.approvals import Approval
from approvals.decisions import Refused
from runtime import asking, definitions, halts, invariants, leases, runs, sweeps, timeline
from runtime.runs import Run
from tests.runtime.conftest import Desk, call
from tests.runtime.test_waits import Later, approved, effects, later, load

__all__ = ["later"]


def stop(desk: Desk, agent: Any = None) -> None:
    assert isinstance(gate.halts.begin(desk.cast.northwind, agent, by=desk.cast.omar), gate.halts.Halt)


def go_on(desk: Desk, agent: Any = None) -> None:
    assert isinstance(halts.resume(desk.cast.northwind, agent, by=desk.cast.omar), gate.halts.Halt)


@pytest.mark.parametrize("whole", [True, False], ids=["workspace", "agent"])
def test_a_run_of_a_stopped_agent_sleeps_and_then_goes_on(desk: Desk, whole: bool) -> None:
    """HF-6: what policy allows outright is held back as well."""
    thing = None if whole else desk.agent
    stop(desk, thing)
    run = desk.begin([call("free.unsafe", 7)])
    assert (run.status, run.reason_code, run.head_seq) == ("sleeping", "halted", 1) and effects() == []
    go_on(desk, thing)
    assert desk.work(run).status == "completed" and effects() == [7] and not list(invariants.offenders())


def test_what_was_approved_before_the_stop_is_sent_after_it(desk: Desk, later: Later) -> None:
    """HF-6: once, though its deadline passed meanwhile."""
    run, _ = approved(desk)
    stop(desk)
    assert desk.work(run).status == "sleeping" and effects() == []
    later(7200)
    assert desk.work(run).status == "sleeping" and effects() == []
    go_on(desk)
    assert desk.work(run).status == "completed" and effects() == [7] and timeline.doubts(run) == []


def test_a_stop_in_the_middle_of_a_turn_holds_the_call_back(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """HF-6: the last look before anything is sent is the one that counts."""
    run, _ = approved(desk)
    monkeypatch.setattr("runtime.loop.halts.obeyed", lambda lease: False)
    stop(desk, desk.agent)
    assert desk.work(run).status == "sleeping" and effects() == []
    monkeypatch.undo()
    go_on(desk, desk.agent)
    assert desk.work(run).status == "completed" and effects() == [7]


def test_a_stop_in_the_middle_of_a_turn_is_the_last_step(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """HF-6: it begins while the agent thinks about its second step, and there is neither a third nor a question."""
    asked: list[str] = []
    monkeypatch.setattr(halts, "EVERY", 0)
    monkeypatch.setattr(asking, "ask", partial(_stopped_while_asking, asking.ask, desk, asked))
    run = desk.begin([], [], [], [call("asked.unsafe")])
    assert asked == ["0", "1"] and (run.status, run.reason_code) == ("sleeping", "halted")
    assert not Approval.objects.exists()


def _stopped_while_asking(ask: Any, desk: Desk, asked: list[str], agent: Any, node: str, *more: Any) -> Any:
    asked.append(node)
    if node == "1":
        stop(desk)
    return ask(agent, node, *more)


def test_nobody_decides_for_a_stopped_agent_and_nothing_expires(desk: Desk, later: Later) -> None:
    """HF-6, DS-3."""
    run = desk.begin([call("asked.unsafe", 7)])
    stop(desk, desk.agent)
    later(7200)
    sweeps.sweep()
    answer = desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    assert isinstance(answer, Refused) and answer.code == "halted"
    go_on(desk, desk.agent)
    sweeps.sweep()
    assert Approval.objects.get().status == "pending"
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    assert desk.work(run).status == "completed" and effects() == [7]


def test_a_stopped_run_can_be_ended(desk: Desk) -> None:
    stop(desk)
    run = desk.begin([call("free.unsafe", 7)])
    assert runs.cancel(run, by=desk.cast.omar.public_id, reason="Enough.")
    assert desk.work(run).status == "cancelled" and effects() == []


def test_looking_at_a_stopped_run_is_no_attempt_at_it(desk: Desk) -> None:
    """However often it is looked at, it is not parked."""
    stop(desk)
    run = desk.begin([call("free.unsafe", 7)])
    for _ in range(7):
        Run.objects.filter(pk=run.pk).update(status="ready", wake_at=rows.now())
        assert desk.work(run).status == "sleeping"
    go_on(desk)
    assert desk.work(run).status == "completed"


def test_other_agents_go_on(desk: Desk) -> None:
    other = definitions.register_agent(desk.cast.northwind.pk, "other", "scripted", {}, by="system")
    stop(desk, other)
    assert desk.begin([call("free.unsafe", 7)]).status == "completed" and effects() == [7]


def test_the_time_of_a_stop_is_not_counted_against_a_budget(desk: Desk, later: Later) -> None:
    stop(desk)
    run = desk.start([call("free.unsafe", 7)], budget={"seconds": 600})
    desk.work(run)
    later(86_400)
    desk.work(run)
    go_on(desk)
    assert desk.work(run).status == "completed" and effects() == [7]


def test_a_run_that_somebody_else_took_is_left_to_them(desk: Desk) -> None:
    stop(desk)
    run = desk.start([call("free.unsafe", 7)])
    with rows.within(desk.cast.northwind):
        lease = leases.claim(run.workspace_id, run.pk)
        assert lease is not None
        Run.objects.filter(pk=run.pk).update(fence=lease.fence + 1)
        with pytest.raises(leases.LeaseLost):
            halts.rest(lease)


# The command


def told(*words: str) -> str:
    out = StringIO()
    call_command("halt", *words, "--workspace", "northwind", stdout=out)
    return out.getvalue()


def test_an_operator_stops_lists_and_lets_go_on(desk: Desk) -> None:
    """HF-6: one command."""
    load(desk)
    assert "scripted is stopped" in told("begin", "--agent", "scripted", "--reason", "It loops.")
    assert "scripted  An operator  It loops." in told("list")
    assert "goes on" in told("end", "--agent", "scripted")
    assert "Nothing is stopped" in told("list")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("begin", "--as", "dana@northwind.example"), "Only those who administer"),
        (("begin", "--as", "oskar@halden.example"), "no member"),
        (("begin", "--agent", "nobody"), "no agent nobody"),
        (("end",), "not stopped"),
    ],
    ids=["no right", "foreign", "no agent", "not stopped"],
)
def test_the_command_says_why_not(desk: Desk, words: tuple[str, ...], said: str) -> None:
    """HF-6, AP-I5."""
    with pytest.raises(CommandError, match=said):
        told(*words)
