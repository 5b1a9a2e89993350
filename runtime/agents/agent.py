"""The contract of an agent: a pure step function. It does no input or output; whatever it wants done it proposes as a
call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol


@dataclass(frozen=True)
class ProposedCall:
    """One use of a tool that the agent wants. ``reason`` is shown to people, marked as unverified. ``estimate`` is the
    most it may spend of the run's budget, in ``tokens`` and ``money``: it is held while the call is under way.
    ``revises`` is the approval by which people requested changes of an earlier call, where this is what came of it."""

    tool: str
    args: dict[str, Any]
    reason: str = ""
    estimate: Mapping[str, int] = field(default_factory=dict)
    revises: str = ""


TEXT: Final[dict[str, Any]] = {"type": "string", "minLength": 1, "maxLength": 4000}
"""The schema of an answer in words."""


@dataclass(frozen=True)
class Question:
    """Something that the agent wants to know from people. It stands among a step's calls and ends like one.

    ``about`` is shown beside the ``text``. An answer is held to ``response_schema``. ``team`` is whom to ask, by its
    slug; where neither it nor policy names one, those who may operate the agent are asked. ``deadline`` is a number
    with s, m, h or d, seven days if empty.
    """

    text: str
    response_schema: dict[str, Any] = field(default_factory=lambda: dict(TEXT))
    about: dict[str, Any] = field(default_factory=dict)
    team: str = ""
    deadline: str = ""


@dataclass(frozen=True)
class CallResult:
    """How one call ended. ``args`` are the arguments that ran, which an approver may have edited, or else those
    proposed.

    ``status`` is executed, failed, refused, answered, expired or cancelled; ``value`` is what the tool returned, and
    ``message`` what a person or policy said, or why it failed. ``replayable``: it failed, and certainly before it had
    any effect. Of an answered call the value is what the person ``by`` gave in the tool's place, or, where
    they requested changes, ``{"requested_changes": [{"pointer", "comment"}], "approval"}``. A question's result
    has no ``tool``. Each result is given to exactly one step.
    """

    call_id: str
    tool: str
    args: dict[str, Any]
    status: str
    value: Any = None
    message: str = ""
    replayable: bool = False
    by: str = ""


@dataclass(frozen=True)
class Step:
    """What one step changes and wants. The names in ``update``, ``append`` and ``remove`` are members of the state.

    ``calls``, questions among them, all end before the next step, which is given their results in this order, in
    whichever order people decide. ``goto`` names the node of the
    next step (the same one if empty); ``done`` ends the run and allows no calls. ``usage`` counts what was spent, in
    whole numbers.
    """

    update: Mapping[str, Any] = field(default_factory=dict)
    append: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    remove: Sequence[str] = ()
    calls: Sequence[ProposedCall | Question] = ()
    goto: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)
    done: bool = False


OVER: Final = "."
"""What stands in a run's last checkpoint in place of the next node, so that nobody makes the run go on past Placet. No
node is called so."""
NODE_MAX: Final = 120
"""The longest name of a node, in characters."""


class BadStep(Exception):
    """An agent answered with something that is no step; the message says what."""


class Unusable(Exception):
    """A definition that this process cannot run: the kind, the graph or the node is not in its code."""


class Agent(Protocol):
    """An agent as the loop meets it. ``entry`` is the node of its first step.

    The state of a run begins as ``{"input": …}``. If it holds a list ``messages`` of ``{"role", "text"}``, the last
    of them are shown to whoever is asked to approve a call, and what a person says to steer the run is appended to it
    with the role ``person``.
    """

    entry: str

    def step(self, node: str, state: dict[str, Any], results: tuple[CallResult, ...]) -> Step:
        """One step. It must depend on nothing but its arguments; it may change ``state``, which is its own copy."""
        ...


Builder = Callable[[dict[str, Any]], Agent]


def build(kind: str, definition: dict[str, Any]) -> Agent:
    """The agent of a kind as its definition describes it. Raises Unusable."""
    from runtime.agents import graph, scripted

    builders: Final[dict[str, Builder]] = {"graph": graph.build, "scripted": scripted.build}
    if kind not in builders:
        raise Unusable(f"There is no kind of agent called {kind}.")
    return builders[kind](definition)


def check(step: Any) -> Step:
    """The step, if it is one. Raises BadStep."""
    if not isinstance(step, Step):
        raise BadStep(f"a step must be a Step, not {type(step).__name__}")
    _check_shape(step)
    if step.done and step.calls:
        raise BadStep("a step that ends the run proposes no calls")
    for call in step.calls:
        if isinstance(call, Question):
            _check_question(call)
        elif not isinstance(call, ProposedCall) or not isinstance(call.args, dict) or not isinstance(call.tool, str):
            raise BadStep("calls must be ProposedCall, each with a tool's name and an object of arguments, or Question")
        elif not isinstance(call.revises, str):
            raise BadStep("revises is the id of an approval")
        elif not isinstance(call.reason, str):
            raise BadStep("the reason for a call is text")
        else:
            _check_estimate(call)
    return step


def _check_shape(step: Step) -> None:
    """That each part is of its kind, before anything is made of it."""
    changed = isinstance(step.update, Mapping) and isinstance(step.append, Mapping)
    if not changed or not isinstance(step.remove, list | tuple) or not isinstance(step.calls, list | tuple):
        raise BadStep("update and append are objects, remove and calls are lists")
    if not isinstance(step.goto, str) or len(step.goto) > NODE_MAX or plain(step.goto) != step.goto:
        raise BadStep(f"goto is the name of a node, text of at most {NODE_MAX} characters")
    if step.goto == OVER:
        raise BadStep(f"no node is called {OVER}")
    if not isinstance(step.usage, Mapping) or not all(_is_count(*each) for each in step.usage.items()):
        raise BadStep("usage counts in whole numbers of at most 2**53 - 1, each under a name")


def _is_count(name: Any, count: Any) -> bool:
    return isinstance(name, str) and plain(name) == name and type(count) is int and 0 <= count < 2**53


def _check_estimate(call: ProposedCall) -> None:
    from runtime import budgets  # rows, of which an agent's own module need not know

    try:
        budgets.amounts(call.estimate)
    except ValueError as fault:
        raise BadStep(str(fault)) from fault


def _check_question(question: Question) -> None:
    words = (question.text, question.team, question.deadline)
    if not all(isinstance(each, str) for each in words) or not question.text.strip():
        raise BadStep("a question is asked in words, and its team and deadline are text")
    if not isinstance(question.response_schema, dict) or not isinstance(question.about, dict):
        raise BadStep("a question's response_schema and about are objects")


def plain(text: str) -> str:
    """Text from a model as text that can be kept: half a surrogate pair and U+0000 become other characters."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
