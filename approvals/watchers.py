"""Watchers: programs that read a workspace's figures, and nothing else, by a credential of their own.

Of the secret only its hash is kept (`approvals.ledger.bearers`). The row is signed with a key that is not in the
database; who can write rows still cannot make a watcher.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final
from uuid import UUID

from django.db import models
from django.http import HttpRequest

from approvals import rows
from approvals.ledger import bearers, canonical, entries, followed, keys
from approvals.ledger.about import Broken
from approvals.people import Workspace

HEAD: Final = "plw_"


class Watcher(rows.Row):
    """One secret by which the figures of one workspace are read."""

    PREFIX = "wat"

    label = models.CharField(max_length=80, blank=True)
    shown = models.CharField(max_length=bearers.SHOWN)
    secret_hash = models.CharField(max_length=64, unique=True)
    revoked_at = models.DateTimeField(null=True)
    mac = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.shown}…"

    def holds(self) -> bool:
        """Whether the row is as it was written, with a key that this process has."""
        try:
            return keys.holds("credential", _signed(self), bytes(self.mac))
        except keys.UnknownKey:
            return False


def _signed(watcher: Watcher) -> bytes:
    fields = {
        "of": "watcher",
        "id": watcher.pk.hex,
        "workspace": watcher.workspace_id.hex,
        "secret": watcher.secret_hash,
        "revoked": watcher.revoked_at.isoformat() if watcher.revoked_at else None,
    }
    return canonical.encode(fields)


# Questions


def watched_by(request: HttpRequest) -> Workspace | None:
    """The workspace whose watcher's secret the request carries as ``Authorization: Bearer plw_…``, which it enters;
    None for any other request."""
    secret = bearers.carried(request, HEAD)
    if secret is None:
        return None
    secret_hash = bearers.hashed(secret)
    for workspace_id in _WORKSPACE_OF(secret_hash):
        rows.enter(workspace_id)
    known = Watcher.objects.select_related("workspace").filter(secret_hash=secret_hash, revoked_at=None).first()
    return known.workspace if known and known.holds() and not _has_ended(known) else None


def _has_ended(watcher: Watcher) -> bool:
    """Whether the ledger revoked it, whatever its row says; also where the ledger proves nothing."""
    try:
        return watcher.public_id in _REVOKED.of(watcher.workspace_id)
    except Broken:
        return True


def _revoked_after(before: frozenset[str], told: Iterable[dict[str, Any]]) -> frozenset[str]:
    return before | {entry["watcher"] for entry in told}


_REVOKED: Final = followed.Followed(["watcher.revoked"], frozenset[str](), _revoked_after)


def unproven(workspace_id: UUID) -> Iterator[str]:
    """A sentence for every watcher that was written past Placet, or put back after it was revoked."""
    told = _revoked_after(frozenset(), entries.read(workspace_id, followed.CHAIN, only=["watcher.revoked"]))
    for one in Watcher.objects.filter(workspace_id=workspace_id).order_by("created_at"):
        if not one.holds():
            yield f"watcher {one} is not as it was written."
        elif (one.revoked_at is not None) != (one.public_id in told):
            yield f"watcher {one} {'is not' if one.revoked_at is None else 'is'} revoked, and by the ledger otherwise."


_WORKSPACE_OF = rows.entrance(
    "placet_workspace_of_watcher",
    "text",
    query="SELECT w.workspace_id FROM public.approvals_watcher w WHERE w.secret_hash = $1",
)


def of(workspace: Workspace) -> list[Watcher]:
    """All watchers that a workspace ever had, the oldest first."""
    return list(Watcher.objects.filter(workspace=workspace).order_by("created_at"))


# Verbs


def create(workspace: Workspace, *, label: str = "", by: str) -> tuple[Watcher, str]:
    """A new watcher, and its secret, which is nowhere else."""
    secret = bearers.drawn(HEAD)
    known = {"shown": secret[: bearers.SHOWN], "secret_hash": bearers.hashed(secret)}
    watcher = Watcher(workspace=workspace, label=label, **known)
    watcher.mac = keys.sign("credential", _signed(watcher))
    with rows.within(workspace):
        watcher.save(force_insert=True)
        _record("watcher.created", watcher, by)
    return watcher, secret


def revoke(watcher: Watcher, *, by: str) -> bool:
    """End a watcher at once and for good. False if it was ended before."""
    with rows.within(watcher.workspace_id):
        held = Watcher.objects.select_for_update().get(pk=watcher.pk)
        ended = bearers.revoked(held, _signed)
        if ended:
            _record("watcher.revoked", held, by)
    return ended


def _record(kind: str, watcher: Watcher, by: str) -> None:
    body = {"watcher": watcher.public_id, "shown": watcher.shown}
    entries.append(watcher.workspace_id, "workspace", kind, body, by=by)
