"""The versions of a workspace's policy: when each came into force, by whom, and what it changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from approvals import people, policy_diff, rows
from approvals.ledger import entries
from approvals.people import Person
from approvals.policies import Policy
from approvals.policy_diff import Difference
from approvals.rulings import UNPROVEN


@dataclass(frozen=True)
class Version:
    """One version. ``at`` and ``author`` are what the ledger says; ``problem`` is why the row is not believed, empty
    where it is. ``changed`` is told against the version before it, None where one of the two cannot be read."""

    number: int
    digest: str
    at: str
    author: str
    rules: int
    problem: str = ""
    changed: list[Difference] | None = None

    @property
    def when(self) -> datetime | None:
        """The same moment, None where the ledger knows of none."""
        return datetime.fromisoformat(self.at) if self.at else None


def numbered(workspace_id: UUID, number: int) -> Policy | None:
    """The version of this number."""
    return Policy.objects.filter(workspace_id=workspace_id, version=number).first()


def versions(workspace_id: UUID, *, most: int | None = None) -> list[Version]:
    """Every version, or so many of them, the newest first."""
    loaded = {entry["version"]: entry for entry in entries.read(workspace_id, "workspace", only=["policy.loaded"])}
    named = _names({entry["by"] for entry in loaded.values()})
    known = list(Policy.objects.filter(workspace_id=workspace_id).order_by("-version")[: most and most + 1])
    befores = [*known[1:], None] if most is None or len(known) <= most else known[1:]
    return [
        _told(policy, before, loaded.get(policy.version), named)
        for policy, before in zip(known[:most], befores, strict=True)
    ]


def _told(policy: Policy, before: Policy | None, entry: dict[str, str] | None, named: dict[str, str]) -> Version:
    at, by, problem = "", "nobody", ""
    if entry is None or entry["digest"] != policy.digest:
        problem = "No entry of the ledger put this document in force."
    else:
        at, by = entry["at"], named.get(entry["by"], entry["by"])
    try:
        rules = len(policy.rules)
    except UNPROVEN as fault:
        return Version(policy.version, policy.digest, at, by, 0, str(fault))
    return Version(policy.version, policy.digest, at, by, rules, problem, _changed(before, policy))


def _changed(before: Policy | None, policy: Policy) -> list[Difference] | None:
    try:
        old = before.contents if before else {"rules": []}
        return policy_diff.differences(old, policy.contents)
    except UNPROVEN:
        return None


def _names(ids: set[str]) -> dict[str, str]:
    """The names of people by their public ids; whoever is no person is left out."""
    keys = {key: one for one in ids if (key := rows.parse_id(Person.PREFIX, one))}
    return {keys[key]: name for key, name in people.names(set(keys)).items()}
