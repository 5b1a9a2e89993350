"""One call: a run of a scripted agent that proposes it, for the command and for the page of the first steps."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from runtime import definitions, runs
from runtime.definitions import Agent
from runtime.runs import Run


class PlaysNoScripts(ValueError):
    """The agent of this name is of another kind."""


def start(workspace_id: UUID, agent: str, call: dict[str, Any], *, title: str = "", **more: Any) -> Run:
    """Start the run, of an agent that is made if there is none of its name. ``call`` is ``{tool, args, reason}``;
    ``more`` goes to `runs.start`. Raises PlaysNoScripts."""
    steps = {"steps": [[call]]}
    return runs.start(workspace_id, scripted(workspace_id, agent), input=steps, title=title or call["tool"], **more)


def scripted(workspace_id: UUID, name: str, *, by: str = "system") -> Agent:
    """The scripted agent of this name, made if there is none. Raises PlaysNoScripts."""
    agent = definitions.agent_named(workspace_id, name)
    if agent is None:
        return definitions.register_agent(workspace_id, name, "scripted", {}, by=by)
    if agent.kind != Agent.Kind.SCRIPTED:
        raise PlaysNoScripts(f"{name} plays no scripts; it is a {agent.kind} agent.")
    return agent
