"""The bytes of a value: RFC 8785, and nothing that is not plain JSON."""

from __future__ import annotations

import hashlib
import math
import struct
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from approvals.ledger import canonical
from approvals.ledger.canonical import Unrepresentable, encode
from tests.approvals.ledger.test_reading import JSON

# RFC 8785, appendix B
VECTORS = """
0000000000000000 0
8000000000000000 0
0000000000000001 5e-324
8000000000000001 -5e-324
7fefffffffffffff 1.7976931348623157e+308
ffefffffffffffff -1.7976931348623157e+308
4340000000000000 9007199254740992
c340000000000000 -9007199254740992
4430000000000000 295147905179352830000
44b52d02c7e14af5 9.999999999999997e+22
44b52d02c7e14af6 1e+23
44b52d02c7e14af7 1.0000000000000001e+23
444b1ae4d6e2ef4e 999999999999999700000
444b1ae4d6e2ef4f 999999999999999900000
444b1ae4d6e2ef50 1e+21
3eb0c6f7a0b5ed8c 9.999999999999997e-7
3eb0c6f7a0b5ed8d 0.000001
41b3de4355555553 333333333.3333332
41b3de4355555554 333333333.33333325
41b3de4355555555 333333333.3333333
41b3de4355555556 333333333.3333334
41b3de4355555557 333333333.33333343
becbf647612f3696 -0.0000033333333333333333
43143ff3c1cb0959 1424953923781206.2
"""


@pytest.mark.parametrize("vector", VECTORS.split("\n")[1:-1])
def test_numbers_are_written_as_the_standard_says(vector: str) -> None:
    """CH-B145: the test vectors of RFC 8785."""
    bits, text = vector.split()
    assert encode(struct.unpack(">d", bytes.fromhex(bits))[0]).decode() == text


def test_keys_are_sorted_by_utf_16() -> None:
    """CH-B145: the example of RFC 8785, in which code points would give another order."""
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    written = canonical.parse(encode(dict.fromkeys(keys, 0)))
    assert list(written) == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


@given(JSON)
def test_the_reference_writes_the_same(value: Any) -> None:
    """CH-B145."""
    assert encode(value) == rfc8785.dumps(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_written_as_the_reference_writes_it(value: float) -> None:
    assert encode(value) == rfc8785.dumps(value)


class _Colour(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "pointer", "rule"),
    [
        (math.nan, "", "number"),
        ({"a": [math.inf]}, "/a/0", "number"),
        ({"a": 2**53}, "/a", "number"),
        ([(1, 2)], "/0", "type"),
        ({"when": datetime(2026, 11, 30, tzinfo=UTC)}, "/when", "type"),
        ({"a/b": {"c~d": {1}}}, "/a~1b/c~0d", "type"),
        ([Decimal("1.0")], "/0", "type"),
        ([b"a"], "/0", "type"),
        ([_Colour.RED], "/0", "type"),
        ({"a": {1: 2}}, "/a", "type"),
        ({"a": "\ud800"}, "/a", "surrogate"),
        ({"a": {"\0": 1}}, "/a", "nul"),
        ([object()], "/0", "type"),
    ],
)
def test_what_is_no_json_is_refused_at_its_place(value: Any, pointer: str, rule: str) -> None:
    """BD-9, JS-14."""
    with pytest.raises(Unrepresentable) as refusal:
        encode(value)
    assert (refusal.value.pointer, refusal.value.rule) == (pointer, rule)


def test_a_value_inside_itself_is_refused() -> None:
    """IN-E13: no recursion without end."""
    value: list[Any] = []
    value.append(value)
    with pytest.raises(Unrepresentable, match="nested too deeply"):
        encode(value)


def test_pointers_are_escaped_and_read_back() -> None:
    parts = ["a/b", "c~d", "", "~1", "0"]
    assert canonical.split(canonical.join(parts)) == parts
    assert (canonical.join([]), canonical.split("")) == ("", [])
    for text in ("a", "/~2", "/~"):
        with pytest.raises(ValueError, match="no JSON pointer"):
            canonical.split(text)


HEADER: dict[str, Any] = {"format": 1, "approval": "apr_1", "salt": "s", "workspace": "w", "rule": {"id": "r"}}


def test_a_digest_is_that_of_the_whole_object() -> None:
    """BD-1: the arguments' bytes go in as they are."""
    args: Any = {"amount": 4200, "note": "\u00e9"}
    whole = rfc8785.dumps({**HEADER, "args": args})
    assert canonical.action_digest(HEADER, encode(args)) == hashlib.sha256(whole).hexdigest()


def test_missing_null_and_empty_arguments_differ() -> None:
    """BD-4: and missing ones are refused."""
    assert canonical.action_digest(HEADER, b"{}") != canonical.action_digest(HEADER, b"null")
    with pytest.raises(ValueError, match="arguments' bytes"):
        canonical.action_digest(HEADER, b"")
    with pytest.raises(ValueError, match="without args"):
        canonical.action_digest({**HEADER, "args": {}}, b"{}")


def test_nothing_in_a_line_begins_another() -> None:
    """AU-9: separators that only some programs know are escaped too."""
    text = "a\nb\r\x1b[2J\x85\u2028\u2029\u202e\x00c"
    assert canonical.plain(text) == r"a\nb\r\u001b[2J\u0085\u2028\u2029\u202e\u0000c"
