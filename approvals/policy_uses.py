"""Uses: how often each rule of a policy decided lately."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from approvals.rows import wire

DAYS: Final = 30
MOST: Final = 20_000
"""So many rulings are counted, the newest."""


@dataclass(frozen=True)
class Uses:
    """How often each rule decided in the last `DAYS` days; ``whole`` is False where there were more than `MOST`
    rulings, and only the newest are counted."""

    by_rule: dict[str, int]
    total: int

    @property
    def whole(self) -> bool:
        return self.total < MOST


def lately(workspace_id: UUID) -> Uses:
    """The rules by their names: a rule that was renamed begins anew. What no rule named counts under an empty name."""
    found = wire.rows(_COUNTED, {"workspace": workspace_id, "days": f"{DAYS} days", "most": MOST})
    by_rule = {str(name): int(count) for name, count in found}
    return Uses(by_rule, sum(by_rule.values()))


_COUNTED: Final = """
    SELECT rule_id, count(*) FROM (
        SELECT rule_id FROM approvals_ruling
        WHERE workspace_id = %(workspace)s AND created_at > placet_now() - %(days)s::interval
        ORDER BY created_at DESC LIMIT %(most)s
    ) lately GROUP BY rule_id
"""
