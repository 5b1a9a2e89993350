"""What a chain says of one subject, read so that it can be relied on before something is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from django.db import connection

from approvals.ledger import canonical, keys
from approvals.ledger.entries import genesis, hash_after
from approvals.rows import wire


class Broken(Exception):
    """The chain is not as it was written; the message says where."""


# The members' canonical bytes: nothing else in an entry can hold them, for a quotation mark in a text is escaped.
_ABOUT = """
    SELECT e.seq, e.body, e.prev, e.hash, e.mac FROM approvals_entry e JOIN approvals_chain c ON c.id = e.chain_id
    WHERE c.workspace_id = %s AND c.name = %s AND (e.seq = 1
        OR EXISTS (SELECT FROM unnest(%s::bytea[]) AS word WHERE position(word IN e.body) > 0)) ORDER BY e.seq
"""
# Each entry follows the one before it, and the head is the last: what the head's code is made of then holds them all.
_WHOLE = """
    SELECT c.seq = count(e.id) AND c.seq = COALESCE(max(e.seq), 0) AND bool_and(e.seq < c.seq OR e.hash = c.hash)
        AND bool_and(e.prev = e.before AND e.hash = sha256(e.prev || e.body)), c.hash, c.mac
    FROM approvals_chain c LEFT JOIN LATERAL (
        SELECT *, lag(hash, 1, %(genesis)s::bytea) OVER (ORDER BY seq) AS before
        FROM approvals_entry WHERE chain_id = c.id) e ON true
    WHERE c.workspace_id = %(workspace)s AND c.name = %(chain)s GROUP BY c.id
"""


def about(workspace_id: UUID, chain: str, subject: str, *, kinds: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The entry that opened a chain and those whose member ``subject`` is this one, in order, with those of some
    ``kinds`` that have no subject.

    Raises Broken where entries are missing, stand in others' places or are not ours; keys.UnknownKey where that cannot
    be told. Whether the columns beside every other entry agree with it is for `ledger verify` to say.
    """
    words = [b'"subject":' + canonical.encode(subject), *(b'"kind":' + canonical.encode(kind) for kind in kinds)]
    with connection.cursor() as cursor:
        cursor.execute(_WHOLE, {"workspace": workspace_id, "chain": chain, "genesis": genesis(workspace_id, chain)})
        whole, head, mac = cursor.fetchone() or (False, b"", b"")
        if not whole or not keys.holds("ledger", bytes(head), bytes(mac)):
            raise Broken(f"The ledger of {chain} is not whole.")
        cursor.execute(_ABOUT, [workspace_id, chain, words])
        found = cursor.fetchall()
    return [_genuine(chain, *map(bytes, line), seq=seq) for seq, *line in found]


def first(workspace_id: UUID, chain: str) -> dict[str, Any] | None:
    """The entry that opened a chain, which proves itself; None where there is none. Raises Broken for one that is not
    as it was written, keys.UnknownKey where that cannot be told."""
    found = wire.rows(_FIRST, {"workspace": workspace_id, "chain": chain})
    if not found:
        return None
    body, prev, hashed, mac = map(bytes, found[0])
    if prev != genesis(workspace_id, chain):
        raise Broken(f"The first entry of {chain} is another's.")
    return _genuine(chain, body, prev, hashed, mac, seq=1)


_FIRST: Final = """
    SELECT e.body, e.prev, e.hash, e.mac FROM approvals_entry e JOIN approvals_chain c ON c.id = e.chain_id
    WHERE c.workspace_id = %(workspace)s AND c.name = %(chain)s AND e.seq = 1
"""


def _genuine(chain: str, body: bytes, prev: bytes, hashed: bytes, mac: bytes, *, seq: int) -> dict[str, Any]:
    if hash_after(prev, body) != hashed or not keys.holds("ledger", hashed, mac):
        raise Broken(f"Entry {seq} of {chain} is not as it was written.")
    entry: dict[str, Any] = canonical.parse(body)
    if (entry["chain"], entry["seq"]) != (chain, seq):
        raise Broken(f"Entry {seq} of {chain} stands in another's place.")
    return entry
