"""Whether the chains are as they were written: every entry's place, content and MAC, and every head."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hmac import compare_digest
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from approvals import rows
from approvals.ledger import canonical, keys
from approvals.ledger.about import Broken
from approvals.ledger.entries import HANDOVER, Chain, genesis, hash_after
from approvals.rows import wire

_AT_ONCE = 200

CHECKS: list[Callable[[UUID], Iterable[str]]] = []
"""Further questions about a workspace, asked by `verify_workspace`: each gives a sentence for whatever is wrong."""


@dataclass(frozen=True)
class Finding:
    """Something that is not as it was written. ``seq`` is the entry's number, None for the head or the workspace."""

    seq: int | None
    text: str

    def __str__(self) -> str:
        return self.text if self.seq is None else f"entry {self.seq}: {self.text}"


@dataclass(frozen=True)
class Verdict:
    """What was found about one chain of a workspace, or (with an empty name) about the workspace itself."""

    workspace_id: UUID
    chain: str
    entries: int
    findings: tuple[Finding, ...]


def verify_workspace(workspace_id: UUID, *, chain: str | None = None) -> Iterator[Verdict]:
    """A verdict for every chain of the workspace, or for the one named; then one for what belongs to no chain.

    Holds no transaction between two verdicts.
    """
    with rows.reading(workspace_id):
        named = chains_behind(workspace_id, None, None) if chain is None else _named(workspace_id, chain)
    keys_of_chains = [key for key, _ in named]
    for start in range(0, len(keys_of_chains), _AT_ONCE):
        yield from of_chains(workspace_id, keys_of_chains[start : start + _AT_ONCE])
    if chain is None:
        yield _of_workspace(workspace_id)


def chains_behind(workspace_id: UUID, name: str | None, most: int | None) -> list[tuple[UUID, str]]:
    """The keys and names of the workspace's chains behind a name, in order; of all, for None."""
    chains = Chain.objects.filter(workspace_id=workspace_id, **({} if name is None else {"name__gt": name}))
    return list(chains.order_by("name").values_list("id", "name")[:most])


def _named(workspace_id: UUID, chain: str) -> list[tuple[UUID, str]]:
    return list(Chain.objects.filter(workspace_id=workspace_id, name=chain).values_list("id", "name"))


def proved(workspace_id: UUID, chain: str) -> list[dict[str, Any]]:
    """What a chain says, every entry of it verified. Raises Broken, which names what is wrong first."""
    lines = lines_behind(workspace_id, chain, 0)
    if not lines:
        raise Broken(f"There is no ledger of {chain}.")
    return list(Walk(genesis(workspace_id, chain)).along(lines))


def lines_behind(workspace_id: UUID, chain: str, seq: int) -> list[Line]:
    """A chain's head beside each of its entries behind this number; once, without one, where there is none; nothing
    where there is no such chain."""
    found = wire.rows(_BEHIND, {"workspace": workspace_id, "chain": chain, "seq": seq})
    return [Line(*line) for line in found]


def of_chains(workspace_id: UUID, wanted: list[UUID]) -> list[Verdict]:
    """A verdict for each of these chains, in one transaction."""
    with rows.within(workspace_id), closing(wire.stream(_CHAINS, [wanted])) as found:
        return [_of_chain(map(Line._make, of_one)) for _, of_one in groupby(found, key=itemgetter(0))]


class Line(NamedTuple):
    """A chain's head beside one of its entries, whose members are None in a chain without any."""

    chain_id: UUID
    workspace_id: UUID
    chain: str
    head_seq: int
    head_hash: bytes
    head_mac: bytes
    id: UUID
    entry_workspace_id: UUID
    seq: int
    kind: str
    body: bytes
    prev: bytes
    hash: bytes
    mac: bytes
    at: datetime


# Heads and entries are read by one statement, so in one snapshot: writers may go on meanwhile.
_CHAINS = """
    SELECT c.id, c.workspace_id, c.name, c.seq, c.hash, c.mac,
           e.id, e.workspace_id, e.seq, e.kind, e.body, e.prev, e.hash, e.mac, e.at
    FROM approvals_chain c LEFT JOIN approvals_entry e ON e.chain_id = c.id WHERE c.id = ANY(%s)
    ORDER BY c.name, c.id, e.seq
"""
_BEHIND = """
    SELECT c.id, c.workspace_id, c.name, c.seq, c.hash, c.mac,
           e.id, e.workspace_id, e.seq, e.kind, e.body, e.prev, e.hash, e.mac, e.at
    FROM approvals_chain c LEFT JOIN approvals_entry e ON e.chain_id = c.id AND e.seq > %(seq)s
    WHERE c.workspace_id = %(workspace)s AND c.name = %(chain)s ORDER BY e.seq
"""
_ORPHANS = """
    SELECT count(*) FROM approvals_entry e WHERE e.workspace_id = %s
        AND NOT EXISTS (SELECT FROM approvals_chain c WHERE c.id = e.chain_id AND c.workspace_id = e.workspace_id)
"""


def _of_workspace(workspace_id: UUID) -> Verdict:
    with rows.within(workspace_id):
        found = [sentence for number in range(further()) for sentence in asked_further(workspace_id, number)]
    return Verdict(workspace_id, "", 0, tuple(Finding(None, sentence) for sentence in found))


def further() -> int:
    """How many questions there are beside the chains."""
    return 1 + len(CHECKS)


