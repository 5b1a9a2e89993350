"""Agents as a workspace knows them: each definition is a version, signed with a key that is not in the database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django.db import models

from approvals import rows
from approvals.ledger import about, canonical, entries, followed, keys
from runtime import budgets
from runtime.definitions import interrupts


class Agent(rows.Row):
    """An agent of a workspace. Those with the object right ``operate`` see its runs' state and may cancel and resume
    them."""

    PREFIX = "agt"

    class Kind(models.TextChoices):
        GRAPH = "graph"
        SCRIPTED = "scripted"

    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=12, choices=Kind.choices)
    version = models.PositiveIntegerField(default=0)
    is_active = models.BooleanField(default=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "name"], name="one_agent_of_a_name")]
        permissions = [("operate", "May operate the agent")]

    def __str__(self) -> str:
        return self.name


class TakesNoRuns(ValueError):
    """An agent that is switched off, belongs elsewhere, or is not as it was registered; the message says which."""


class AgentVersion(rows.Row):
    """One definition of an agent. A run goes on under the version it began with."""

    PREFIX = "agv"
    WRITE_ONCE = True

    agent = models.ForeignKey(Agent, models.PROTECT, related_name="versions", db_constraint=False)
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=12, choices=Agent.Kind.choices)
    definition = models.BinaryField()
    digest = models.CharField(max_length=64)
    mac = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["agent", "number"], name="one_version_of_a_number")]

    def holds(self) -> bool:
        """Whether the row is as it was written."""
        return keys.holds("tool", _signed_version(self), bytes(self.mac))

    @property
    def document(self) -> dict[str, Any]:
        """The definition as JSON."""
        document: dict[str, Any] = json.loads(bytes(self.definition))
        return document


def _signed_version(version: AgentVersion) -> bytes:
    fields = {
        "agent": version.agent_id.hex,
        "number": version.number,
        "kind": str(version.kind),
        "digest": version.digest,
    }
    return canonical.encode({"of": "agent", "id": version.pk.hex, "workspace": version.workspace_id.hex, **fields})


# Questions


def told(workspace_id: UUID) -> Mapping[str, tuple[str, int]]:
    """The name and the number of the newest version of each agent, by its public id, as the ledger has them. Raises
    ledger.about.Broken, UnknownKey."""
    return _TOLD.of(workspace_id)


def _registered(before: dict[str, tuple[str, int]], entered: list[dict[str, Any]]) -> dict[str, tuple[str, int]]:
    return before | {entry["agent"]: (entry["name"], entry["version"]) for entry in entered}


_TOLD: Final = followed.Followed[dict[str, tuple[str, int]]](["agent.registered"], {}, _registered)


def check_in_force(agent: Agent) -> None:
    """That the row names the version which the ledger says was registered last. Raises TakesNoRuns."""
    try:
        known = told(agent.workspace_id).get(agent.public_id)
    except (about.Broken, keys.UnknownKey) as fault:
        raise TakesNoRuns(f"The agent {agent.name} takes no runs here. {fault}") from fault
    if known != (agent.name, agent.version):
        raise TakesNoRuns(f"The agent {agent.name} takes no runs here: its row is not as its last registration says.")


def agent_named(workspace_id: UUID, name: str) -> Agent | None:
    """The active agent of this name."""
    return Agent.objects.filter(workspace_id=workspace_id, name=name, is_active=True).first()


# Verbs


def register_agent(workspace_id: UUID, name: str, kind: str, definition: Mapping[str, Any], *, by: str) -> Agent:
    """Make an agent known, or give it a new version. The same definition again changes nothing. Raises
    interrupts.BadInterrupts for one that does not say where to stop in words that can be understood, and ValueError for
    a ``budget`` that is none."""
    interrupts.read(definition)
    budgets.caps(definition.get("budget", {}))
    document = canonical.encode(dict(definition))
    digest = canonical.sha256_hex(document)
    with rows.within(workspace_id):
        agent, _ = Agent.objects.get_or_create(workspace_id=workspace_id, name=name, defaults={"kind": kind})
        agent = Agent.objects.select_for_update().get(pk=agent.pk)
        last = agent.versions.filter(number=agent.version).first()
        if last and last.digest == digest and last.kind == kind and agent.is_active:
            return agent
        agent.kind, agent.version, agent.is_active = kind, agent.version + 1, True
        agent.save(update_fields=["kind", "version", "is_active"])
        version = AgentVersion(workspace_id=workspace_id, agent=agent, number=agent.version, kind=kind)
        version.definition, version.digest = document, digest
        version.mac = keys.sign("tool", _signed_version(version))
        version.save(force_insert=True)
        body = {"agent": agent.public_id, "name": name, "version": agent.version, "digest": digest}
        entries.append(workspace_id, "workspace", "agent.registered", body, by=by)
    return agent
