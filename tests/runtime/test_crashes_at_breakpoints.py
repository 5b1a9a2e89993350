"""Killing the worker where people are asked a question, or stop a run: asked once, heard once, nothing lost."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import people
from approvals.approvals import Approval
from approvals.decisions import Decided
from runtime import checkpoints, definitions, runs
from runtime.runs import Run
from tests.cast import say
from tests.runtime import tooling
from tests.runtime.conftest import Desk, call
from tests.runtime.crashing import work_and_die
from tests.runtime.test_leases import let_it_run_out

WITH_A_QUESTION = ["claim.after", "step.before", "step.after"]
AT_A_BREAKPOINT = ["claim.after", "stop.before", "stop.after"]
PAST_A_BREAKPOINT = ["claim.after", "pass.before", "pass.after", "step.before", "step.after"]


def effects() -> list[int]:
    return [line["args"]["n"] for line in tooling.happened("done")]


def stopping(desk: Desk, **definition: object) -> Run:
    """A run of an agent that adds up what people say, and stops where its definition says."""
    script = {"steps": [[call("free.keyed", 1)], [call("free.keyed", 2)]]}
    agent = definitions.register_agent(desk.cast.northwind.pk, "stops", "scripted", script | definition, by="system")
    people.grant(desk.cast.omar, "operate", agent, by="system")
    return runs.start(desk.cast.northwind.pk, agent, input={}, title="Stops", by="system")


def omar_says(desk: Desk, run: Run, verdict: str, **more: Any) -> None:
    approval = Approval.objects.get(chain=run.public_id, status="pending")
    assert isinstance(say(approval, desk.cast.omar, verdict, **more), Decided)


@pytest.mark.parametrize("point", AT_A_BREAKPOINT)
def test_killed_at_a_breakpoint_it_stops_there_once(desk: Desk, point: str) -> None:
    """DU-L18, DU-L33: people are asked once, and nothing behind the breakpoint has begun."""
    run = stopping(desk, interrupt_before=["1"])
    assert work_and_die(run, point)
    let_it_run_out(run)
    assert desk.work(run).status == "suspended_approval" and Approval.objects.count() == 1 and effects() == [1]
    omar_says(desk, run, "approve")
    assert desk.work(run).status == "completed" and effects() == [1, 2]


@pytest.mark.parametrize("point", PAST_A_BREAKPOINT)
def test_killed_past_a_breakpoint_it_takes_what_was_said_once(desk: Desk, point: str) -> None:
    """DU-L15, DU-L20, DU-L32: the words are in the state once, and nobody is asked again."""
    run = desk.work(stopping(desk, human_input_mode="TERMINATE"))
    omar_says(desk, run, "respond", response=b'"Once more."')
    assert work_and_die(run, point)
    let_it_run_out(run)
    assert desk.work(run).status == "suspended_approval" and Approval.objects.count() == 2
    omar_says(desk, run, "approve")
    assert desk.work(run).status == "completed" and effects() == [1, 2]
    state = checkpoints.rehydrate(run.pk, head_seq=run.head_seq, head_mac=bytes(run.head_mac))[0]
    assert [message["text"] for message in state["messages"]] == ["Once more."]


@pytest.mark.parametrize("point", ["claim.after", "pass.before", "pass.after"])
def test_killed_while_it_finishes_it_is_finished_once(desk: Desk, point: str) -> None:
    run = desk.work(stopping(desk, human_input_mode="TERMINATE"))
    omar_says(desk, run, "approve")
    died = work_and_die(run, point)
    let_it_run_out(run)
    assert died and desk.work(run).status == "completed" and Approval.objects.count() == 1


@pytest.mark.parametrize("point", WITH_A_QUESTION)
def test_an_answer_outlives_every_worker(desk: Desk, point: str) -> None:
    """DU-L25, DU-L33: asked once, given to one step, wherever the worker dies."""
    run = desk.start([{"ask": "Which colour?"}, call("asked.keyed", 7)])
    assert work_and_die(run, point)
    let_it_run_out(run)
    desk.work(run)
    decide_question(desk, run)
    desk.say(desk.calls(run)[1], desk.cast.dana, "approve")
    assert work_and_die(run, "step.before")
    let_it_run_out(run)
    assert desk.work(run).status == "completed" and effects() == [7] and Approval.objects.count() == 2
    assert desk.results(run)[0]["value"] == "Blue."


def decide_question(desk: Desk, run: Run) -> None:
    approval = Approval.objects.get(chain=run.public_id, kind="question")
    assert isinstance(say(approval, desk.cast.omar, "respond", response=b'"Blue."'), Decided)
