"""What people and agents wrote, sealed at rest: a data key per workspace, AES-256-GCM, bound to its place."""

from __future__ import annotations

import os
import threading
import time
import zlib
from collections.abc import Iterable
from functools import partial
from typing import Final
from uuid import UUID

import zstandard
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.db import connection, models, transaction

from approvals.ledger import keys
from approvals.rows import Row

_FORMAT = 1
_HEAD = 3
_NONCE = 12
_WORTH_COMPRESSING = 200
_WORTH_A_THREAD: Final = 8
"""So many bodies and more are unpacked by two threads."""
NEWEST_FOR = 30.0
"""Seconds for which a process goes on sealing with the data key it knows, before it looks whether there is a newer
one."""


class Tampered(Exception):
    """Sealed bytes that are not the ones sealed for this place in this workspace, or whose data key is not as made."""


class Erased(Tampered):
    """Nothing is sealed here any more: what stood here was erased on purpose, and a ledger entry says so."""


class DataKey(Row):
    """A workspace's data key, itself sealed with a root key (number ``root_number``). The highest number is in use."""

    PREFIX = "key"

    number = models.PositiveIntegerField()
    root_number = models.PositiveIntegerField()
    wrapped = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "number"], name="one_data_key_of_a_number")]


def seal(workspace_id: UUID, clear: bytes, *, place: str) -> bytes:
    """The sealed form of some bytes; ``place`` is "table.column:<row id in hex>", and only there can it be unsealed.

    Compressed first where that is shorter. A workspace's first call makes its data key.
    """
    number, key = _in_use(workspace_id)
    nonce = os.urandom(_NONCE)
    return _head(number) + nonce + AESGCM(key).encrypt(nonce, _packed(clear), _bound(workspace_id, number, place))


def unseal(workspace_id: UUID, sealed: bytes | memoryview, *, place: str) -> bytes:
    """The bytes that were sealed for this place. Raises Erased for none, Tampered for others, keys.UnknownKey without
    the root key."""
    return _unpacked(_decrypted(workspace_id, bytes(sealed), place))


def unseal_each(workspace_id: UUID, found: Iterable[tuple[bytes, str]]) -> list[bytes]:
    """What `unseal` gives for each of these, with its place, up to the first that it refuses. Many are unpacked at
    once, by two threads."""
    opened: list[bytes] = []
    for sealed, place in found:
        try:
            opened.append(_decrypted(workspace_id, bytes(sealed), place))
        except (Tampered, keys.UnknownKey):
            break
    return _unpacked_all(opened)


def _decrypted(workspace_id: UUID, sealed: bytes, place: str) -> bytes:
    if not sealed:
        raise Erased(f"What stood in {place} was erased.")
    number = int.from_bytes(sealed[1:_HEAD], "big")
    if len(sealed) < _HEAD + _NONCE or sealed[:_HEAD] != _head(number):
        raise Tampered(f"What stands in {place} was never sealed here.")
    key = _known(workspace_id, number)
    nonce, body = sealed[_HEAD : _HEAD + _NONCE], sealed[_HEAD + _NONCE :]
    try:
        return AESGCM(key).decrypt(nonce, body, _bound(workspace_id, number, place))
    except InvalidTag:
        raise Tampered(f"What stands in {place} is not what was sealed there.") from None


def ensure(workspace_id: UUID) -> None:
    """Make the workspace's data key if it has none: called where workspaces are made, no later writer waits for it."""
    _in_use(workspace_id)


def renew(workspace_id: UUID) -> int | None:
    """Make a new data key, under the root key in use, if the newest is under an older one; its number. What is sealed
    from now on is sealed with it. In an open transaction."""
    known = DataKey.objects.filter(workspace_id=workspace_id).order_by("-number")
    # Locked first and asked again: a key that somebody made while we waited is not among the locked ones.
    list(known.select_for_update())
    newest = known.first()
    if newest is None or newest.root_number >= keys.current():
        return None
    return _make(workspace_id, newest.number + 1)


def rewrap(key: DataKey) -> bool:
    """Wrap a data key with the root key in use; what it sealed stays as it is. False if nothing was to be done. In an
    open transaction. Raises Tampered, keys.UnknownKey."""
    before = key.root_number
    if before >= keys.current():
        return False
    clear = _unwrapped(key)
    key.root_number = keys.current()
    same = DataKey.objects.filter(pk=key.pk, root_number=before)
    return same.update(root_number=key.root_number, wrapped=_wrapped(key, clear)) == 1


def forget() -> None:
    """Drop the unsealed data keys that this process holds."""
    _held.clear()
    _newest.clear()


