"""The agent of `bin/bench steps`, and a worker that advances runs of it: `python -m tests.campaigns.grower`.

For every line `STEPS BYTES` on its standard input the worker begins a run, says `ready`, waits for another line, and
prints how many seconds the run took.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any, Final

from runtime.agents import graph
from runtime.agents.agent import CallResult, Step
from tests.campaigns.growth import text

NAME: Final = "grower"
grower = graph.Graph(NAME, entry="grow")


@grower.node
def grow(state: dict[str, Any], results: tuple[CallResult, ...]) -> Step:
    """Add one message; in the first steps, ``many`` at once until there are ``bulk`` of them."""
    asked, number = state["input"], state.get("number", 0)
    many = asked.get("many", 1) if number * asked.get("many", 1) < asked.get("bulk", 0) else 1
    said = [{"role": "assistant", "text": text(asked["bytes"], number + each)} for each in range(many)]
    return Step({"number": number + 1}, {"messages": said}, done=number + 1 >= asked["steps"])


def begin(steps: int, size: int, **more: int) -> Any:
    """A run of so many steps; nobody has looked at it yet."""
    from approvals import gate, rows
    from runtime import definitions, runs
    from runtime.demo import opening

    workspace, riley = gate.workspace_named(opening.WORKSPACE), gate.person_named(opening.ASKS)
    assert workspace is not None and riley is not None
    rows.enter(workspace)
    agent = definitions.register_agent(workspace.pk, NAME, "graph", {"graph": NAME}, by="system")
    asked = {"steps": steps, "bytes": size, **more}
    return runs.start(workspace.pk, agent, input=asked, title="A benchmark", by=riley.public_id)


def work(run: Any) -> None:
    """Advance a run to its end, claim by claim."""
    from runtime import loop

    while loop.advance(run.pk, run.workspace_id):
        pass
    run.refresh_from_db()
    assert run.status == "completed", f"{run.status}: {run.reason}"


def main() -> None:
    import django

    django.setup()
    for line in sys.stdin:
        run = begin(*map(int, line.split()))
        print("ready", flush=True)
        sys.stdin.readline()
        began = time.perf_counter()
        work(run)
        told = {"seconds": time.perf_counter() - began, "run": run.public_id}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
