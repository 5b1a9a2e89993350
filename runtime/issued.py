"""Issued: what the ledger says of agents' credentials, which is held against every row before it is believed.

A row that is signed may still be an old one: whoever kept a copy could put a revoked credential back. The entries of
the workspace's chain cannot be put back, so what they ended stays ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from approvals.ledger import entries, followed

KINDS: Final = ("credential.created", "credential.revoked", "credential.rotated")
FOR_GOOD: Final = ""


@dataclass(frozen=True)
class Told:
    """Which credentials were made, and those that were ended: at an instant, or for good."""

    made: frozenset[str] = frozenset()
    ended: Mapping[str, str] = field(default_factory=dict)

    def after(self, told: Iterable[dict[str, Any]]) -> Told:
        made, ended = set(self.made), dict(self.ended)
        for entry in told:
            match entry["kind"]:
                case "credential.created":
                    made.add(entry["credential"])
                case "credential.revoked":
                    ended[entry["credential"]] = FOR_GOOD
                case "credential.rotated":
                    ended.setdefault(entry["credential"], entry["until"])
        return Told(frozenset(made), ended)

    def in_force(self, credential: str, at: datetime) -> bool:
        """Whether this credential was made and is not ended by then."""
        return credential in self.made and (credential not in self.ended or instant(at) < self.ended[credential])


_TOLD: Final = followed.Followed(KINDS, Told(), Told.after)


def instant(moment: datetime) -> str:
    """A moment as the ledger writes it: text that sorts as time does."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def in_force(workspace_id: UUID, credential: str, at: datetime) -> bool:
    """Whether the ledger made this credential and has not ended it by then. Raises ledger.about.Broken where it proves
    nothing."""
    return told(workspace_id).in_force(credential, at)


def told(workspace_id: UUID) -> Told:
    """What the entries say, each of them proved. Raises ledger.about.Broken."""
    return _TOLD.of(workspace_id)


def as_told(workspace_id: UUID) -> Told:
    """What the entries say as they stand. For `ledger verify`, which proves the chain itself."""
    return Told().after(entries.read(workspace_id, "workspace", only=KINDS))
