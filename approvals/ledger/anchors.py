"""Anchors: what the heads of all chains were, signed, and put where whoever writes the database does not reach.

A chain cannot show that its own tail was cut off together with its head, nor that it is gone. Each anchor signs a
Merkle root over all heads with Ed25519 and names the anchor before it. It lists the heads that moved since then, so
that the file alone tells what each chain has to hold at least. `docs/keys.md` says how an outsider checks it.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from django.conf import settings

from approvals import rows
from approvals.ledger import canonical, keys
from approvals.ledger.anchor_book import Book

log = logging.getLogger(__name__)

QUIET: Final = timedelta(hours=1)
"""How long nothing is written while no head moves."""


class Head(NamedTuple):
    """Where a chain stands: the number of its last entry and what that entry cannot be changed without changing."""

    workspace_id: UUID
    name: str
    seq: int
    mark: bytes


class Source(Protocol):
    """Chains of one kind, as the anchors ask for them."""

    kind: str

    def heads(self, workspace_id: UUID) -> Iterable[Head]:
        """The heads of a workspace's chains."""

    def marks(self, workspace_id: UUID, wanted: Sequence[tuple[str, int]]) -> Mapping[str, bytes]:
        """The mark that each named chain has at a number, where it has one."""

    def deleted(self, workspace_id: UUID) -> set[str]:
        """The names of the chains that were deleted on purpose, each proved by a code of ours."""


SOURCES: Final[list[Source]] = []
"""The kinds of chains that are anchored: the ledger's own, and what other apps add when they start."""


# Questions


def public_key(number: int) -> bytes:
    """The Ed25519 key by which anyone can check what a root key signed. Raises UnknownKey."""
    return _private(keys.derive("anchor", number)).public_key().public_bytes_raw()


def book(*, anew: bool = False) -> Book:
    """The file of anchors, read as far as it is written: what was added since the last time, or all of it anew."""
    return _book(settings.PLACET_ANCHORS).read(anew=anew)


def readable() -> Book | None:
    """The same for a page, which is shown without anchors where their file cannot be read."""
    try:
        return book()
    except OSError as fault:
        log.error("The anchors cannot be read: %s", fault)
        return None


def differences(workspace_id: UUID) -> Iterator[str]:
    """A sentence for every chain of a workspace that no longer holds what was anchored."""
    anchored = {key: stood for key, stood in book().heads.items() if key.startswith(f"{workspace_id.hex}/")}
    for key, why in _broken(anchored, _now(workspace_id)).items():
        yield f"{key.partition('/')[2].replace('/', ' ')}: {why}"


def gone_back(workspace_id: UUID, *chains: tuple[str, str]) -> str | None:
    """Why one of these chains, each given by its kind and name, no longer holds what was anchored; None if all do.
    Raises OSError when the file cannot be read."""
    known = book().heads
    for kind, name in chains:
        seq, mark = known.get(f"{workspace_id.hex}/{kind}/{name}", (0, ""))
        if mark and _marks(kind, workspace_id, [(name, seq)]).get(name) != mark:
            return f"{name} no longer holds what was anchored of it ({kind} {seq}): an older state was put back."
    return None


def doubts() -> list[str]:
    """What is wrong with the file itself, and the workspaces that it knows and the database does not."""
    known = book(anew=True)
    found = list(known.faults)
    for line in known.lines():
        found += [f"anchor {line['number']}: {fault}" for fault in _signed_badly(line)]
    if merkle_root(known.heads) != known.root:
        found.append("the last anchor does not sign the heads that the anchors list.")
    here = {key.partition("/")[0] for key in _now(None)}
    gone = sorted({key.partition("/")[0] for key in known.heads} - here)
    return found + [f"the chains of workspace {workspace} were anchored and are gone." for workspace in gone]


# The verb


def anchor(*, every: timedelta = timedelta(0)) -> int | None:
    """Write an anchor of all heads; its number. None when the last one is younger than ``every``, or when no head has
    moved for less than QUIET.

    A chain that no longer holds what was anchored keeps the place it had: nothing that was cut is ever anchored as if
    it were right. Raises OSError when the file cannot be written.
    """
    with _book(settings.PLACET_ANCHORS).writing() as known:
        now = datetime.now(UTC)  # not the database's clock, which its owner could stop
        age = now - datetime.fromisoformat(known.at) if known.at else QUIET
        moved = _moved(known.heads)
        if age < every or (not moved and age < QUIET):
            return None
        heads = known.heads | moved
        number = known.number + 1
        line = {
            "v": 1,
            "number": number,
            "at": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "previous": known.last,
            "root": merkle_root(heads),
            "count": len(heads),
            "heads": [[key, seq, mark] for key, (seq, mark) in sorted(moved.items())],
        }
        known.append(canonical.encode(_signed(line, known.signers)))
        return number


