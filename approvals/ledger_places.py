"""The pages of the ledger: which there are, in which order, and who sees them. They stand as tabs above each."""

from __future__ import annotations

from typing import NamedTuple

from django.urls import reverse

from approvals import people
from approvals.people import Person, Workspace


class Tab(NamedTuple):
    """One tab; ``current`` is the page itself."""

    word: str
    address: str
    current: bool


def tabs(workspace: Workspace, person: Person, current: str) -> list[Tab]:
    """The ledger's pages for this reader."""
    named = {"ledger": "Approvals", "ledger_entries": "Every entry", "verification": "Verification"}
    named["oversight"] = "Oversight"
    if administers(workspace, person):
        named["retention"] = "Retention"
    return [Tab(word, reverse(name, args=[workspace.slug]), name == current) for name, word in named.items()]


def administers(workspace: Workspace, person: Person) -> bool:
    """Whether this reader may let go of what was written."""
    return people.may(person, "administer", workspace)


def sees_all(workspace: Workspace, person: Person) -> bool:
    """Whether this reader sees what concerns the workspace alone: sign-ins, rights, keys. Those who audit it do, and
    those who administer it."""
    return any(people.may(person, right, workspace) for right in ("audit", "administer"))
