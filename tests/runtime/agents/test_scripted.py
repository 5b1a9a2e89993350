"""Scripted agents."""

from __future__ import annotations

from runtime.agents.agent import CallResult, ProposedCall
from runtime.agents.scripted import Scripted
from tests.runtime.agents.contract import AgentContract

SCRIPT = [
    [{"tool": "one", "args": {"n": 1}, "reason": "why"}],
    [{"tool": "two", "args": {}}, {"tool": "three", "args": {}}],
]


class TestScripted(AgentContract):
    kind = "scripted"
    definition = {"steps": SCRIPT}
    unusable = {"steps": "all of them"}


class TestScriptedByInput(AgentContract):
    kind = "scripted"
    unusable = {"steps": 7}
    input = {"steps": SCRIPT}


def test_it_proposes_the_calls_of_each_step_in_order() -> None:
    agent = Scripted(SCRIPT)
    assert agent.step("0", {}, ()).calls == [ProposedCall("one", {"n": 1}, "why")]
    assert [getattr(call, "tool", "") for call in agent.step("1", {}, ()).calls] == ["two", "three"]
    assert agent.step("2", {}, ()).done


def test_it_keeps_what_came_of_each_call() -> None:
    step = Scripted(SCRIPT).step("1", {}, (CallResult("call_1", "one", {"n": 1}, "refused", message="No."),))
    assert step.append["results"][0]["status"] == "refused" and step.append["results"][0]["message"] == "No."
