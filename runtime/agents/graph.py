"""Graph agents: named nodes, each a plain function from state and results to a step.

A graph is written in a module that ``settings.PLACET_MODULES`` names::

    desk = graph.Graph("refund-desk", entry="read")

    @desk.node
    def read(state, results):
        return Step(calls=[ProposedCall("tickets.read", {"number": state["input"]["ticket"]})], goto="weigh")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from runtime import modules
from runtime.agents.agent import CallResult, Step, Unusable

Node = Callable[[dict[str, Any], tuple[CallResult, ...]], Step]

_graphs: Final[dict[str, Graph]] = {}


class Graph:
    """A graph of named nodes, known by its name to every process that imports its module."""

    def __init__(self, name: str, *, entry: str) -> None:
        self.name = name
        self.entry = entry
        self._nodes: dict[str, Node] = {}
        _graphs[name] = self

    def node(self, function: Node) -> Node:
        """Add a node under the function's own name."""
        self._nodes[function.__name__] = function
        return function

    def check_names(self, definition: dict[str, Any]) -> None:
        """Raises Unusable where the definition wants to stop at a node that there is not: it would never stop."""
        for key in ("interrupt_before", "interrupt_after"):
            unknown = set(definition.get(key, ())) - set(self._nodes) - {"*"}
            if unknown:
                raise Unusable(f"{key} names {', '.join(sorted(unknown))}, and the graph {self.name} has no such node.")

    def step(self, node: str, state: dict[str, Any], results: tuple[CallResult, ...]) -> Step:
        """Run one node. Raises Unusable if the graph has no node of this name."""
        if node not in self._nodes:
            raise Unusable(f"The graph {self.name} has no node {node}.")
        return self._nodes[node](state, results)


def build(definition: dict[str, Any]) -> Graph:
    """The graph that a definition ``{"graph": NAME}`` names. Raises Unusable if no module registered it."""
    modules.load()
    name = definition.get("graph")
    if name not in _graphs:
        raise Unusable(f"No module of this process registers the graph {name}.")
    _graphs[name].check_names(definition)
    return _graphs[name]
