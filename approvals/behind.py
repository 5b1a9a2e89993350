"""Behind: the person on whose behalf an agent's run works, as the entry that began it says."""

from __future__ import annotations

from uuid import UUID

from approvals import rows
from approvals.ledger import about
from approvals.people import Person


def person(workspace_id: UUID, chain: str) -> UUID | None:
    """Whose run a chain is; None where it is nobody's, or no run's. Raises about.Broken, keys.UnknownKey."""
    begun = about.first(workspace_id, chain) or {}
    return rows.parse_id(Person.PREFIX, str(begun.get("requester", "")))
