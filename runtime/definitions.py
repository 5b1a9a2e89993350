"""Agents and tools as a workspace knows them: versioned, digested, and signed with a key that is not in the
database."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import models, transaction

from approvals import gate, rows
from approvals.ledger import canonical, entries, keys, sealing
from runtime import outgoing, tools

SECRET_BYTES = 32


class Agent(rows.Row):
    """An agent of a workspace. Those with the object right ``operate`` see its runs' state and may cancel and retry
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


class Tool(rows.Row):
    """One version of a tool. ``definition`` is as in MCP, with ours under ``placet``; all of it is in the digest
    people approve."""

    PREFIX = "tol"

    class Kind(models.TextChoices):
        FUNCTION = "function"
        HTTP = "http"

    name = models.CharField(max_length=200)
    title = models.CharField(max_length=200)
    kind = models.CharField(max_length=12, choices=Kind.choices)
    version = models.PositiveIntegerField()
    definition = models.BinaryField()
    digest = models.CharField(max_length=64)
    config = models.JSONField()
    effect = models.CharField(max_length=12, choices=[(word, word) for word in tools.EFFECTS])
    warnings = models.JSONField(default=list)
    secret = models.BinaryField()
    mac = models.BinaryField()
    is_active = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name", "version"], name="one_tool_of_a_version"),
            models.UniqueConstraint(
                fields=["workspace", "name"], condition=models.Q(is_active=True), name="one_active_tool_of_a_name"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def holds(self) -> bool:
        """Whether the row is as it was written."""
        return keys.holds("tool", _signed_tool(self), bytes(self.mac))

    @property
    def document(self) -> dict[str, Any]:
        """The definition as JSON."""
        document: dict[str, Any] = json.loads(bytes(self.definition))
        return document

    @property
    def timeout(self) -> int:
        """How many seconds the tool has to answer."""
        return int(self.document["placet"].get("timeout_seconds", tools.TIMEOUT))


def _signed_version(version: AgentVersion) -> bytes:
    fields = {
        "agent": version.agent_id.hex,
        "number": version.number,
        "kind": str(version.kind),
        "digest": version.digest,
    }
    return canonical.encode({"of": "agent", "id": version.pk.hex, "workspace": version.workspace_id.hex, **fields})


def _signed_tool(tool: Tool) -> bytes:
    digest = canonical.sha256_hex(bytes(tool.definition))
    fields = {
        "name": tool.name,
        "kind": str(tool.kind),
        "version": tool.version,
        "effect": tool.effect,
        "config": tool.config,
    }
    return canonical.encode(
        {"of": "tool", "id": tool.pk.hex, "workspace": tool.workspace_id.hex, "digest": digest, **fields}
    )


# Questions


def agent_named(workspace_id: UUID, name: str) -> Agent | None:
    """The active agent of this name."""
    return Agent.objects.filter(workspace_id=workspace_id, name=name, is_active=True).first()


def tool_named(workspace_id: UUID, name: str) -> Tool | None:
    """The active tool of this name. Whether its row is genuine is for `Tool.holds` to say."""
    return Tool.objects.filter(workspace_id=workspace_id, name=name, is_active=True).first()


def genuine(row: Tool | AgentVersion) -> bool:
    """Whether the row is as it was written, with a key that this process has."""
    try:
        return row.holds()
    except keys.UnknownKey:
        return False


def facts(tool: Tool) -> gate.ToolFacts:
    """A tool as people are asked about it."""
    document = tool.document
    ours = document["placet"]
    return gate.ToolFacts(
        name=tool.name,
        title=tool.title,
        definition_digest=tool.digest,
        schema=document.get("inputSchema", {}),
        summary=ours.get("summary", ""),
        effect=tool.effect,
        risk=ours.get("risk"),
    )


def signing_secret(tool: Tool) -> bytes:
    """The secret by which the tool's endpoint knows our calls. Raises sealing.Tampered."""
    return sealing.unseal(tool.workspace_id, bytes(tool.secret), place=_secret_place(tool.pk))


def _secret_place(key: UUID) -> str:
    return f"runtime_tool.secret:{key.hex}"


# Verbs


def register_agent(workspace_id: UUID, name: str, kind: str, definition: Mapping[str, Any], *, by: str) -> Agent:
    """Make an agent known, or give it a new version. The same definition again changes nothing."""
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


@dataclass(frozen=True)
class Offer:
    """A tool that a workspace is offered: its definition, admitted, with ours beside it, and how it is reached."""

    definition: dict[str, Any]
    warnings: tuple[dict[str, str], ...]
    kind: str
    config: dict[str, Any]
    effect: str
    secret: bytes | None = None


def offer(
    definition: Mapping[str, Any],
    *,
    kind: str,
    config: dict[str, Any],
    effect: str,
    summary: str = "",
    risk: str | None = None,
    secret: bytes | None = None,
) -> Offer:
    """Check a definition without writing anything. Raises gate.Inadmissible with the pointer, ValueError for the rest.

    What ``definition`` says under ``placet`` about the time-out is kept; everything else there is said by the
    arguments.
    """
    if effect not in tools.EFFECTS:
        raise ValueError(f"{effect} is no effect class; it is one of {', '.join(tools.EFFECTS)}.")
    if kind == Tool.Kind.HTTP and config:
        outgoing.check_url(config["url"])
    given = definition.get("placet")
    timeout = given.get("timeout_seconds", tools.TIMEOUT) if isinstance(given, dict) else tools.TIMEOUT
    if type(timeout) is not int or not 0 < timeout <= tools.MAX_TIMEOUT:
        raise ValueError(f"timeout_seconds must be a whole number from 1 to {tools.MAX_TIMEOUT}.")
    ours = {
        "kind": kind,
        "effect": effect,
        "timeout_seconds": timeout,
        "summary": summary,
        "risk": risk,
        "reached": config,
    }
    ours = {name: value for name, value in ours.items() if value not in ("", None)}
    admission = gate.admit({name: value for name, value in definition.items() if name != "placet"})
    warnings = tuple({"pointer": warning.pointer, "text": warning.text} for warning in admission.warnings)
    return Offer({**admission.definition, "placet": ours}, warnings, kind, config, effect, secret)


def register_tool(
    workspace_id: UUID,
    definition: Mapping[str, Any],
    *,
    kind: str,
    config: dict[str, Any],
    effect: str,
    summary: str = "",
    risk: str | None = None,
    secret: bytes | None = None,
    by: str,
) -> Tool:
    """Admit a tool, or a new version of it. The same definition again changes nothing. Raises as `offer` does.

    ``config`` is ``{"function": dotted path}``, ``{"url": …}``, or nothing for an endpoint that is not there yet.
    ``secret`` signs what is sent to an endpoint; without one the last version's is kept, or a new one is made.
    """
    checked = offer(definition, kind=kind, config=config, effect=effect, summary=summary, risk=risk, secret=secret)
    return register_offers(workspace_id, [checked], by=by)[0]


def register_function(workspace_id: UUID, function: tools.Function, *, by: str) -> Tool:
    """Admit a function that the decorator `tools.tool` registered. Raises LookupError, or as `offer` does."""
    known = tools.described(function)
    return register_tool(
        workspace_id,
        known.definition,
        kind=Tool.Kind.FUNCTION.value,
        config={"function": known.path},
        effect=known.effect,
        summary=known.summary,
        risk=known.risk,
        by=by,
    )


def register_offers(workspace_id: UUID, offers: list[Offer], *, by: str) -> list[Tool]:
    """Write all of them or, if one cannot be written, none."""
    with rows.within(workspace_id), transaction.atomic():
        return [_register(workspace_id, each, by) for each in offers]


def _register(workspace_id: UUID, offered: Offer, by: str) -> Tool:
    name, document = offered.definition["name"], canonical.encode(offered.definition)
    digest = canonical.sha256_hex(document)
    versions = Tool.objects.select_for_update().filter(workspace_id=workspace_id, name=name)
    last = versions.order_by("-version").first()
    if last and last.is_active and last.digest == digest and last.holds() and _same_secret(last, offered):
        return last
    versions.filter(is_active=True).update(is_active=False)
    tool = Tool(workspace_id=workspace_id, name=name, title=_title(offered), kind=offered.kind, effect=offered.effect)
    tool.version = last.version + 1 if last else 1
    tool.definition, tool.digest = document, digest
    tool.config, tool.warnings = offered.config, list(offered.warnings)
    tool.secret = sealing.seal(workspace_id, _secret(last, offered), place=_secret_place(tool.pk))
    tool.mac = keys.sign("tool", _signed_tool(tool))
    tool.save(force_insert=True)
    body = {"tool": tool.public_id, "name": name, "version": tool.version, "digest": tool.digest}
    entries.append(workspace_id, "workspace", "tool.registered", body, by=by)
    return tool


def _title(offered: Offer) -> str:
    document = offered.definition
    annotations = document.get("annotations")
    hinted = annotations.get("title") if isinstance(annotations, dict) else None
    return str(document.get("title") or hinted or document["name"])[:200]


def _same_secret(tool: Tool, offered: Offer) -> bool:
    return offered.secret is None or signing_secret(tool) == offered.secret


def _secret(last: Tool | None, offered: Offer) -> bytes:
    return offered.secret or (signing_secret(last) if last else secrets.token_bytes(SECRET_BYTES))
