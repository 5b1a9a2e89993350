"""Graph agents."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.agents import agent as agents
from runtime.agents.agent import BadStep, ProposedCall, Step, Unusable
from runtime.agents.graph import Graph
from tests.runtime.agents.contract import AgentContract

two_nodes = Graph("two-nodes", entry="first")

ANY_STEP: Any = Step
ANY_CALL: Any = ProposedCall
"""What an agent without types may answer."""


@two_nodes.node
def first(state, results):
    return Step(calls=[ProposedCall("one", {"n": state["input"]["n"]})], goto="second")


@two_nodes.node
def second(state, results):
    return Step(update={"answer": results[0].status}, done=True)


class TestGraph(AgentContract):
    kind = "graph"
    definition = {"graph": "two-nodes"}
    unusable = {"graph": "nobody registers this"}
    input = {"n": 3}


def test_a_graph_goes_from_node_to_node() -> None:
    step = two_nodes.step("first", {"input": {"n": 3}}, ())
    assert step.goto == "second" and isinstance(step.calls[0], ProposedCall) and step.calls[0].args == {"n": 3}


def test_an_unknown_kind_is_unusable() -> None:
    with pytest.raises(Unusable, match="no kind"):
        agents.build("oracle", {})


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        {"calls": []},
        Step(done=True, calls=[ProposedCall("one", {})]),
        ANY_STEP(calls=["one"]),
        Step(calls=[ANY_CALL("one", [])]),
        ANY_STEP(usage={"tokens": 1.5}),
        Step(usage={"tokens": True}),
    ],
)
def test_an_answer_that_is_no_step_is_named_so(wrong: object) -> None:
    """AP-V2, AP-V9: nothing but a step's own calls is ever a call."""
    with pytest.raises(BadStep):
        agents.check(wrong)