def asked_further(workspace_id: UUID, number: int) -> list[str]:
    """What one of them finds."""
    with rows.within(workspace_id):
        if number:
            return list(_answers(CHECKS[number - 1], workspace_id))
        with connection.cursor() as cursor:
            cursor.execute(_ORPHANS, [workspace_id])
            orphans = cursor.fetchone()[0]
    return [f"{orphans} entries belong to a chain that is not here."] if orphans else []


def _answers(check: Callable[[UUID], Iterable[str]], workspace_id: UUID) -> Iterator[str]:
    """What a check finds, also where an entry that it needs was made unreadable: the chain's own verdict names it."""
    try:
        yield from check(workspace_id)
    except (canonical.Unrepresentable, LookupError, TypeError, AttributeError) as fault:
        yield f"what the ledger says cannot be compared with the rows: {type(fault).__name__}."


def _of_chain(lines: Iterator[Line]) -> Verdict:
    first = next(lines)
    walk = Walk(genesis(first.workspace_id, first.chain))
    if first.seq is not None:
        walk.step(first)
        for line in lines:
            walk.step(line)
    walk.end(first)
    return Verdict(first.workspace_id, first.chain, walk.entries, tuple(walk.findings))


@dataclass
class Walk:
    """Along one chain: what its next entry must be, and what was found so far."""

    hash: bytes
    mac: bytes = b""
    seq: int = 0
    entries: int = 0
    next_key: int | None = None
    handed_to: int | None = None
    findings: list[Finding] = field(default_factory=list)
    document: Any = None
    """What the last entry says."""

    def step(self, line: Line) -> None:
        self.entries += 1
        changed, code = hash_after(line.prev, line.body) != bytes(line.hash), _code(line)
        content = self._content(line, changed=changed, ours=not changed and not code)
        for text in (*self._place(line), *content, *self._mac(line, code)):
            self.findings.append(Finding(line.seq, text))
        self.seq, self.hash, self.mac = line.seq, bytes(line.hash), bytes(line.mac)

    def along(self, lines: Iterable[Line]) -> Iterator[dict[str, Any]]:
        """What these entries say, up to the head. Raises Broken, which names the first fault."""
        for line in lines:
            if line.seq is not None:
                self.step(line)
                self._refuse(line.chain)
                yield self.document
        self.end(line)
        self._refuse(line.chain)

    def _refuse(self, chain: str) -> None:
        if self.findings:
            raise Broken(f"The ledger of {chain} is not as it was written: {self.findings[0]}")

    def _place(self, line: Line) -> Iterator[str]:
        missing = line.seq - self.seq - 1
        if missing > 0:
            yield (
                f"the {missing} before it are missing (gap)." if missing > 1 else "the one before it is missing (gap)."
            )
        elif missing < 0:
            yield "there is another of this number (inserted)."
        if bytes(line.prev) != self.hash:
            yield "it does not follow the one before it."

    def _content(self, line: Line, *, changed: bool, ours: bool) -> Iterator[str]:
        if changed:
            yield "its content was changed: it does not give its hash."
        # The bytes that a code of ours holds for were written by `encode`.
        self.document = document = canonical.reread(line.body) if ours else _read(line.body)
        if not isinstance(document, dict):
            yield "its content cannot be read."
            return
        for name, value in _columns(line).items():
            if document.get(name) != value:
                yield f"its {name} is {value} in the table and {str(document.get(name))[:80]} in the entry."
        if line.kind == HANDOVER:
            yield from self._handover(document)

    def _handover(self, document: dict[str, Any]) -> Iterator[str]:
        self.next_key = document.get("to")
        try:
            check = keys.check_value(self.next_key or 0).hex()
        except keys.UnknownKey:
            return
        if not compare_digest(str(document.get("check")), check):
            yield f"it hands over to another key {self.next_key} than ours."

    def _mac(self, line: Line, code: str) -> Iterator[str]:
        if code:
            yield code
        if code == _BAD_MAC:
            return
        number = keys.key_number(line.mac)
        if self.mac and number != keys.key_number(self.mac) and number != self.handed_to:
            yield f"it is signed with key {number}, to which nothing hands over."
        self.handed_to, self.next_key = self.next_key, None

    def end(self, head: Line) -> None:
        """Compare the head with the last entry: a tail that was cut off shows here."""
        if self.seq < head.head_seq:
            missing = head.head_seq - self.seq
            self.findings.append(Finding(None, f"head: {missing} of {head.head_seq} entries are missing at the end."))
        elif self.seq > head.head_seq:
            self.findings.append(Finding(None, f"head: it stands at {head.head_seq}, the entries go to {self.seq}."))
        elif (self.hash, self.mac) != (bytes(head.head_hash), bytes(head.head_mac)):
            self.findings.append(Finding(None, "head: it does not name the last entry (head mismatch)."))


_BAD_MAC = "its MAC is not ours (bad MAC)."


def _code(line: Line) -> str:
    """What is wrong with an entry's authentication code, or nothing."""
    try:
        return "" if keys.holds("ledger", bytes(line.hash), line.mac) else _BAD_MAC
    except keys.UnknownKey as fault:
        return f"its MAC cannot be checked: {fault}"


def _read(body: bytes) -> Any:
    try:
        return canonical.parse(bytes(body))
    except canonical.Unrepresentable:
        return None


def _columns(line: Line) -> dict[str, Any]:
    """What the columns say, in the entry's own spelling."""
    return {
        "id": line.id.hex,
        "workspace": line.entry_workspace_id.hex,
        "chain": line.chain,
        "seq": line.seq,
        "kind": line.kind,
        "at": line.at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
    }
