"""A graph agent that changes its state as it was told, for tests of what is kept of it."""

from __future__ import annotations

from typing import Any, Final

from runtime import definitions, runs
from runtime.agents import graph
from runtime.agents.agent import CallResult, Step
from runtime.runs import Run
from tests.runtime.conftest import Desk

NAME: Final = "told"
told = graph.Graph(NAME, entry="change")
poison: Final[dict[str, Any]] = {}
"""What the node ``poisoned`` puts into the state: a test may choose what no JSON could have told it."""


@told.node
def change(state: dict[str, Any], results: tuple[CallResult, ...]) -> Step:
    """The next change of the script that the run was started with."""
    at = state.get("at", 0)
    script = state["input"]["script"]
    told = script[at] if at < len(script) else {}
    update = {**told.get("update", {}), "at": at + 1}
    ends = at + 1 >= len(script)
    kept: dict[str, Any] = {"usage": told.get("usage", {}), "goto": told.get("goto", "")}
    return Step(update, told.get("append", {}), told.get("remove", ()), done=ends, **kept)


@told.node
def poisoned(state: dict[str, Any], results: tuple[CallResult, ...]) -> Step:
    return Step(update=dict(poison), done=True)


def start(desk: Desk, *script: dict[str, Any], **more: Any) -> Run:
    """A run whose agent makes these changes, one in each step; nobody has looked at it yet."""
    workspace_id = desk.cast.northwind.pk
    agent = definitions.agent_named(workspace_id, NAME)
    if agent is None:
        agent = definitions.register_agent(workspace_id, NAME, "graph", {"graph": NAME}, by="system")
        from approvals import people

        people.grant(desk.cast.omar, "operate", agent, by="system")
    told: dict[str, Any] = {"input": {"script": list(script)}, "title": "Told", "by": desk.cast.riley.public_id}
    return runs.start(workspace_id, agent, **told, **more)


def grow(desk: Desk, *script: dict[str, Any], **more: Any) -> Run:
    """The same, worked on as far as it goes."""
    return desk.work(start(desk, *script, **more))


def talk(count: int, length: int = 200) -> list[dict[str, Any]]:
    """Changes that each add a message of so many characters."""
    return [{"append": {"messages": [{"role": "assistant", "text": f"{n} ".ljust(length, ".")}]}} for n in range(count)]
