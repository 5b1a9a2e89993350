"""The pages of the ledger, as the tabs above each of them, and who sees which."""

from __future__ import annotations

from typing import NamedTuple

from django.urls import reverse

from approvals import people
from approvals.pages.door import Visit


class Tab(NamedTuple):
    """One tab; ``current`` is the page itself."""

    word: str
    address: str
    current: bool


def tabs(request: Visit, current: str) -> list[Tab]:
    """The ledger's pages for this reader."""
    named = {"ledger": "Approvals", "ledger_entries": "Every entry", "verification": "Verification"}
    named["oversight"] = "Oversight"
    slug = request.workspace.slug
    return [Tab(word, reverse(name, args=[slug]), name == current) for name, word in named.items()]


def administers(request: Visit) -> bool:
    """Whether this reader may let go of what was written."""
    return people.may(request.user, "administer", request.workspace)


def sees_all(request: Visit) -> bool:
    """Whether this reader sees what concerns the workspace alone: sign-ins, rights, keys. Those who audit it do, and
    those who administer it."""
    return any(people.may(request.user, right, request.workspace) for right in ("audit", "administer"))
