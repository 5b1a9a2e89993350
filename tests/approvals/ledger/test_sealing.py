"""What is sealed opens only where it was sealed, and a key that was never committed seals nothing that stays."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import override_settings

from approvals import rows
from approvals.ledger import keys, sealing
from approvals.ledger.sealing import DataKey, Tampered, seal, unseal
from approvals.people import Workspace
from tests.standing import founded

PLACE = "approvals_ruling.args:" + "0" * 32


@pytest.fixture(autouse=True)
def _no_keys_held() -> Iterator[None]:
    sealing.forget()
    yield
    sealing.forget()


@pytest.fixture
def northwind(db: None) -> Workspace:
    return founded("sealed", "Sealed")


@pytest.mark.parametrize("clear", [b"", b"{}", b"secret " * 1_000, bytes(range(256))])
def test_what_was_sealed_opens_in_its_place(northwind: Workspace, clear: bytes) -> None:
    sealed = seal(northwind.pk, clear, place=PLACE)
    assert unseal(northwind.pk, memoryview(sealed), place=PLACE) == clear
    assert len(sealed) <= len(clear) + 48
    assert not clear or clear not in sealed


def test_a_moved_ciphertext_fails(northwind: Workspace) -> None:
    """SC-1: in another row, another column, another workspace."""
    halden = founded("other", "Other")
    with rows.reading(halden):
        sealing.ensure(halden.pk)
    sealed = seal(northwind.pk, b"args", place=PLACE)
    for workspace, place in (
        (northwind, PLACE[:-1] + "1"),
        (northwind, PLACE.replace("args", "note")),
        (halden, PLACE),
    ):
        with rows.reading(workspace), pytest.raises(Tampered):
            unseal(workspace.pk, sealed, place=place)


def test_any_changed_byte_fails(northwind: Workspace) -> None:
    """SC-1: head, nonce, body and tag."""
    sealed = seal(northwind.pk, b"args", place=PLACE)
    for at in range(len(sealed)):
        with pytest.raises(Tampered):
            unseal(northwind.pk, sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :], place=PLACE)


@pytest.mark.parametrize("sealed", [b"", b"\1", b"\1\0\1" + bytes(11), b"clear text that was never sealed"])
def test_clear_text_is_never_taken_for_sealed(northwind: Workspace, sealed: bytes) -> None:
    """SC-1: no value is handed back because it could not be opened."""
    sealing.ensure(northwind.pk)
    with pytest.raises(Tampered):
        unseal(northwind.pk, sealed, place=PLACE)


def test_a_data_key_serves_its_own_workspace_alone(northwind: Workspace) -> None:
    """SC-1: swapped wrapped keys open nothing."""
    halden = founded("other", "Other")
    sealed = seal(northwind.pk, b"args", place=PLACE)
    with rows.reading(halden):
        sealing.ensure(halden.pk)
        wrapped = DataKey.objects.get().wrapped
    DataKey.objects.filter(workspace=northwind).update(wrapped=wrapped)
    sealing.forget()
    with pytest.raises(Tampered, match="not as it was made"):
        unseal(northwind.pk, sealed, place=PLACE)


def test_what_an_old_root_key_wrapped_opens_beside_a_new_one(northwind: Workspace) -> None:
    """SC-1: two keys at once while they change; without the old one it is an error."""
    with override_settings(PLACET_KEYS={1: b"1" * 32}):
        sealed = seal(northwind.pk, b"args", place=PLACE)
    sealing.forget()
    with override_settings(PLACET_KEYS={1: b"1" * 32, 2: b"2" * 32}):
        assert unseal(northwind.pk, sealed, place=PLACE) == b"args"
    sealing.forget()
    with override_settings(PLACET_KEYS={2: b"2" * 32}), pytest.raises(keys.UnknownKey):
        unseal(northwind.pk, sealed, place=PLACE)


@pytest.mark.committed
def test_a_key_that_was_rolled_back_seals_nothing_that_stays() -> None:
    """SC-1: the next transaction makes a key of its own."""
    northwind = founded("sealed", "Sealed")
    with transaction.atomic():
        seal(northwind.pk, b"lost", place=PLACE)
        transaction.set_rollback(True)
    sealed = seal(northwind.pk, b"kept", place=PLACE)
    sealing.forget()
    assert unseal(northwind.pk, sealed, place=PLACE) == b"kept"


@pytest.mark.committed
def test_first_writers_at_once_share_one_key(together: Callable[..., list[Any]]) -> None:
    northwind = founded("sealed", "Sealed")

    def write() -> bytes:
        with rows.within(northwind):
            return seal(northwind.pk, b"args", place=PLACE)

    sealed = together(*[write] * 8)
    assert DataKey.objects.filter(workspace=northwind).count() == 1
    sealing.forget()
    assert [unseal(northwind.pk, each, place=PLACE) for each in sealed] == [b"args"] * 8


def test_what_the_first_release_compressed_still_opens(northwind: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """DU-L11: zlib was the first form."""
    with monkeypatch.context() as first:
        first.setattr(sealing, "_packed", lambda clear: b"\1" + zlib.compress(clear))
        sealed = seal(northwind.pk, b"args " * 100, place=PLACE)
    assert unseal(northwind.pk, sealed, place=PLACE) == b"args " * 100


def test_nothing_at_all_is_told_apart_as_erased(northwind: Workspace) -> None:
    with pytest.raises(sealing.Erased, match="was erased"):
        unseal(northwind.pk, b"", place=PLACE)
