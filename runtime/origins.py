"""Origins: whose a run is, for whom, under which definition and caps, as the first entry of its ledger says.

The columns of a run say the same, and nobody signed them: whoever writes the database could have one agent's calls
judged as another's, or hide from the rules on whose behalf they are made. So every claim begins here, before a step is
asked for, anything is judged or anybody is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from approvals import rows
from approvals.ledger import about, canonical, keys
from approvals.rows import wire
from runtime import checkpoints, definitions
from runtime.agents import agent as agents
from runtime.budgets import Budget
from runtime.definitions import Agent, AgentVersion, genuine, interrupts
from runtime.definitions.interrupts import Interrupts
from runtime.leases import Lease

# Questions


def agent_of(lease: Lease) -> str:
    """The name of the agent that a claimed run is of, as the ledger has it. Raises Unreadable where the run's row says
    otherwise of its agent, version, asker, rehearsal or budget than the entry that began it, or that cannot be
    proved."""
    try:
        started = about.first(lease.workspace_id, lease.public_id)
        registered = definitions.told(lease.workspace_id)
    except (about.Broken, keys.UnknownKey, canonical.Unrepresentable) as fault:
        raise checkpoints.Unreadable(str(fault)) from fault
    if started is None or started["kind"] != "run.started":
        raise checkpoints.Unreadable("No entry of the ledger began this run.")
    for difference in _differences(lease, started):
        raise checkpoints.Unreadable(difference)
    name, _ = registered.get(started["agent"], ("", 0))
    if not name:
        raise checkpoints.Unreadable("By the ledger nobody ever registered the agent of this run.")
    return name


def definition_of(lease: Lease) -> tuple[agents.Agent, Interrupts]:
    """The agent under the version that its run began with, and where that version stops. Raises Unreadable,
    Unusable."""
    version = AgentVersion.objects.get(pk=lease.version_id)
    if not genuine(version):
        raise checkpoints.Unreadable("The agent's definition is not as it was written.")
    try:
        stops = interrupts.read(version.document)
    except interrupts.BadInterrupts as fault:
        raise agents.Unusable(str(fault)) from fault
    return agents.build(str(version.kind), version.document), stops


def _differences(lease: Lease, started: Mapping[str, Any]) -> list[str]:
    """What of a run's row is not as the entry says, each in a sentence. Entries of old do not say on whose behalf a run
    was."""
    agent, asked_by = rows.public_id(Agent.PREFIX, lease.agent_id), ""
    if lease.requester_id:
        asked_by = rows.public_id("per", lease.requester_id)
    found = []
    if (agent, _version(lease)) != (started["agent"], (lease.agent_id, started["version"])):
        found.append("By the ledger this run is of another agent, or of another version of it, than by its row.")
    if started.get("requester", asked_by) != asked_by:
        found.append("By the ledger this run is on behalf of somebody else than by its row.")
    if bool(started.get("rehearsal")) is not lease.rehearsal:
        found.append(f"By the ledger this run is {_A_REHEARSAL[not lease.rehearsal]}, and its row says otherwise.")
    if started.get("budget") and not lease.budget_id:
        found.append("By the ledger this run has a budget, and its row says otherwise.")
    if lease.budget_id and not Budget.objects.filter(pk=lease.budget_id, root_id=lease.run_id).exists():
        found.append("This run draws on a budget that is not its own.")
    return found


_A_REHEARSAL: Final = {True: "a rehearsal", False: "no rehearsal"}


def _version(lease: Lease) -> tuple[UUID, int]:
    """Of which agent the version of the run's row is, and its number."""
    try:
        return _version_of(lease.version_id)
    except LookupError:
        return lease.agent_id, 0


@lru_cache(maxsize=4096)
def _version_of(version_id: UUID) -> tuple[UUID, int]:
    """The same by the version's key: once written it stays so. Raises LookupError."""
    agent_id, number = wire.rows(_VERSION, {"version": version_id})[0]
    return agent_id, number


_VERSION: Final = "SELECT agent_id, number FROM runtime_agentversion WHERE id = %(version)s"
