"""Chains of entries: who did what, in an order and a wording that nobody can change without it showing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.db import connection, models

from approvals import rows
from approvals.ledger import anchors, canonical, keys
from approvals.ledger.anchors import Head
from approvals.rows import wire

FORMAT = 1
HANDOVER = "ledger.key_changed"
RESERVED = frozenset({"at", "by", "chain", "id", "kind", "seq", "v", "workspace"})


class Chain(rows.Row):
    """A chain's head: the number, hash and MAC of its last entry. Moved by the statement that adds the entries."""

    PREFIX = "chn"

    name = models.CharField(max_length=80)
    seq = models.BigIntegerField(default=0)
    hash = models.BinaryField()
    mac = models.BinaryField(default=b"")
    moved_at = models.DateTimeField(db_default=rows.Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "name"], name="one_chain_of_a_name")]


class Entry(rows.Row):
    """One entry. ``body`` is canonical JSON and names every other column but those that follow from it.

    ``hash`` is SHA-256 over the previous hash and the body, ``mac`` an HMAC over it with a key outside the database.
    """

    PREFIX = "ent"
    WRITE_ONCE = True

    created_at = None  # type: ignore[assignment] # leaves the field out
    chain = models.ForeignKey(Chain, models.PROTECT, related_name="entries")
    seq = models.BigIntegerField()
    kind = models.CharField(max_length=80)
    body = models.BinaryField()
    prev = models.BinaryField()
    hash = models.BinaryField()
    mac = models.BinaryField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain", "seq"], name="one_entry_of_a_number"),
            models.UniqueConstraint(fields=["chain", "prev"], name="one_entry_after_another"),
        ]


# Questions