def _head(number: int) -> bytes:
    return bytes([_FORMAT]) + number.to_bytes(2, "big")


def _bound(workspace_id: UUID, number: int, place: str) -> bytes:
    return b"placet seal 1\0" + workspace_id.bytes + number.to_bytes(2, "big") + place.encode()


def _packed(clear: bytes) -> bytes:
    clear = bytes(clear)
    small = _coders.pack.compress(clear) if len(clear) > _WORTH_COMPRESSING else clear
    return b"\2" + small if len(small) < len(clear) else b"\0" + clear


def _unpacked(packed: bytes) -> bytes:
    """What was packed; the first byte tells how. zlib (1) is what the first release wrote."""
    match packed[:1]:
        case b"\2":
            return _coders.unpack.decompress(packed[1:])
        case b"\1":
            return zlib.decompress(packed[1:])
    return packed[1:]


def _unpacked_all(packed: list[bytes]) -> list[bytes]:
    small: list[bytes | bytearray | memoryview] = [each[1:] for each in packed if each[:1] == b"\2"]
    if len(small) < _WORTH_A_THREAD:
        return [_unpacked(each) for each in packed]
    unpacked = iter(_coders.unpack.multi_decompress_to_buffer(small, threads=2))
    return [next(unpacked).tobytes() if each[:1] == b"\2" else _unpacked(each) for each in packed]


class _Coders(threading.local):
    """zstd of this thread: ten times as fast as zlib on a checkpoint, but one coder serves one thread at a time."""

    def __init__(self) -> None:
        self.pack = zstandard.ZstdCompressor(level=3)
        self.unpack = zstandard.ZstdDecompressor()


_coders: Final = _Coders()


# Data keys. Unsealed ones are held by database, workspace and number.

_held: dict[tuple[str, UUID, int], bytes] = {}
_newest: dict[tuple[str, UUID], tuple[int, float]] = {}


def _in_use(workspace_id: UUID) -> tuple[int, bytes]:
    number, until = _newest.get((_database(), workspace_id), (0, 0.0))
    if time.monotonic() >= until:
        number = _highest(workspace_id) or _make(workspace_id, 1)
        transaction.on_commit(partial(_note_newest, _database(), workspace_id, number))
    return number, _known(workspace_id, number)


def _note_newest(database: str, workspace_id: UUID, number: int) -> None:
    _newest[database, workspace_id] = (number, time.monotonic() + NEWEST_FOR)


def _highest(workspace_id: UUID) -> int | None:
    numbers = DataKey.objects.filter(workspace_id=workspace_id).order_by("-number")
    return numbers.values_list("number", flat=True).first()


def _make(workspace_id: UUID, number: int) -> int:
    """Whoever comes second waits for the first to commit and uses that one's key."""
    key = DataKey(workspace_id=workspace_id, number=number, root_number=keys.current())
    key.wrapped = _wrapped(key, AESGCM.generate_key(256))
    DataKey.objects.bulk_create([key], ignore_conflicts=True)
    return number


def _known(workspace_id: UUID, number: int) -> bytes:
    held = _held.get((_database(), workspace_id, number))
    if held is not None:
        return held
    key = DataKey.objects.filter(workspace_id=workspace_id, number=number).first()
    if key is None:
        raise Tampered(f"Data key {number} of this workspace does not exist.")
    clear = _unwrapped(key)
    # Held only after COMMIT: a key made by a transaction that rolls back must never seal anything that stays.
    transaction.on_commit(partial(_hold, _database(), workspace_id, number, clear))
    return clear


def _hold(database: str, workspace_id: UUID, number: int, clear: bytes) -> None:
    _held[database, workspace_id, number] = clear


def _database() -> str:
    return str(connection.settings_dict["NAME"])


def _wrapped(key: DataKey, clear: bytes) -> bytes:
    nonce = os.urandom(_NONCE)
    return nonce + AESGCM(keys.derive("sealing", key.root_number)).encrypt(nonce, clear, _wrapping(key))


def _unwrapped(key: DataKey) -> bytes:
    wrapped = bytes(key.wrapped)
    try:
        opened = AESGCM(keys.derive("sealing", key.root_number))
        return opened.decrypt(wrapped[:_NONCE], wrapped[_NONCE:], _wrapping(key))
    except (InvalidTag, ValueError):
        raise Tampered(f"Data key {key.number} of this workspace is not as it was made.") from None


def _wrapping(key: DataKey) -> bytes:
    return (
        b"placet key 1\0" + key.workspace_id.bytes + key.number.to_bytes(2, "big") + key.root_number.to_bytes(2, "big")
    )
