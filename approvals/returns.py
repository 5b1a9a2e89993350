"""Returns: when somebody came back who was switched off, or had left, and when a right was given again. What they said
before does not speak for them any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from approvals import rows
from approvals.ledger import followed
from approvals.people import Person

if TYPE_CHECKING:
    from approvals.said import Decision

_RIGHTS = {"right.revoked", "right.granted"}
_GONE = {"person.deactivated", "person.left", "right.revoked"}
_BACK = {"person.reactivated", "person.joined", "right.granted"}


@dataclass(frozen=True)
class _Told:
    """Who was ever gone, or lost the right on a thing, and when they last came back or got it again, by the ledger. A
    right is named by person and thing: on no thing are there two by which one decides."""

    gone: frozenset[str | tuple[str, str]] = frozenset()
    back: dict[str | tuple[str, str], datetime] = field(default_factory=dict)

    def after(self, told: Iterable[dict[str, Any]]) -> _Told:
        gone, back = set(self.gone), dict(self.back)
        for entry in told:
            who = (entry["person"], entry["thing"]) if entry["kind"] in _RIGHTS else entry["person"]
            if entry["kind"] in _GONE:
                gone.add(who)
            elif who in gone:
                back[who] = datetime.fromisoformat(entry["at"])
        return _Told(frozenset(gone), back)


_TOLD = followed.Followed(_GONE | _BACK, _Told(), _Told.after)


def _nothing(said: Decision) -> Iterable[str]:
    return ()


def of(workspace_id: UUID, person: Person) -> datetime | None:
    """When the person last came back; None for who was never gone. Raises Broken."""
    return _TOLD.of(workspace_id).back.get(person.public_id)


def regained(workspace_id: UUID, person: str, thing: str) -> datetime | None:
    """When the person, by public id, last got the right on a thing that they had lost, or came back, whichever was
    later; None where they never lost either. Raises Broken."""
    back = _TOLD.of(workspace_id).back
    return max((back[each] for each in (person, (person, thing)) if each in back), default=None)


def since(
    workspace_id: UUID, said: Iterable[Decision], things: Callable[[Decision], Iterable[str]] = _nothing
) -> list[Decision]:
    """Those of these decisions, each with its person, that were made since that person last came into the workspace,
    and since whoever holds their seat last got the right on any of the ``things`` that give it.

    By the ledger's times, not by a column: whoever writes one back brings no old yes back with it. It is the end of the
    absence that counts, so that a yes given in the very moment of its beginning is none either. Raises Broken.
    """
    back = _TOLD.of(workspace_id).back

    def still_speaks(one: Decision) -> bool:
        holder = rows.public_id(Person.PREFIX, one.in_place_of_id or one.person_id)
        asked = [rows.public_id(Person.PREFIX, one.person_id), *((holder, thing) for thing in things(one))]
        return all(one.decided_at > back[each] for each in asked if each in back)

    return [one for one in said if not back or still_speaks(one)]
