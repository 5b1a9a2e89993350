"""A state machine plays with the real machine: workers that die or are overtaken anywhere, people, time, cancels.

After every act the invariants hold and the world saw only what the oracle allows; in the end, when nobody is killed any
more, every run ends.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pytest
from django.db import connection
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from approvals import gate
from approvals.approvals import Approval
from approvals.decisions import Decided
from runtime import crashpoints, definitions, invariants, leases, loop, runs, sweeps, timeline, unknowns
from runtime.calls import Call
from runtime.crashpoints import Thrown
from runtime.runs import Run
from runtime.tools import Use, tool
from tests import cast as casting
from tests.runtime import tooling
from tests.runtime.conftest import Desk, call
from tests.runtime.oracle import DEADLINE, Question, Story
from tests.runtime.test_retries import promising

NEEDS = {"asked": 1, "pair": 2}
TOOLS = st.tuples(st.sampled_from(["free", "asked", "pair"]), st.sampled_from(tooling.EFFECTS))
STEPS = st.lists(st.lists(TOOLS, min_size=1, max_size=3), min_size=1, max_size=2)
HURT = st.none() | st.tuples(st.sampled_from(sorted(crashpoints.POINTS)), st.sampled_from(["throw", "overtake"]))
LEASE, LONG = 30, DEADLINE + 60
"""Seconds after which a lease and a sending are over; after which nobody decided in time."""


@tool("world.find", schema={"type": "object"}, title="Find", effect="pure", summary="Find", timeout_seconds=10)
def find(args: dict[str, Any], use: Use) -> Any:
    """What the tools of the effect lookup are asked with."""
    return {"found": any(line["key"] == args["reference"] for line in tooling.happened("done"))}


class Machine(RuleBasedStateMachine):
    """Runs, and what happens to them. Time is the database's clock, moved for this connection."""

    desk: Desk
    known = Bundle("runs")
    ended: Counter[str]
    """How the runs of all examples ended."""

    def __init__(self) -> None:
        super().__init__()
        tooling.world().unlink(missing_ok=True)
        self.stories: dict[UUID, Story] = {}
        self.runs: list[Run] = []
        self.now = 0
        self.pass_time(0)

    # What may happen

    @rule(target=known, steps=STEPS)
    def start(self, steps: list[list[tuple[str, str]]]) -> Run:
        script = [[call(".".join(each), 1 + i + 10 * s) for i, each in enumerate(step)] for s, step in enumerate(steps)]
        run = self.desk.start(*script)
        self.runs.append(run)
        return run

    @rule(run=known, hurt=HURT)
    def work(self, run: Run, hurt: tuple[str, str] | None) -> None:
        """A worker looks at it; it may be thrown out at a point, or overtaken there and go on too late."""

        def struck(name: str, way: str) -> None:
            os.environ["PLACET_CRASH_AT"] = ""
            if way == "throw":
                raise Thrown(name)
            for lease in leases._kept.values():
                lease.until = 0.0  # its own clock runs on, too
            self.pass_time(LEASE)
            loop.advance(run.pk, run.workspace_id)

        crashpoints._visits.clear()
        armed = {"PLACET_CRASH_AT": ":".join(hurt) if hurt else ""}
        with patch.dict(os.environ, armed), patch.object(crashpoints, "_end", struck):
            try:
                loop.advance(run.pk, run.workspace_id)
            except Thrown:
                pass
        self._meet_new_calls()

    @rule(run=known, index=st.integers(0, 5), who=st.sampled_from(["dana", "priya"]), data=st.data())
    def decide(self, run: Run, index: int, who: str, data: st.DataObject) -> None:
        asked = [each for each in self._calls(run) if self.stories[each.pk].question]
        if not asked:
            return
        chosen = asked[index % len(asked)]
        verdict = data.draw(st.sampled_from(["approve", "approve", "reject", "edit"]))
        question = self.stories[chosen.pk].question
        assert question is not None
        edited = {"n": question.n + 100} if verdict == "edit" else None
        answer = self.desk.say(chosen, getattr(self.desk.cast, who), verdict, message="No.", edited=edited)
        expected = question.decide(who, verdict, self.now)
        assert (answer.status if isinstance(answer, Decided) else answer.code) == expected

    @rule(choice=st.sampled_from(unknowns.OPTIONS))
    def say_what_happened(self, choice: str) -> None:
        """An operator answers truthfully whether a call happened, or gives it up."""
        for approval in Approval.objects.filter(kind="outcome", status="pending").order_by("created_at")[:1]:
            story = self.stories[Call.objects.get(question=approval.public_id).pk]
            casting.say(approval, self.desk.cast.omar, "choose", choice=choice, message="I looked.")
            story.again += choice == unknowns.AGAIN
            story.vouched |= choice == unknowns.HAPPENED

    @rule(run=known)
    def cancel(self, run: Run) -> None:
        run.refresh_from_db()
        runs.cancel(run, by=self.desk.cast.omar.public_id, reason="No more.")
        self._close(run, "cancelled")

    @rule(seconds=st.sampled_from([1, LEASE, LEASE, LONG]))
    def pass_time(self, seconds: int) -> None:
        self.now += seconds
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('placet.clock_offset', %s, false)", [str(self.now)])

    @rule()
    def sweep(self) -> None:
        sweeps.wake_sleepers()
        gate.expire_due()
        for story in self.stories.values():
            if story.question and story.question.status == "pending" and self.now >= story.question.until:
                story.question.status = "expired"

    # What must be true

    @invariant()
    def invariants_hold(self) -> None:
        assert [str(each) for each in invariants.offenders()] == []

    @invariant()
    def the_world_saw_only_what_was_allowed(self) -> None:
        sent, done = tooling.happened("sent"), tooling.happened("done")
        for each in Call.objects.filter(run__in=self.runs):
            numbers = [[line["args"]["n"] for line in lines if line["key"] == each.key] for lines in (sent, done)]
            assert self.stories[each.pk].faults(str(each.status), *numbers) == [], each.tool_name

    def teardown(self) -> None:
        """From here on nobody is hurt: every run ends, and every call that was approved and not cancelled was done."""
        try:
            for _ in range(40):
                if all(run.status in runs.FINAL for run in self.runs):
                    break
                self._go_on()
            assert {str(run.status) for run in self.runs} <= {"completed", "cancelled"}
            self.ended.update(str(run.status) for run in self.runs)
            self.invariants_hold()
            self.the_world_saw_only_what_was_allowed()
            assert [doubt for run in self.runs for doubt in timeline.doubts(run)] == []
            assert [str(each) for each in invariants.unreadable()] == []
        finally:
            self.now = 0
            self.pass_time(0)

    def _go_on(self) -> None:
        self.pass_time(LEASE)
        self.sweep()
        for approval in Approval.objects.filter(kind="call", status="pending"):
            chosen = Call.objects.get(approval=approval.public_id)
            question = self.stories[chosen.pk].question
            for who in ("dana", "priya"):
                if question and question.status == "pending" and who not in question.yes:
                    self.desk.say(chosen, getattr(self.desk.cast, who), "approve")
                    question.decide(who, "approve", self.now)
        self.say_what_happened(unknowns.ABANDON)
        for run in self.runs:
            self.work(run, None)
            run.refresh_from_db()

    def _calls(self, run: Run) -> list[Call]:
        return list(Call.objects.filter(run=run).order_by("step", "idx"))

    def _meet_new_calls(self) -> None:
        for each in Call.objects.filter(run__in=self.runs).exclude(pk__in=list(self.stories)):
            manner, effect = each.tool_name.split(".")
            n = 1 + each.idx + (10 if self._earlier_steps(each) else 0)
            self.stories[each.pk] = story = Story(manner, effect, n)
            if manner in NEEDS:
                story.question = Question(NEEDS[manner], self.now + DEADLINE, n)
                if each.run.cancel_by:
                    story.question.status = str(Approval.objects.get(subject=each.public_id).status)

    def _earlier_steps(self, each: Call) -> bool:
        return Call.objects.filter(run=each.run, step__lt=each.step).exists()

    def _close(self, run: Run, status: str) -> None:
        for each in self._calls(run):
            question = self.stories[each.pk].question
            if question and question.status == "pending":
                question.status = status


@pytest.fixture
def machine(desk: Desk) -> type[Machine]:
    definition = {"name": "world.find", "title": "Find", "inputSchema": {"type": "object"}}
    where = {"function": f"{__name__}.find"}
    definitions.register_tool(
        desk.cast.northwind.pk, definition, kind="function", config=where, effect="pure", by="system"
    )
    for manner in ("free", "asked", "pair"):
        promising(desk, f"{manner}.lookup", lookup={"tool": "world.find"})
    return type("TheMachine", (Machine,), {"desk": desk, "ended": Counter()})


@pytest.mark.lasts(50)
def test_whatever_happens_nothing_happens_twice_or_unasked_and_everything_ends(machine: type[Machine]) -> None:
    """AP-D1, AP-D3, AP-U1, AP-U2, DU-L1, DU-L21, DU-E7, DU-C4: the same examples every time; more with
    PLACET_EXAMPLES."""
    examples = int(os.environ.get("PLACET_EXAMPLES", "8"))
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=20))
    assert machine.ended["completed"], "no example had a run that went to its end"
