"""Scripted agents: they play calls from data, step by step, and keep what came of each.

The script is ``steps`` of the definition or, if it has none, of the run's input: a list of steps, each a list of
``{"tool", "args", "reason"}`` or ``{"ask", "response_schema", "about", "team"}``, a question. A call may say
``revises``, the number of the call of the step before that it revises. The state's ``results`` is the list of all
outcomes, in the order of the calls.
"""

from __future__ import annotations

from typing import Any

from runtime.agents.agent import TEXT, CallResult, ProposedCall, Question, Step, Unusable


class Scripted:
    """Plays a script, whatever becomes of its calls. A node is the number of the step that comes next."""

    entry = "0"

    def __init__(self, steps: list[Any] | None) -> None:
        self._steps = steps

    def step(self, node: str, state: dict[str, Any], results: tuple[CallResult, ...]) -> Step:
        """Keep the results and propose the calls of the next step of the script, or end."""
        script = self._steps if self._steps is not None else state["input"]["steps"]
        number = int(node)
        kept = {"results": [_kept(result) for result in results]}
        if number >= len(script):
            return Step(append=kept, done=True)
        calls = [_wanted(each, results) for each in script[number]]
        return Step(append=kept, calls=calls, goto=str(number + 1))


def _wanted(line: dict[str, Any], results: tuple[CallResult, ...]) -> ProposedCall | Question:
    if "ask" not in line:
        return ProposedCall(
            line["tool"], line["args"], line.get("reason", ""), line.get("estimate", {}), _revised(line, results)
        )
    schema, about = line.get("response_schema", dict(TEXT)), line.get("about", {})
    return Question(line["ask"], schema, about, line.get("team", ""), line.get("deadline", ""))


def _revised(line: dict[str, Any], results: tuple[CallResult, ...]) -> str:
    """The approval that a line revises: the one by which changes of the so-manieth call of the last step were
    requested."""
    if "revises" not in line:
        return ""
    value = results[line["revises"]].value
    return str(value.get("approval", "")) if isinstance(value, dict) else ""


def _kept(result: CallResult) -> dict[str, Any]:
    given = {"by": result.by} if result.by else {}
    return given | {
        "call": result.call_id,
        "tool": result.tool,
        "args": result.args,
        "status": result.status,
        "value": result.value,
        "message": result.message,
    }


def build(definition: dict[str, Any]) -> Scripted:
    """The agent of a definition ``{"steps": [[…]]}`` or ``{}``. Raises Unusable."""
    steps = definition.get("steps")
    if steps is not None and not isinstance(steps, list):
        raise Unusable("A script is a list of steps.")
    return Scripted(steps)