# Heads. By "<workspace>/<kind>/<name>": the number and the mark in hex, as the file has them.

Stood = tuple[int, str]


def _now(workspace_id: UUID | None) -> dict[str, Stood]:
    """Where the chains of a workspace, or of all, stand."""
    found: dict[str, Stood] = {}
    for key in rows.every_workspace() if workspace_id is None else [workspace_id]:
        with rows.reading(key):
            for source in SOURCES:
                for head in source.heads(key):
                    found[f"{head.workspace_id.hex}/{source.kind}/{head.name}"] = (head.seq, bytes(head.mark).hex())
    return found


def _moved(anchored: Mapping[str, Stood]) -> dict[str, Stood]:
    """The heads that went on from where they were anchored."""
    now = _now(None)
    broken = _broken(anchored, now)
    return {key: stands for key, stands in now.items() if anchored.get(key) != stands and key not in broken}


def _broken(anchored: Mapping[str, Stood], now: Mapping[str, Stood]) -> dict[str, str]:
    """The chains that do not hold what was anchored any more, and why."""
    found: dict[str, str] = {}
    gone: dict[tuple[str, str], list[str]] = defaultdict(list)
    further: dict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
    for key, (seq, mark) in anchored.items():
        workspace, kind, name = key.split("/", 2)
        if key not in now:
            gone[workspace, kind].append(name)
        elif now[key][0] < seq:
            found[key] = f"it was anchored at {seq} and stands at {now[key][0]}: its tail was cut off."
        elif now[key][0] > seq:
            further[workspace, kind].append((name, seq))
        elif now[key][1] != mark:
            found[key] = f"its last entry, {seq}, is not the one that was anchored."
    for (workspace, kind), names in gone.items():
        with rows.reading(UUID(workspace)):
            deleted = _source(kind).deleted(UUID(workspace))
        for name in set(names) - deleted:
            key = f"{workspace}/{kind}/{name}"
            found[key] = f"it was anchored at {anchored[key][0]} and is gone."
    for (workspace, kind), wanted in further.items():
        marks = _marks(kind, UUID(workspace), wanted)
        for name, seq in wanted:
            key = f"{workspace}/{kind}/{name}"
            if marks.get(name) != anchored[key][1]:
                found[key] = f"its entry {seq} is not the one that was anchored."
    return found


def _marks(kind: str, workspace_id: UUID, wanted: Sequence[tuple[str, int]]) -> dict[str, str]:
    with rows.reading(workspace_id):
        found = _source(kind).marks(workspace_id, wanted)
    return {name: bytes(mark).hex() for name, mark in found.items()}


def _source(kind: str) -> Source:
    return next(source for source in SOURCES if source.kind == kind)


def merkle_root(heads: Mapping[str, Stood]) -> str:
    """The root, in hex, of the tree over the heads in the order of their keys, hashed as RFC 6962 has it."""
    level = [sha256(b"\0" + f"{key} {seq} {mark}".encode()).digest() for key, (seq, mark) in sorted(heads.items())]
    if not level:
        return sha256(b"").hexdigest()
    while len(level) > 1:
        # An odd one out goes up as it is: the same tree as RFC 6962's, which parts at a power of two.
        pairs = [sha256(b"\1" + left + right).digest() for left, right in zip(level[::2], level[1::2], strict=False)]
        level = pairs + level[len(level) - len(level) % 2 :]
    return level[0].hex()


# Signatures. By the number of the root key; where the key changed, also by the one before, which so names its heir.


def _signed(line: dict[str, object], before: Iterable[int]) -> dict[str, object]:
    numbers = {keys.current(), *before}
    document = line | {"keys": {str(number): public_key(number).hex() for number in sorted(numbers)}}
    text = canonical.encode(document)
    signatures = {str(number): _private(keys.derive("anchor", number)).sign(text).hex() for number in sorted(numbers)}
    return document | {"signatures": signatures}


def _signed_badly(line: Mapping[str, object]) -> Iterator[str]:
    document = {name: value for name, value in line.items() if name != "signatures"}
    text, signatures = canonical.encode(document), line["signatures"]
    assert isinstance(signatures, dict) and isinstance(line["keys"], dict)
    if not signatures or set(signatures) != set(line["keys"]):
        yield "it is not signed."
    for number, signature in signatures.items():
        try:
            Ed25519PublicKey.from_public_bytes(public_key(int(number))).verify(bytes.fromhex(signature), text)
        except keys.UnknownKey as fault:
            yield f"its signature cannot be checked: {fault}"
        except (InvalidSignature, ValueError):
            yield "its signature is not ours."


@lru_cache(maxsize=16)
def _private(seed: bytes) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(seed)


@lru_cache(maxsize=4)
def _book(path: Path) -> Book:
    return Book(path)
