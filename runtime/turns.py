"""Turns: one claim's worth of work on one run, a thing at a time: ask its agent for a step, commit it, hold or dispatch
its calls, stop where people are asked, and give the run back."""

from __future__ import annotations

import time
from contextlib import nullcontext
from functools import partial
from typing import Any, Final
from uuid import UUID

from approvals import rows
from runtime import (
    asking,
    blobs,
    breakpoints,
    budgets,
    calls,
    checkpoints,
    dispatch,
    endings,
    hints,
    leases,
    memory,
    origins,
    passing,
    precedents,
    processes,
    proposals,
    runs,
    snapshots,
    spending,
    state,
    unknowns,
)
from runtime.agents import agent as agents
from runtime.breakpoints import Breakpoint
from runtime.calls import Call
from runtime.checkpoints import Checkpoint
from runtime.crashpoints import reach
from runtime.definitions import interrupts
from runtime.leases import Lease

STEPS: Final = 20
SECONDS: Final = 5.0
"""How much one claim does before the run goes to the back of the queue: so many steps, or so many seconds."""

NO_INTERRUPTS: Final = interrupts.read({})


class Turn:
    """One claim's worth of work on one run. `next` does one thing and says whether there is more to do now."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self.began = time.monotonic()
        self.steps = 0
        self._agent: agents.Agent | None = None
        self._state: dict[str, Any] = {}
        self._node = ""
        self._stack = snapshots.Stack()
        self._interrupts = NO_INTERRUPTS
        self._results: tuple[agents.CallResult, ...] = ()
        self._nothing_open = False
        self._stands_at: Breakpoint | None = None
        self._verified = False
        self._short: dict[UUID, dict[str, int]] = {}

    def next(self) -> bool:
        if processes.stopping.is_set():
            return self._give_back()
        waiting = self._look()
        due = [call for call in waiting if call.status in {"cleared", "executing"} and self._due(call)]
        to_send = sorted(due, key=lambda call: call.status != "cleared")
        affordable = [call for call in to_send if call.pk not in self._short]
        if affordable:
            return self._dispatch(affordable[0])
        if not to_send and self.lease.budget_id:
            spending.drop(self.lease, but_for_the_step=True)
        if any(unknowns.attend(self.lease, call) for call in waiting if call.status == "unknown" and self._due(call)):
            return True
        if to_send and self._raised(to_send):
            return True
        if any(call.status in {"cleared", "executing", "unknown"} and not self._due(call) for call in waiting):
            return self._sleep()
        if to_send:
            return self._wait()
        if any(call.status in calls.OPEN for call in waiting):
            return self._suspend()
        if self._stands_at:
            return self._pass(self._stands_at)
        if self.steps >= STEPS or time.monotonic() - self.began > SECONDS:
            return self._give_back()
        stop = self._wanted_stop()
        if stop:
            return self._stop_at(stop)
        self.steps += 1
        try:
            return self._step(waiting)
        except budgets.Exhausted as short:
            return self._raised_for_step(short)

    def _due(self, call: Call) -> bool:
        """Whether a call that waits has waited long enough, by the database's clock."""
        return call.due_at is None or call.due_at <= rows.now()

    def _look(self) -> list[Call]:
        """The calls that no step was told of, after the chain was verified; if all have ended, also what the next step
        is given."""
        self._results, self._stands_at = (), None
        if self._nothing_open:
            return []
        with rows.within(self.lease.workspace_id):
            waiting = calls.unconsumed(self.lease.run_id)
            self._verify(whole=any(call.status == "cleared" and call.approval for call in waiting))
            self._stands_at = breakpoints.standing(self.lease.run_id)
            if all(call.status in calls.FINAL for call in waiting):
                self._load()
                self._results = tuple(calls.result_of(call) for call in waiting)
        return waiting

    def _verify(self, *, whole: bool) -> None:
        """Once, before anything is sent or asked: a history that was tampered with, or put back, parks the run."""
        if not self._verified:
            precedents.verify(self.lease, whole=whole)
            self._verified = True

    # What ends a turn

    def _give_back(self) -> bool:
        lease = self.lease
        with rows.within(lease.workspace_id):
            leases.release(lease, to="ready", wake_at=rows.Now())
        if self._agent is not None:
            left = (self._state, self._node, self._stack, self._agent, self._interrupts)
            memory.keep(lease, memory.Remembered(*left))
        (hints.postpone if processes.stopping.is_set() else hints.hint)(lease.workspace_id, lease.run_id)
        return False

    def _suspend(self) -> bool:
        reach("suspend.before")
        with rows.within(self.lease.workspace_id):
            status = leases.suspend(self.lease, pokes=self.lease.pokes)
            if status == "ready":
                hints.hint_on_commit(self.lease.workspace_id, self.lease.run_id)
        reach("suspend.after")
        return status is None

    def _sleep(self) -> bool:
        reach("sleep.before")
        with rows.within(self.lease.workspace_id):
            status = leases.sleep(self.lease, pokes=self.lease.pokes)
        reach("sleep.after")
        return status is None

    # Budgets

    def _dispatch(self, call: Call) -> bool:
        try:
            dispatch.dispatch(self.lease, call)
        except budgets.Exhausted as short:
            self._short[call.pk] = short.wanted
        return True

    def _raised(self, short: list[Call]) -> bool:
        """Whether the calls that the budget does not cover can go on now: it was raised, or will not be."""
        try:
            if not spending.attend_calls(self.lease, {call.pk: self._short[call.pk] for call in short}):
                return False
        except spending.NotRaised as why:
            for call in short:
                dispatch.refuse(self.lease, call, str(why), why.said)
                reach("refuse.after")
        self._short.clear()
        return True

    def _raised_for_step(self, short: budgets.Exhausted) -> bool:
        try:
            return spending.attend_step(self.lease, short.wanted) or self._wait()
        except spending.NotRaised as why:
            endings.stop(self.lease, to="failed", code="budget", reason=str(why), **spending.NOTHING_ASKED)
            return False

    def _wait(self) -> bool:
        with rows.within(self.lease.workspace_id):
            return leases.wait(self.lease, pokes=self.lease.pokes) is None

    # Breakpoints

    def _wanted_stop(self) -> Breakpoint | None:
        """The breakpoint at which the agent's definition has the run stop here, if people have not passed it yet."""
        self._load()
        if not (self._interrupts.between_steps or self._interrupts.at_the_end):
            return None
        with rows.within(self.lease.workspace_id):
            return breakpoints.wanted(self.lease.run_id, self._interrupts, self._node)

    def _stop_at(self, stop: Breakpoint) -> bool:
        lease = self.lease
        with rows.within(lease.workspace_id):
            title = runs.unseal_title(lease.workspace_id, lease.run_id, lease.title)
            said = proposals.last_said(self._state.get("messages"))
            sight = breakpoints.Sight(lease.agent, title, self._state, said)
            asked = breakpoints.question(lease, stop, self._interrupts, sight)
        reach("stop.before")

        def write() -> None:
            with rows.within(lease.workspace_id):
                leases.prove(lease)
                breakpoints.write(lease, stop, asked, lease.head_mac.hex())
                leases.suspend(lease, pokes=None)

        leases.durably(lease, write, lambda: Breakpoint.objects.filter(pk=stop.pk).exists())
        reach("stop.after")
        return False

    def _pass(self, stop: Breakpoint) -> bool:
        """Go on from a breakpoint as people decided, or wait for them."""
        if stop.status == Breakpoint.Status.OPEN:
            return self._suspend()
        try:
            with rows.within(self.lease.workspace_id):
                self._load()
                made = passing.passage(stop, self._interrupts, self._state)
        except passing.NotPassed as why:
            passing.park(self.lease, stop, why)
            return False
        self._take_up(passing.commit(self.lease, stop, made))
        return not made.ends

    # A step

    def _step(self, ended: list[Call]) -> bool:
        agent, node = self._load(), self._node
        step = asking.ask(agent, node, state.Own(self._state), self._results)
        with rows.within(self.lease.workspace_id) if step.calls else nullcontext():
            # Judging only reads, and comes before the transaction that writes: a refusal is an answer, never a
            # rollback.
            draft = proposals.draft(self.lease, step, node, ended, self._state, self._interrupts)
        going_on = self._commit(draft)
        self._nothing_open = not step.calls
        if going_on:
            self._take_up(draft.checkpoint)
        return going_on

    def _take_up(self, committed: Checkpoint) -> None:
        """Go on from a checkpoint: from its bytes, since the agent may still hold, and change, what it put into the
        step."""
        operations = state.decode(committed.clear)["ops"]
        state.fold(self._state, blobs.resolved(operations, committed.lifted) if committed.lifted else operations)
        self._node = committed.goto
        self._stack.add(committed.clear, committed.goto)
        if self._stack.due:
            self._keep_snapshot(committed)

    def _keep_snapshot(self, last: Checkpoint) -> None:
        lease = self.lease
        where = snapshots.Where(lease.workspace_id, lease.run_id, last.seq, bytes(last.mac))
        snapshots.keep(self._stack, self._state, where, fence=lease.fence)

    def _load(self) -> agents.Agent:
        if self._agent is None and (left := memory.take(self.lease)):
            self._state, self._node, self._stack = left.state, left.node, left.stack
            self._agent, self._interrupts = left.agent, left.interrupts
        if self._agent is None:
            lease = self.lease
            folded = checkpoints.read(lease.workspace_id, lease.run_id, lease.head_seq, head_mac=lease.head_mac)
            self._state, self._stack = folded.state, folded.stack
            self._agent, self._interrupts = origins.definition_of(lease)
            if folded.goto == agents.OVER:
                raise checkpoints.Unreadable("By its last checkpoint this run is over.")
            self._node = folded.goto or self._agent.entry
        return self._agent

    def _commit(self, draft: proposals.Draft) -> bool:
        """One step, one commit: the checkpoint, its calls and their rulings, and what becomes of the run."""
        reach("step.before")
        ended: list[bool] = []

        def write() -> None:
            ended.clear()
            if draft.is_plain:
                ended.append(False)  # first: it may be committed, and its acknowledgement lost
                draft.send()
                return
            with rows.within(self.lease.workspace_id):
                ended.append(draft.write())

        landed = partial(checkpoints.committed, self.lease.run_id, draft.checkpoint.seq, draft.checkpoint.attempt_id)
        leases.durably(self.lease, write, landed)
        leases.moved(self.lease, draft.checkpoint)
        reach("step.after")
        return not ended[0]
