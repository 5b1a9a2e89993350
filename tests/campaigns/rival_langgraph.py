"""LangGraph's PostgresSaver as a rival: `python -m tests.campaigns.rival_langgraph DSN N BYTES full|delta`.

One node that adds a text, looped so many times in one invocation, with durability `sync`: a step is on record before
the next begins, as it is with us. Prints its seconds and the bytes by which its tables grew.
"""

import json
import operator
import sys
import time
import uuid
from typing import Annotated, Any, TypedDict

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph import END, START, StateGraph

from tests.campaigns.growth import text
from tests.campaigns.rivals import grown


class Full(TypedDict):
    said: Annotated[list[Any], operator.add]
    number: int


def delta() -> Any:
    """The same state with the channel that stores what was written, and a snapshot now and then."""
    from langgraph.channels.delta import DeltaChannel

    def fold(state: Any, writes: Any) -> Any:
        return list(state) + [message for write in writes for message in write]

    class Delta(TypedDict):
        said: Annotated[list[Any], DeltaChannel(fold)]
        number: int

    return Delta


def build(saver: Any, steps: int, size: int, schema: Any) -> Any:
    def step(state: Any) -> Any:
        number = state["number"]
        return {"said": [text(size, number)], "number": number + 1}

    made = StateGraph(schema)
    made.add_node("step", step)
    made.add_edge(START, "step")
    made.add_conditional_edges("step", lambda state: "step" if state["number"] < steps else END)
    return made.compile(checkpointer=saver)


def main(dsn: str, steps: int, size: int, channel: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as admin, PostgresSaver.from_conn_string(dsn) as saver:
        saver.setup()
        schema = Full if channel == "full" else delta()
        invoke(build(saver, 20, size, schema), 20)
        app, before, began = build(saver, steps, size, schema), grown(admin, "public.checkpoint%"), time.perf_counter()
        invoke(app, steps)
        seconds = time.perf_counter() - began
        bytes_grown = grown(admin, "public.checkpoint%") - before
    print(json.dumps({"seconds": seconds, "bytes": bytes_grown}), flush=True)


def invoke(app: Any, steps: int) -> None:
    thread = {"configurable": {"thread_id": uuid.uuid4().hex}, "recursion_limit": steps + 10}
    app.invoke({"said": [], "number": 0}, thread, durability="sync")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
