"""Proofs: what of somebody's sign-in is as Placet wrote it, and what whoever can write the database made of it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from allauth.mfa.models import Authenticator

from approvals import rows, workspaces
from approvals.identities import Identity
from approvals.ledger import entries, followed
from approvals.ledger.about import Broken
from approvals.people import Person
from approvals.signin.factors import NAMES, STRONG, holds

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Told:
    """Who is switched off by the ledger, and how many factors of each kind everybody has at least: what they added and
    removed while the workspace was told."""

    off: frozenset[str] = frozenset()
    factors: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def after(self, told: Iterable[dict[str, Any]]) -> _Told:
        off, factors = set(self.off), Counter(self.factors)
        for entry in told:
            person = entry["person"]
            match entry["kind"]:
                case "factor.added":
                    factors[person, entry["factor"]] += 1
                case "factor.removed":
                    factors[person, entry["factor"]] = max(0, factors[person, entry["factor"]] - 1)
                case "person.reactivated":
                    off.discard(person)
                case _:  # what they change from then on, this workspace is not told
                    off |= {person} if entry["kind"] == "person.deactivated" else set()
                    factors = Counter({key: count for key, count in factors.items() if key[0] != person})
        return _Told(frozenset(off), factors)


_KINDS: Final = ["factor.added", "factor.removed", "person.deactivated", "person.reactivated", "person.left"]
_TOLD = followed.Followed(_KINDS, _Told(), _Told.after)
_ASKED_FOR: Final = frozenset(NAMES[kind] for kind in STRONG)


# Questions


def against(person: Person) -> str:
    """Why the ledger lets this person not sign in, though their row does: they were switched off, or a second factor
    of theirs is gone that nobody removed. Empty if nothing speaks against it."""
    for workspace in workspaces.of_person(person):
        with rows.reading(workspace):
            try:
                found = _against(_TOLD.of(workspace.pk), person)
            except Broken as fault:
                log.error("the ledger of %s proves nothing of who signs in: %s", workspace.slug, fault)
                continue
        if found:
            return found
    return ""


def _against(told: _Told, person: Person) -> str:
    if person.public_id in told.off:
        return f"No entry switched {person.email} on again."
    held = Counter(NAMES[one.type] for one in _factors_of(person))
    gone = [kind for kind in sorted(_ASKED_FOR) if told.factors.get((person.public_id, kind), 0) > held[kind]]
    return f"No entry removed the {gone[0]} of {person.email} that is gone." if gone else ""


def _factors_of(person: Person) -> list[Authenticator]:
    return list(Authenticator.objects.filter(user=person).order_by("created_at", "pk"))


def unproven(workspace_id: UUID) -> Iterator[str]:
    """A sentence for whatever of its members' sign-ins was written past Placet: passwords, factors, identities."""
    told = _Told().after(entries.read(workspace_id, "workspace", only=_KINDS))
    for person in Person.objects.filter(memberships__workspace_id=workspace_id).order_by("email"):
        if not person.address_holds():
            yield f"The address {person.email} was not set by Placet."
        if not person.password_holds():
            yield f"The password of {person.email} was not set by Placet."
        for one in _factors_of(person):
            if not holds(one):
                yield f"A factor of {person.email} ({NAMES[one.type]}) was not added by Placet."
        for identity in Identity.objects.filter(person=person):
            if not identity.holds():
                yield f"An identity of {person.email} at {identity.issuer} was not linked by Placet."
        if person.public_id not in told.off and (gone := _against(told, person)):
            yield gone
