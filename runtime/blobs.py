"""Blobs: large values of states, kept once for each workspace however often they occur, and sealed.

A value's name is its keyed digest, so that equal values are seen to be equal by us alone, and only within a workspace.
The checkpoint that refers to a blob holds this name, so the chain answers for its content too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final
from uuid import UUID

from django.db import models

from approvals import rows
from approvals.ledger import canonical, keys, sealing
from approvals.rows import wire

LARGE: Final = 8 * 1024
"""From so many bytes of canonical JSON on a value is stored by itself, and checkpoints refer to it."""

Operation = Mapping[str, Any]


class Blob(rows.Row):
    """One large value. ``digest`` is its name: two bytes of key number and a keyed digest of workspace and content."""

    PREFIX = "blob"

    digest = models.BinaryField()
    size = models.PositiveIntegerField()
    body = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "digest"], name="one_blob_of_a_content")]


class BlobUse(rows.Row):
    """That some checkpoint of a run refers to a blob: what erasing one run may not take from another."""

    PREFIX = "use"

    run = models.ForeignKey("runtime.Run", models.PROTECT, related_name="+", db_constraint=False)
    digest = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "digest"], name="one_use_of_a_blob")]


class Missing(Exception):
    """A blob that a checkpoint refers to is not there, or is not what the checkpoint refers to."""


# Questions


def lifted(workspace_id: UUID, operations: Iterable[Operation]) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    """The operations with every large value replaced by a reference, and those values' bytes by their names.

    A value that is set becomes ``{"op": "ref", "path", "blob"}``; of appended items, ``refs`` names the large ones by
    their place in ``items``.
    """
    found: dict[str, bytes] = {}
    return [_lift(workspace_id, each, found) for each in operations], found


def _lift(workspace_id: UUID, operation: Operation, found: dict[str, bytes]) -> dict[str, Any]:
    if operation["op"] == "set" and (name := _large(workspace_id, operation["value"], found)):
        return {"op": "ref", "path": operation["path"], "blob": name}
    if operation["op"] != "append" or "refs" in operation:
        return dict(operation)
    names = [_large(workspace_id, item, found) for item in operation["items"]]
    refs = {str(place): name for place, name in enumerate(names) if name}
    items = [None if name else item for name, item in zip(names, operation["items"], strict=True)]
    return {**operation, "items": items, **({"refs": refs} if refs else {})}


def _large(workspace_id: UUID, value: Any, found: dict[str, bytes]) -> str:
    if not isinstance(value, str | list | dict):
        return ""
    clear = canonical.encode(value, max_depth=canonical.MAX_DEPTH + 8)
    if len(clear) < LARGE:
        return ""
    name = keys.sign("blob", workspace_id.bytes + clear).hex()
    found[name] = clear
    return name


def names(operations: Iterable[Operation]) -> set[str]:
    """The blobs that operations refer to."""
    found: set[str] = set()
    for each in operations:
        found |= {each["blob"]} if each["op"] == "ref" else set(each.get("refs", {}).values())
    return found


def load(workspace_id: UUID, wanted: set[str]) -> dict[str, bytes]:
    """The bytes of blobs by their names, each found to be what its name says. Raises Missing."""
    if not wanted:
        return {}
    found = {bytes(digest).hex(): body for digest, body in wire.rows(_LOAD, _wanted(workspace_id, wanted))}
    if missing := wanted - set(found):
        raise Missing(f"{len(missing)} large value(s) of the state are not there any more.")
    return {name: _opened(workspace_id, name, body) for name, body in found.items()}


_LOAD: Final = "SELECT digest, body FROM runtime_blob WHERE workspace_id = %(workspace)s AND digest = ANY(%(digests)s)"


def _wanted(workspace_id: UUID, wanted: Iterable[str]) -> dict[str, Any]:
    return {"workspace": workspace_id, "digests": [bytes.fromhex(name) for name in sorted(wanted)]}


def _opened(workspace_id: UUID, name: str, body: bytes) -> bytes:
    try:
        clear = sealing.unseal(workspace_id, body, place=_place(name))
        genuine = keys.holds("blob", workspace_id.bytes + clear, bytes.fromhex(name))
    except (sealing.Tampered, keys.UnknownKey) as fault:
        raise Missing(f"A large value of the state cannot be unsealed: {fault}") from fault
    if not genuine:
        raise Missing("A large value of the state is not the one that was committed.")
    return clear


def _place(name: str) -> str:
    return f"runtime_blob.body:{name}"


def resolved(operations: Iterable[Operation], known: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """The operations with the values themselves in the places of their references."""
    return [_resolve(each, known) for each in operations]


def _resolve(operation: Operation, known: Mapping[str, bytes]) -> dict[str, Any]:
    if operation["op"] == "ref":
        return {"op": "set", "path": operation["path"], "value": json.loads(known[operation["blob"]])}
    if "refs" not in operation:
        return dict(operation)
    items = list(operation["items"])
    for place, name in operation["refs"].items():
        items[int(place)] = json.loads(known[name])
    return {"op": "append", "path": operation["path"], "items": items}


# Verbs

_KEEP: Final = """
    INSERT INTO runtime_blob (id, workspace_id, digest, size, body)
    SELECT %(id)s, %(workspace)s, %(digest)s, %(size)s, %(body)s FROM runtime_run WHERE id = %(run)s FOR KEY SHARE
    ON CONFLICT (workspace_id, digest) DO UPDATE SET size = excluded.size
"""
# The update of an existing blob is its lock: whoever would delete it waits, and then sees the new use of it. The run's
# row is shared for the same reason: whoever prunes the run lets go of uses that no commit under way counts on.
_USE: Final = """
    INSERT INTO runtime_blobuse (id, workspace_id, run_id, digest)
    SELECT %(id)s, %(workspace)s, %(run)s, %(digest)s FROM runtime_run WHERE id = %(run)s FOR KEY SHARE
    ON CONFLICT (run_id, digest) DO NOTHING
"""


def statements(workspace_id: UUID, run_id: UUID, found: Mapping[str, bytes]) -> list[wire.Statement]:
    """What keeps these values for a run: sent in the transaction that commits the reference to them."""
    made: list[wire.Statement] = []
    for name in sorted(found):
        named = {"workspace": workspace_id, "run": run_id, "digest": bytes.fromhex(name)}
        body = sealing.seal(workspace_id, found[name], place=_place(name))
        made.append((_KEEP, {**named, "id": rows.uuid7(), "size": len(found[name]), "body": body}))
        made.append((_USE, {**named, "id": rows.uuid7()}))
    return made
