"""Shadows: what would have been held in a workspace whose policy stands in shadow, from the rulings of that time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from approvals import policies
from approvals.rows import wire
from approvals.rulings import UNPROVEN

MOST: Final = 20_000
"""So many rulings are counted, the newest."""


@dataclass(frozen=True)
class Would:
    """How many calls of one tool a rule would have held, by how many agents, and the last of them."""

    rule_id: str
    tool: str
    calls: int
    agents: int
    last: datetime


def stands_until(workspace_id: UUID) -> datetime | None:
    """Until when the policy in force asks nobody; None where it asks people, or is not as it was saved."""
    policy = policies.current(workspace_id)
    try:
        return policies.shadow_until(policy) if policy else None
    except UNPROVEN:
        return None


def would_have_held(workspace_id: UUID, since: timedelta) -> list[Would]:
    """What would have been held in this time, by rule and tool, the most first. Reads the newest `MOST` rulings."""
    asked = {"workspace": workspace_id, "since": since, "most": MOST}
    return [Would(*line) for line in wire.rows(_HELD, asked)]


_HELD = """
    SELECT rule_id, tool, count(*), count(DISTINCT agent), max(created_at) FROM (
        SELECT rule_id, tool, agent, created_at FROM approvals_ruling
        WHERE workspace_id = %(workspace)s AND shadow AND created_at > placet_now() - %(since)s::interval
        ORDER BY created_at DESC LIMIT %(most)s
    ) held GROUP BY rule_id, tool ORDER BY count(*) DESC, rule_id, tool
"""
