"""What is known of a tool beside its definition: who registered which version when, and how it was used of late."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from approvals import gate, rows
from approvals.ledger import about, followed, keys
from runtime.calls import Call
from runtime.definitions import Tool, genuine, intake
from runtime.uses import WORDS

LATELY: Final = timedelta(days=30)
MOST: Final = 1_000
"""So many calls are counted; beyond them nobody needs to know how many there were."""
VERSIONS: Final = 20


@dataclass(frozen=True)
class Version:
    """One version: who registered it, as the ledger says, and what it changed in the one before; None where one of the
    two is not as it was written."""

    tool: Tool
    by: str
    changed: list[intake.Changed] | None
    first: bool


@dataclass(frozen=True)
class Lately:
    """The calls of the last days: how many came to what, in words, and by which agents (public id and name)."""

    counts: list[tuple[str, int]]
    agents: list[tuple[str, str]]
    total: int

    @property
    def told(self) -> str:
        return f"{MOST:,}+" if self.total > MOST else f"{self.total:,}"


def _registered(before: dict[str, str], entered: Iterable[dict[str, Any]]) -> dict[str, str]:
    return before | {entry["tool"]: entry["by"] for entry in entered}


_BY: Final = followed.Followed[dict[str, str]](["tool.registered"], {}, _registered)


def versions(workspace_id: UUID, name: str) -> list[Version]:
    """The last versions of a tool, the newest first, each with what it changed."""
    found = Tool.objects.filter(workspace_id=workspace_id, name=name).order_by("-version")[: VERSIONS + 1]
    listed = list(found)
    try:
        by = _BY.of(workspace_id)
    except (about.Broken, keys.UnknownKey):
        by = {}
    named = who([by.get(each.public_id, "") for each in listed])
    pairs = zip(listed, [*listed[1:], None], strict=True)
    told = [
        Version(each, named.get(by.get(each.public_id, ""), ""), _changed(before, each), each.version == 1)
        for each, before in pairs
    ]
    return told[:VERSIONS]


def _changed(before: Tool | None, tool: Tool) -> list[intake.Changed] | None:
    if before is None or not genuine(before) or not genuine(tool):
        return None
    return intake.differences(before.document, tool.document)


def who(ids: Iterable[str]) -> dict[str, str]:
    """Whom the ledger names by these ids, in words."""
    keys_of = {each: key for each in set(ids) if (key := rows.parse_id("per", each))}
    names = gate.names(keys_of.values())
    return {each: names[key] for each, key in keys_of.items() if key in names} | {"system": "an operator"}


def lately(workspace_id: UUID, name: str) -> Lately:
    """How the tool was used in the last days, in one query."""
    versions_of = Tool.objects.filter(workspace_id=workspace_id, name=name).values("pk")
    since = rows.now() - LATELY
    found = Call.objects.filter(workspace_id=workspace_id, tool__in=versions_of, created_at__gte=since)
    listed = list(found.values_list("status", "run__agent_id", "run__agent__name")[: MOST + 1])
    counts = Counter(WORDS.get(status, status) for status, _, _ in listed[:MOST])
    agents = {(rows.public_id("agt", key), called) for _, key, called in listed}
    return Lately(counts.most_common(), sorted(agents, key=lambda one: one[1]), len(listed))
