"""Asking an agent for a step: whatever its own code does, a step comes of it or a sentence why there is none."""

from __future__ import annotations

import logging
import traceback
from typing import Any

from runtime.agents import agent as agents

log = logging.getLogger(__name__)


class AgentRaised(Exception):
    """The agent's own code raised; the message names the exception, not what it said."""


def ask(agent: agents.Agent, node: str, given: dict[str, Any], results: tuple[agents.CallResult, ...]) -> agents.Step:
    """What the agent wants to do now. Raises AgentRaised, and what says that its answer is no step."""
    try:
        return agents.check(agent.step(node, given, results))
    except (agents.Unusable, agents.BadStep):
        raise
    except Exception as error:
        # What it said may quote a customer: the log has the place instead.
        where = traceback.extract_tb(error.__traceback__)[-1]
        log.error("The agent's node %s raised %s at %s:%s", node, type(error).__name__, where.filename, where.lineno)
        raise AgentRaised(f"The agent's node {node} raised {type(error).__name__}.") from error
