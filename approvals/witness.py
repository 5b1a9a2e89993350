"""Witness: what happens to a person's sign-in, written into the ledger of every workspace they belong to."""

from __future__ import annotations

from typing import Any

from approvals import rows, workspaces
from approvals.ledger import entries
from approvals.people import Person


def note(person: Person, kind: str, body: dict[str, Any] | None = None, *, by: str | None = None) -> None:
    """Write one entry for each workspace of the person, one transaction after the other; never a secret. ``by`` is who
    did it, the person themselves unless it is said.

    Someone who may not sign in any more belongs to no workspace here: what they try is nobody's news.
    """
    for workspace in workspaces.of_person(person):
        with rows.within(workspace):
            told = {"person": person.public_id} | (body or {})
            entries.append(workspace.pk, "workspace", kind, told, by=by or person.public_id)
