"""Tools as a workspace knows them: each definition is a version, signed with a key that is not in the database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import models

from approvals import gate, rows
from approvals.ledger import canonical, keys, sealing
from runtime import promises, tools


class Tool(rows.Row):
    """One version of a tool. ``definition`` is as in MCP, with ours under ``placet``; all of it is in the digest
    people approve. ``order`` is how its author ordered the arguments, which decides nothing."""

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
    order = models.JSONField(default=dict)
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
        return keys.holds("tool", signed(self), bytes(self.mac)) and self.title == titled(self.document)

    @property
    def document(self) -> dict[str, Any]:
        """The definition as JSON."""
        document: dict[str, Any] = json.loads(bytes(self.definition))
        return document

    @property
    def promise(self) -> promises.Promise:
        """What its definition says of time-outs and of being used again."""
        return promises.of(self.document)

    @property
    def timeout(self) -> int:
        """How many seconds the tool has to answer."""
        return self.promise.seconds


def signed(tool: Tool) -> bytes:
    """The bytes that the tool's authentication code covers: all that decides what is called, where and how often."""
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


def titled(document: Mapping[str, Any]) -> str:
    """A tool's title as its definition has it: what people are asked under."""
    annotations = document.get("annotations")
    hinted = annotations.get("title") if isinstance(annotations, dict) else None
    return str(document.get("title") or hinted or document["name"])[:200]


# Questions


def tool_named(workspace_id: UUID, name: str) -> Tool | None:
    """The active tool of this name. Whether its row is genuine is for `Tool.holds` to say."""
    return _NAMED.first(workspace=workspace_id, name=name)


_NAMED = rows.Ready(
    lambda: Tool.objects.filter(workspace_id=rows.Slot("workspace"), name=rows.Slot("name"), is_active=True)
)


def facts(tool: Tool, masked: gate.Masked = gate.NOTHING_MASKED) -> gate.ToolFacts:
    """A tool as people are asked about it; ``masked`` is what policy masks, where its arguments are shown."""
    document = tool.document
    ours = document["placet"]
    return gate.ToolFacts(
        name=tool.name,
        title=tool.title,
        definition_digest=tool.digest,
        schema=gate.ordered(document.get("inputSchema", {}), tool.order),
        summary=ours.get("summary", ""),
        effect=tool.effect,
        risk=ours.get("risk"),
        response_schema=document.get("outputSchema") or {},
        masked=masked.get(tool.name, ()),
    )


def signing_secret(tool: Tool) -> bytes:
    """The secret by which the tool's endpoint knows our calls. Raises sealing.Tampered."""
    return sealing.unseal(tool.workspace_id, bytes(tool.secret), place=secret_place(tool.pk))


def secret_place(key: UUID) -> str:
    """Where a tool's sealed secret belongs."""
    return f"runtime_tool.secret:{key.hex}"