def read(
    workspace_id: UUID, chain: str, *, after: int = 0, limit: int | None = None, only: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """A chain's entries behind a number, in order, each the members of its body: those in RESERVED and its own.
    ``only`` names the kinds that are wanted, where not all are."""
    found = Entry.objects.filter(workspace_id=workspace_id, chain__name=chain, seq__gt=after).order_by("seq")
    if only:
        found = found.filter(kind__in=only)
    return [canonical.parse(bytes(body)) for body in found.values_list("body", flat=True)[:limit]]


def kinds(workspace_id: UUID, chain: str, *, up_to: int) -> dict[str, int]:
    """How many entries of each kind a chain has up to a number."""
    found = Entry.objects.filter(workspace_id=workspace_id, chain__name=chain, seq__lte=up_to)
    return dict(found.values_list("kind").annotate(models.Count("pk")))


def line(entry: Mapping[str, Any]) -> str:
    """An entry as one line of printable ASCII, whatever its texts hold: nothing in it can begin another line."""
    return json.dumps(entry, sort_keys=True).replace("\x7f", "\\u007f")


def genesis(workspace_id: UUID, chain: str) -> bytes:
    """The hash that a chain's first entry follows: it holds the chain's own name, so no chain can pass for another."""
    return sha256(b"placet chain 1\0" + workspace_id.bytes + chain.encode()).digest()


def hash_after(prev: bytes | memoryview, body: bytes | memoryview) -> bytes:
    return sha256(bytes(prev) + bytes(body)).digest()


class _Heads:
    """The ledger's chains, as they are anchored: by the hash of their last entry."""

    kind = "ledger"

    def heads(self, workspace_id: UUID) -> Iterator[Head]:
        found = Chain.objects.filter(workspace_id=workspace_id)
        for workspace, name, seq, mark in found.values_list("workspace_id", "name", "seq", "hash"):
            yield Head(workspace, name, seq, bytes(mark))

    def marks(self, workspace_id: UUID, wanted: Sequence[tuple[str, int]]) -> dict[str, bytes]:
        names, numbers = [name for name, _ in wanted], [seq for _, seq in wanted]
        with connection.cursor() as cursor:
            cursor.execute(_AT, [names, numbers, workspace_id])
            return {name: bytes(mark) for name, mark in cursor.fetchall()}

    def deleted(self, workspace_id: UUID) -> set[str]:
        return set()  # a chain of the ledger is never deleted


_AT = """
    SELECT w.name, e.hash FROM unnest(%s::text[], %s::bigint[]) w (name, seq)
    JOIN approvals_chain c ON c.name = w.name AND c.workspace_id = %s
    JOIN approvals_entry e ON e.chain_id = c.id AND e.seq = w.seq
"""
anchors.SOURCES.append(_Heads())


# Verbs


def append(workspace_id: UUID, chain: str, kind: str, body: Mapping[str, Any], *, by: str | None) -> None:
    """Add an entry to a chain as one of the last statements of the open `rows.within` block: it stays or fails with it.

    ``chain`` is a run's public id or "workspace"; ``by`` a public id, None for the system itself. The entry also gets
    its place and the database's time in microseconds. Raises ValueError for a body that uses their names (RESERVED),
    canonical.Unrepresentable for one that is not pure JSON, RuntimeError outside the block or in another workspace's.
    """
    if workspace_id != rows.in_scope():
        raise RuntimeError("An entry belongs to the workspace of its transaction.")
    if taken := RESERVED & body.keys():
        raise ValueError(f"An entry's own members cannot be called {', '.join(sorted(taken))}.")
    members = {name: canonical.encode(value) for name, value in {"by": by or "system", "kind": kind, **body}.items()}
    key = f"ledger:{chain}"
    queue = rows.waiting(key)
    if not isinstance(queue, _Queue):
        queue = _Queue(workspace_id, chain)
        rows.before_commit(key, queue)
    queue.waiting.append((kind, members))


def unwritten(workspace_id: UUID, chain: str) -> list[dict[str, Any]]:
    """The entries that the open transaction will add to a chain when it commits, without their places."""
    queue = rows.waiting(f"ledger:{chain}")
    made = queue.waiting if isinstance(queue, _Queue) and queue.workspace_id == workspace_id else []
    return [{name: canonical.parse(value) for name, value in members.items()} for _, members in made]


@dataclass
class _Queue:
    """The entries that one transaction adds to one chain; called before COMMIT it writes them in two statements."""

    workspace_id: UUID
    chain: str
    waiting: list[tuple[str, dict[str, bytes]]] = field(default_factory=list)

    def __call__(self) -> None:
        head = _lock_head(self.workspace_id, self.chain)
        made = [_Made(head, *entry) for entry in _handover(head) + self.waiting]
        _write(head, made)


@dataclass
class _Head:
    """A locked chain's head. It moves in memory as entries are made, and in the table when they are written."""

    workspace_id: UUID
    chain: str
    key: UUID
    seq: int
    hash: bytes
    mac: bytes
    at: datetime


class _Made:
    """An entry that follows the head, which moves on to it."""

    def __init__(self, head: _Head, kind: str, members: Mapping[str, bytes]) -> None:
        self.id, self.kind, self.prev = rows.uuid7(), kind, head.hash
        place = {
            "at": head.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "chain": head.chain,
            "id": self.id.hex,
            "seq": head.seq + 1,
            "v": FORMAT,
            "workspace": head.workspace_id.hex,
        }
        self.body = canonical.assemble({**members, **{name: canonical.encode(value) for name, value in place.items()}})
        self.hash = hash_after(self.prev, self.body)
        number = keys.key_number(head.mac) if kind == HANDOVER else None
        self.mac = keys.sign("ledger", self.hash, number=number)
        head.seq, head.hash, head.mac = head.seq + 1, self.hash, self.mac
        self.seq = head.seq


def _handover(head: _Head) -> list[tuple[str, dict[str, bytes]]]:
    """When the key in use is not the one of the last entry: an entry signed with the old key that names the new one."""
    if not head.mac or keys.key_number(head.mac) == keys.current():
        return []
    old, new = keys.key_number(head.mac), keys.current()
    members = {"by": "system", "kind": HANDOVER, "from": old, "to": new, "check": keys.check_value(new).hex()}
    return [(HANDOVER, {name: canonical.encode(value) for name, value in members.items()})]


_MOVE = """
    UPDATE approvals_chain SET moved_at = placet_now() WHERE workspace_id = %s AND name = %s
    RETURNING id, seq, hash, mac, moved_at
"""
_BEGIN = """
    INSERT INTO approvals_chain (id, workspace_id, name, seq, hash, mac) VALUES (%s, %s, %s, 0, %s, '')
    ON CONFLICT (workspace_id, name) DO NOTHING
"""


def _lock_head(workspace_id: UUID, chain: str) -> _Head:
    """An UPDATE locks the head and reads the clock after any wait for it, so that times rise with the numbers."""
    found = wire.rows(_MOVE, [workspace_id, chain])
    if not found:
        wire.run([(_BEGIN, [rows.uuid7(), workspace_id, chain, genesis(workspace_id, chain)])])
        found = wire.rows(_MOVE, [workspace_id, chain])
    return _Head(workspace_id, chain, *found[0])


def _write(head: _Head, made: list[_Made]) -> None:
    row = "(" + ", ".join(["%s"] * 10) + ")"
    values: list[Any] = []
    for one in made:
        values += [
            one.id,
            head.workspace_id,
            head.key,
            one.seq,
            one.kind,
            one.body,
            one.prev,
            one.hash,
            one.mac,
            head.at,
        ]
    added = (
        "WITH added AS (INSERT INTO approvals_entry"
        " (id, workspace_id, chain_id, seq, kind, body, prev, hash, mac, at)"
        f" VALUES {', '.join([row] * len(made))})"
        " UPDATE approvals_chain SET seq = %s, hash = %s, mac = %s WHERE id = %s"
    )
    wire.run([(added, [*values, head.seq, head.hash, head.mac, head.key])])
