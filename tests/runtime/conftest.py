"""The machine's tests: the cast, one tool of each effect class, and the verbs that a test says in a line."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

import pytest

from approvals import people, policies, rows
from approvals.approvals import Approval
from runtime import definitions, loop, runs, sweeps, tools
from runtime.calls import Attempt, Call
from runtime.definitions import Agent
from runtime.embedded import DATABASE
from runtime.runs import Run
from tests import cast as casting
from tests import databases
from tests.runtime import tooling

POLICY = """
policy: 1
rules:
  - id: free
    match: {tool: [free.pure, free.keyed, free.natural, free.lookup, free.unsafe]}
    verdict: allow
  - id: asked
    match: {tool: [asked.pure, asked.keyed, asked.natural, asked.lookup, asked.unsafe]}
    verdict: require_approval
    approvals: [{team: finance}]
    deadline: 1h
  - id: pair
    match: {tool: [pair.pure, pair.keyed, pair.natural, pair.lookup, pair.unsafe]}
    verdict: require_approval
    approvals: [{team: finance, count: 2}]
    deadline: 1h
"""


@dataclass
class Desk:
    """A workspace in which agents work: its cast, a scripted agent, and what a test does with them."""

    cast: casting.Cast
    agent: Agent

    def start(self, *steps: list[dict[str, Any]], **more: Any) -> Run:
        """A run that plays these steps; nobody has looked at it yet."""
        facts: dict[str, Any] = {
            "title": "Ticket 4471",
            "by": self.cast.riley.public_id,
            "requester_id": self.cast.riley.pk,
        } | more
        return runs.start(self.cast.northwind.pk, self.agent, input={"steps": list(steps)}, **facts)

    def work(self, run: Run) -> Run:
        """Let a worker look at the run until it is neither ready nor due."""
        while loop.advance(run.pk, run.workspace_id):
            run.refresh_from_db()
            if run.status != "ready":
                break
        run.refresh_from_db()
        return run

    def wait_out(self, run: Run) -> Run:
        """Work on a run that sleeps as if every time it waits for had come, until it sleeps no more."""
        self.work(run)
        while run.status == "sleeping":
            past = rows.now() - timedelta(days=1)
            Attempt.objects.filter(call__run=run).update(send_deadline=past)
            Call.objects.filter(run=run).exclude(due_at=None).update(due_at=past)
            Run.objects.filter(pk=run.pk).update(wake_at=past)
            sweeps.wake_sleepers()
            self.work(run)
        return run

    def begin(self, *steps: list[dict[str, Any]], **more: Any) -> Run:
        """Start a run and work on it as far as it goes."""
        return self.work(self.start(*steps, **more))

    def say(self, call: Call, person: Any, verdict: str, **more: Any) -> Any:
        """Decide about a call that is held."""
        approval = Approval.objects.filter(subject=call.public_id).latest("created_at")
        return casting.say(approval, person, verdict, **more)

    def calls(self, run: Run) -> list[Call]:
        """All calls of the run, as the agent proposed them."""
        return list(Call.objects.filter(run=run).order_by("step", "idx"))

    def results(self, run: Run) -> list[dict[str, Any]]:
        """What the agent was told, in order."""
        from runtime import checkpoints

        run.refresh_from_db()
        state, _ = checkpoints.rehydrate(run.pk, head_seq=run.head_seq, head_mac=bytes(run.head_mac))
        return list(state.get("results", []))


def call(tool: str, n: int = 1, **more: Any) -> dict[str, Any]:
    """A call for a script."""
    return {"tool": tool, "args": {"n": n, **more}, "reason": f"Because {n}."}


@pytest.fixture
def committed_db(django_db_blocker: Any, request: pytest.FixtureRequest) -> Iterator[str]:
    """A database of this test's own; where the test takes the desk, a copy of one in which the desk stands already."""
    with django_db_blocker.unblock():
        template = prepared()[0] if "desk" in request.fixturenames else DATABASE
        with databases.cloned(of=template) as name:
            yield name


@pytest.fixture
def desk(committed_db: str) -> Iterator[Desk]:
    """A desk in a database of its own, and an empty world."""
    tooling.world().unlink(missing_ok=True)
    found = deepcopy(prepared()[1])
    rows.enter(found.cast.northwind)
    yield found
    tooling.world().unlink(missing_ok=True)


@cache
def prepared() -> tuple[str, Desk]:
    """The database that desks are copied from, set up once for this test process, and what stands in it."""
    name = databases.copy("desk")
    with databases.pointed(NAME=name):
        return name, set_up()


@cache
def counting_tools() -> list[definitions.Offer]:
    """The tools of `tooling`, checked once."""
    known = [each for each in tools.registered() if each.path.startswith(tooling.__name__)]
    return [
        definitions.offer(
            each.definition, kind="function", config={"function": each.path}, effect=each.effect, summary=each.summary
        )
        for each in known
    ]


def set_up() -> Desk:
    """The cast, its policy, the tools and the agent, written into the database."""
    cast = casting.assemble()
    policies.load(cast.northwind, POLICY, by=cast.omar.public_id, author=cast.omar)
    definitions.register_offers(cast.northwind.pk, counting_tools(), by="system")
    agent = definitions.register_agent(cast.northwind.pk, "scripted", "scripted", {}, by="system")
    people.grant(cast.omar, "operate", agent, by="system")
    return Desk(cast, agent)
