"""The loop: claim a run, ask its agent for a step, commit the step, hold or dispatch its calls, and give the run back.

Any number of workers may be told to advance the same run, any number of times: who does not get the claim leaves.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.db import IntegrityError, InterfaceError, OperationalError

from approvals import rows
from approvals.ledger import keys, sealing
from runtime import (
    checkpoints,
    endings,
    halts,
    hints,
    leases,
    origins,
    processes,
    runs,
    state,
    unknowns,
)
from runtime.agents import agent as agents
from runtime.asking import AgentRaised
from runtime.crashpoints import reach
from runtime.leases import Lease
from runtime.turns import Turn

CLAIMS: Final = 5
"""How many claims in a row may come to nothing before the run is parked: something about it ends its workers."""


def advance(run_id: UUID, workspace_id: UUID | None = None) -> bool:
    """Claim the run and work on it for a while. False if there was nothing to claim.

    Whatever ends this process in the middle, the run goes on from its last commit when the lease has run out.
    """
    workspace_id = workspace_id or runs.workspace_of(run_id)
    if workspace_id is None:
        return False
    if processes.stopping.is_set():
        hints.postpone(workspace_id, run_id)
        return False
    with rows.reading(workspace_id):
        with rows.within(workspace_id):
            lease = leases.claim(workspace_id, run_id)
        if lease is None:
            return False
        reach("claim.after")
        with leases.kept(lease):
            _work(lease)
    return True


def _work(lease: Lease) -> None:
    try:
        _go_or_end(lease)
    except (OperationalError, InterfaceError) as error:
        endings.give_up(lease, error)
    except (leases.LeaseLost, ObjectDoesNotExist) as lost:
        endings.overtaken(lease, lost)


def _go_or_end(lease: Lease) -> None:
    try:
        _go(lease)
    except leases.CancelWanted:
        endings.end_cancelled(lease)
    except (checkpoints.Unreadable, sealing.Tampered, keys.UnknownKey) as fault:
        endings.stop(lease, to="parked", code="unreadable", reason=str(fault))
    except agents.Unusable as fault:
        endings.stop(lease, to="parked", code="unusable", reason=str(fault))
    except unknowns.Unaskable as fault:
        endings.stop(lease, to="parked", code="outcome_unknown", reason=str(fault))
    except (agents.BadStep, state.NotState) as fault:
        endings.fail_step(lease, fault)
    except AgentRaised as fault:
        endings.stop(lease, to="failed", code="agent", reason=str(fault))
    except IntegrityError as fault:
        # Rows were written past Placet, and what was to be written stands against them: nothing of it was.
        reason = f"The database refuses what has to be written: {str(fault).splitlines()[0]}."
        endings.stop(lease, to="parked", code="unreadable", reason=reason)


def _go(lease: Lease) -> None:
    if lease.cancel_by:
        raise leases.CancelWanted
    lease.agent = origins.agent_of(lease)
    if (watch := halts.Watch(lease)).obeyed():
        return
    if lease.attempts > CLAIMS:
        reason = f"{CLAIMS} workers in a row took this run and ended, or lost it, before anything could be committed."
        endings.stop(lease, to="parked", code="no_progress", reason=reason)
        return
    turn = Turn(lease)
    while turn.next() and not watch.obeyed():
        pass
