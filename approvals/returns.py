"""Returns: when somebody came back who was switched off, or had left. What they said before does not speak for them any
more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from approvals.ledger import followed
from approvals.people import Person
from approvals.said import Decision

_GONE = {"person.deactivated", "person.left"}
_BACK = {"person.reactivated", "person.joined"}


@dataclass(frozen=True)
class _Told:
    """Who was ever gone, and when each of them last came back, by the ledger."""

    gone: frozenset[str] = frozenset()
    back: dict[str, datetime] = field(default_factory=dict)

    def after(self, told: Iterable[dict[str, Any]]) -> _Told:
        gone, back = set(self.gone), dict(self.back)
        for entry in told:
            if entry["kind"] in _GONE:
                gone.add(entry["person"])
            elif entry["person"] in gone:
                back[entry["person"]] = datetime.fromisoformat(entry["at"])
        return _Told(frozenset(gone), back)


_TOLD = followed.Followed(_GONE | _BACK, _Told(), _Told.after)


def of(workspace_id: UUID, person: Person) -> datetime | None:
    """When the person last came back; None for who was never gone. Raises Broken."""
    return _TOLD.of(workspace_id).back.get(person.public_id)


def since(workspace_id: UUID, said: Iterable[Decision]) -> list[Decision]:
    """Those of these decisions, each with its person, that were made since that person last came into the workspace.

    By the ledger's times, not by a column: whoever writes one back brings no old yes back with it. It is the end of the
    absence that counts, so that a yes given in the very moment of its beginning is none either. Raises Broken.
    """
    back = _TOLD.of(workspace_id).back
    return [one for one in said if one.person.public_id not in back or one.decided_at > back[one.person.public_id]]
