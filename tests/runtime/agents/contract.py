"""What every kind of agent must keep to. A kind's tests take the class and say how one of its agents is made."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from runtime.agents import agent as agents
from runtime.agents.agent import Agent, CallResult, Step


class AgentContract:
    """``kind``, a ``definition`` that works, one that does not, and the state in which its runs begin."""

    kind = ""
    definition: dict[str, Any] = {}
    unusable: dict[str, Any] = {}
    input: dict[str, Any] = {}

    def make(self) -> Agent:
        return agents.build(self.kind, self.definition)

    def state(self) -> dict[str, Any]:
        return {"input": copy.deepcopy(self.input)}

    def test_its_first_step_is_a_step(self) -> None:
        made = self.make()
        assert isinstance(agents.check(made.step(made.entry, self.state(), ())), Step)

    def test_the_same_arguments_give_the_same_step(self) -> None:
        """DU-T3: nothing outside the arguments shapes a step, whichever process takes it."""
        first, second = self.make(), self.make()
        assert first.step(first.entry, self.state(), ()) == second.step(second.entry, self.state(), ())

    def test_a_definition_it_cannot_run_is_refused_when_it_is_built(self) -> None:
        with pytest.raises(agents.Unusable):
            agents.build(self.kind, self.unusable)

    def test_a_node_it_does_not_have_is_an_error_and_no_silence(self) -> None:
        """AP-D9."""
        with pytest.raises((agents.Unusable, ValueError)):
            self.make().step("no such node", self.state(), ())

    def test_it_ends_after_a_while_whatever_comes_of_its_calls(self) -> None:
        """AP-R9: every outcome of a call lets it go on or end."""
        for status in ("executed", "failed", "refused", "expired", "cancelled"):
            assert self._play(status) < 100

    def _play(self, status: str) -> int:
        made, state = self.make(), self.state()
        results: tuple[CallResult, ...] = ()
        node, steps = made.entry, 0
        while steps < 100:
            step = agents.check(made.step(node, copy.deepcopy(state), results))
            state |= dict(step.update)
            for name, items in step.append.items():
                state.setdefault(name, []).extend(items)
            results = tuple(_result(call, status) for call in step.calls)
            node, steps = step.goto or node, steps + 1
            if step.done:
                break
        return steps


def _result(call: agents.ProposedCall | agents.Question, status: str) -> CallResult:
    if isinstance(call, agents.Question):
        return CallResult("call_" + "0" * 32, "", {"question": call.text}, status, message="told")
    return CallResult("call_" + "0" * 32, call.tool, call.args, status, message="told")
