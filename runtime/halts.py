"""Halts, as the machine obeys them: a run of a stopped agent takes no step and sends nothing. It sleeps until its agent
is let go on."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from approvals import gate, rows
from approvals.rows import wire
from runtime import hints, leases
from runtime.definitions import Agent
from runtime.leases import Lease

ALL: Final = ""
"""In the place of an agent's name: all of them."""
CODE: Final = "halted"
EVERY: Final = 0.1
"""Seconds for which a run that is being worked on goes on without a look at what is stopped: so long at most, and the
step that it is in, a stop is not obeyed."""
LOOK: Final = 15 * 60
"""Seconds until a sleeping run looks by itself whether its agent may go on."""

_REST: Final = """
    UPDATE runtime_run SET lease_owner = '', lease_until = NULL, hinted_at = NULL, status = 'sleeping',
        reason_code = %(code)s, attempts = GREATEST(attempts, 1) - 1,
        wake_at = placet_now() + make_interval(secs => %(look)s)
    WHERE id = %(run)s AND fence = %(fence)s AND status = 'in_progress' AND cancel_by = ''
    RETURNING status
"""
_WAKE: Final = """
    UPDATE runtime_run r SET status = 'ready', hinted_at = NULL, wake_at = placet_now(), reason_code = '',
        waited = waited + CASE reason_code WHEN %(code)s
            THEN placet_now() - GREATEST(created_at, COALESCE(%(since)s::timestamptz, placet_now()))
            ELSE interval '0' END
    WHERE workspace_id = %(workspace)s AND agent_id = %(agent)s AND status = 'sleeping'
        AND (reason_code = %(code)s OR EXISTS (SELECT FROM runtime_call c
            WHERE c.run_id = r.id AND c.consumed_seq IS NULL AND c.status = 'cleared'))
    RETURNING id
"""
_DUE: Final = """
    UPDATE runtime_call SET due_at = placet_now()
    WHERE status = 'cleared' AND due_at > placet_now() AND workspace_id = %(workspace)s AND run_id = ANY(%(runs)s)
"""


class Watch:
    """Over one claim's worth of work: asks at the beginning, and then whenever `EVERY` has passed since it asked."""

    def __init__(self, lease: Lease) -> None:
        self._lease, self._asked = lease, float("-inf")

    def obeyed(self) -> bool:
        """Give the run up if somebody stopped its agent; whether that is so. Raises CancelWanted or LeaseLost."""
        if time.monotonic() - self._asked < EVERY:
            return False
        self._asked = time.monotonic()
        return obeyed(self._lease)


def obeyed(lease: Lease) -> bool:
    """Give the run up if somebody stopped its agent; whether that is so. Raises CancelWanted or LeaseLost."""
    held = gate.halts.on(lease.workspace_id)
    if not held or gate.halts.over(held, lease.agent) is None:
        return False
    rest(lease)
    return True


def rest(lease: Lease) -> None:
    """Give the run up until its agent goes on. Raises CancelWanted or LeaseLost."""
    values = {"run": lease.run_id, "fence": lease.fence, "code": CODE, "look": LOOK}
    with rows.within(lease.workspace_id):
        if not wire.rows(_REST, values):
            leases.refuse(lease)
        rows.publish(lease.workspace_id, lease.public_id)


def resume(workspace: Any, agent: Agent | None, *, by: Any) -> gate.halts.Halt | gate.halts.Refused:
    """Let an agent, or all of them, go on: deadlines and runs by the same commit. ``by`` is a person, None for an
    operator. Raises ledger.about.Broken."""
    with rows.within(workspace):
        agents = [agent] if agent else list(Agent.objects.filter(workspace=workspace))
        stood = {one: gate.halts.since(workspace.pk, one.name) for one in agents}
        ended = gate.halts.end(workspace, agent, by=by)
        if isinstance(ended, gate.halts.Refused):
            return ended
        held = gate.halts.on(workspace.pk)
        for one, since in stood.items():
            if gate.halts.over(held, one.name) is None:
                _wake(workspace.pk, one, since)
    return ended


def _wake(workspace_id: UUID, agent: Agent, since: Any) -> None:
    values = {"workspace": workspace_id, "agent": agent.pk, "code": CODE, "since": since}
    woken = [key for (key,) in wire.rows(_WAKE, values)]
    wire.run([(_DUE, {"workspace": workspace_id, "runs": woken})])
    for key in woken:
        rows.publish(workspace_id, rows.public_id("run", key))
        hints.hint_on_commit(workspace_id, key)


# For the page


@dataclass(frozen=True)
class Line:
    """An agent, or all of them where ``agent`` is empty, with the stop that is on, if one is."""

    agent: str
    halt: gate.halts.Halt | None
    may: bool
    """Whether the reader may stop it and let it go on."""


@dataclass(frozen=True)
class Board:
    """What is stopped in a workspace, and what its reader may stop."""

    halted: list[Line]
    whole: bool
    agents: list[str]


def board(workspace: Any, person: Any) -> Board:
    """What the page of runs says of stops."""
    held = gate.halts.on(workspace.pk)
    administers = gate.may(person, "administer", workspace)
    operated = gate.halts.operated(person, workspace.pk)
    known = Agent.objects.filter(workspace=workspace, is_active=True).order_by("name")
    mine = {one.name for one in known if administers or one.public_id in operated}
    on = {halt.agent for halt in held}
    stoppable = set() if ALL in on else mine - on  # where all is stopped, one more stop would say nothing
    lines = [Line(halt.agent, halt, may=administers or halt.agent in mine) for halt in held]
    return Board(lines, whole=administers and ALL not in on, agents=sorted(stoppable))
