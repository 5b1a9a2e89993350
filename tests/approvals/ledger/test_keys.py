"""Keys outside the database: one per purpose, by number, and never a silent yes."""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import get_args

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.test import override_settings

from approvals.ledger import keys

ONE, TWO = b"1" * 32, b"2" * 32


def test_a_mac_is_made_with_the_derived_key_and_names_its_number() -> None:
    """AU-2: HKDF and HMAC as published, so that others can check."""
    with override_settings(PLACET_KEYS={1: ONE}):
        mac = keys.sign("ruling", b"data")
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"placet/1/ruling").derive(ONE)
    assert mac == b"\0\1" + hmac.digest(derived, b"data", sha256)


@override_settings(PLACET_KEYS={1: ONE})
def test_a_mac_holds_for_its_bytes_and_purpose_alone() -> None:
    """SC-3: keys differ by purpose."""
    mac = keys.sign("ruling", b"data")
    assert keys.holds("ruling", b"data", mac)
    assert keys.holds("ruling", b"data", memoryview(mac))
    for purpose, data, other in (
        ("decision", b"data", mac),
        ("ruling", b"date", mac),
        ("ruling", b"data", mac[:-1]),
        ("ruling", b"data", mac + b"\0"),
        ("ruling", b"data", b""),
        ("ruling", b"data", mac[:2] + bytes(32)),
    ):
        assert not keys.holds(purpose, data, other)  # type: ignore[arg-type]


def test_no_two_purposes_share_a_key() -> None:
    """SC-3."""
    with override_settings(PLACET_KEYS={1: ONE}):
        purposes = get_args(keys.Purpose)
        assert len({keys.derive(purpose, 1) for purpose in purposes}) == len(purposes)


def test_an_old_mac_holds_after_a_new_key_came() -> None:
    """AU-10: the highest number signs, each number verifies."""
    with override_settings(PLACET_KEYS={1: ONE}):
        old = keys.sign("policy", b"data")
    with override_settings(PLACET_KEYS={1: ONE, 2: TWO}):
        assert keys.holds("policy", b"data", old)
        assert keys.key_number(keys.sign("policy", b"data")) == 2


def test_a_key_that_is_missing_is_no_answer() -> None:
    """AU-10: neither yes nor no."""
    with override_settings(PLACET_KEYS={2: TWO}):
        mac = keys.sign("policy", b"data")
    with override_settings(PLACET_KEYS={1: ONE}), pytest.raises(keys.UnknownKey, match="no key 2"):
        keys.holds("policy", b"data", mac)


@pytest.mark.django_db
def test_keys_that_fit_are_noted_and_fit_again() -> None:
    for held in ({1: ONE}, {1: ONE, 2: TWO}, {1: ONE, 2: TWO}):
        with override_settings(PLACET_KEYS=held):
            keys.check_fits()
    assert list(keys.KeyCheck.objects.order_by("number").values_list("number", flat=True)) == [1, 2]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("held", "sentence"),
    [({1: TWO}, "Key 1 of PLACET_KEYS is not the key 1"), ({2: TWO}, "need key 1, which PLACET_KEYS does not hold")],
)
def test_keys_that_do_not_fit_the_data_refuse_to_start(held: dict[int, bytes], sentence: str) -> None:
    """AU-10: a sentence for whoever starts the process, which never holds a key."""
    keys.KeyCheck.objects.all().delete()
    with override_settings(PLACET_KEYS={1: ONE}):
        keys.check_fits()
    with override_settings(PLACET_KEYS=held), pytest.raises(keys.KeysDoNotFit, match=sentence):
        keys.check_fits()
