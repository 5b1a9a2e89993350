"""Proposals: one use of a tool that an agent proposes, with the tool as people are asked about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from approvals import edits
from approvals.edits import money
from approvals.ledger import canonical
from approvals.pins import Pin


@dataclass(frozen=True)
class ToolFacts:
    """A tool as people are asked about it. ``risk`` is what its hints suggest; a rule may say otherwise."""

    name: str
    title: str
    definition_digest: str
    schema: dict[str, Any]
    summary: str = ""
    effect: str = "unsafe"
    risk: str | None = None
    response_schema: dict[str, Any] = field(default_factory=dict)
    """What the tool says that it gives: an answer in its place is held to it."""
    masked: tuple[str, ...] = ()
    """The pointers that policy masks, where its arguments are shown."""


@dataclass(frozen=True)
class Proposal:
    """One proposed use of a tool. ``args`` are canonical bytes; ``context`` holds reason, messages and title,
    unverified; ``asks_again`` is the approval that lapsed before the call could run; ``rehearsal``: nothing of it is
    ever sent; ``pinned`` is what it points to;
    ``revises`` is the approval by which changes of an earlier call were requested."""

    workspace_id: UUID
    subject: str
    chain: str
    agent: str
    requester_id: UUID | None
    tool: ToolFacts
    args: bytes
    context: dict[str, Any]
    asks_again: str = ""
    rehearsal: bool = False
    pinned: Pin | None = None
    revises: str = ""


def covered(tool: ToolFacts, args: Any) -> Any:
    """Arguments as every surface may show them: a secret stands as a mark that only names its place."""
    known = edits.Tool(tool.schema, money.hints(tool.summary), tool.masked)
    return canonical.parse(edits.raw_text(known, args), max_bytes=4 * canonical.MAX_BYTES)
