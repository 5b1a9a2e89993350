"""JSON text becomes one value, or a refusal that names the field, the rule, the line and the column."""

from __future__ import annotations

import json
import time
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.ledger import canonical, reading
from approvals.ledger.canonical import Unrepresentable, encode, parse
from approvals.ledger.json_values import Refused

# (fault ids, text, pointer, rule, line, column)
REFUSED = [
    ("IN-E1 JS-5", '{"a": [1, NaN]}', "/a/1", "number", 1, 11),
    ("IN-E1 JS-5", "[Infinity]", "/0", "number", 1, 2),
    ("IN-E1 JS-5", "-Infinity", "", "number", 1, 1),
    ("IN-E2 JS-5", '{"a": 1e400}', "/a", "number", 1, 7),
    ("IN-E4 BD-9 CH-B145", '{"amount": 9007199254740993}', "/amount", "number", 1, 12),
    ("IN-E4 BD-9", "[1234567890123456768]", "/0", "number", 1, 2),
    ("IN-E4 BD-9", "0.1000000000000000055511151231257827", "", "number", 1, 1),
    ("IN-E4 BD-9", "1e-400", "", "number", 1, 1),
    ("JS-5", "1" * 401, "", "number", 1, 1),
    ("IN-E5 BD-10 CH-B144", '{"a": 1,\n "a": 2}', "/a", "duplicate", 2, 2),
    ("IN-E6 BD-10 CH-B144", '{"a": 1, "\\u0061": 2}', "/a", "duplicate", 1, 10),
    ("IN-E5", '{"x": [{"b": {}, "b": {}}]}', "/x/0/b", "duplicate", 1, 18),
    ("IN-E51 JS-14 CH-B146", '{"note": "a\\u0000b"}', "/note", "nul", 1, 10),
    ("JS-14", '{"\\u0000": 1}', "", "nul", 1, 2),
    ("JS-14", '["\\ud800"]', "/0", "surrogate", 1, 2),
    ("JS-14", '["\ud800"]', "/0", "surrogate", 1, 2),
    ("JS-14", b'{"a": "\xff"}', "/a", "utf8", 1, 7),
    ("JS-14", b"\xff", "", "utf8", 1, 1),
    ("BD-11", b"\xef\xbb\xbf{}", "", "bom", 1, 1),
    ("BD-11", '{"a": 1} {}', "", "trailing", 1, 10),
    ("BD-11", '{"a": 1,}', "", "syntax", 1, 9),
    ("BD-11", "[1, ]", "/1", "syntax", 1, 5),
    ("BD-11", "[1 2]", "", "syntax", 1, 4),
    ("BD-11", '{"a" 1}', "/a", "syntax", 1, 6),
    ("BD-11", "{a: 1}", "", "syntax", 1, 2),
    ("BD-11", "{'a': 1}", "", "syntax", 1, 2),
    ("BD-11", "[01]", "/0", "syntax", 1, 2),
    ("BD-11", "[1.]", "/0", "syntax", 1, 2),
    ("BD-11", "[+1]", "/0", "syntax", 1, 2),
    ("BD-11", "[True]", "/0", "syntax", 1, 2),
    ("BD-11", '["a\nb"]', "/0", "syntax", 1, 4),
    ("BD-11", '["\\x"]', "/0", "syntax", 1, 3),
    ("BD-11", '["\\u12"]', "/0", "syntax", 1, 4),
    ("BD-11", '["a', "/0", "syntax", 1, 2),
    ("BD-11", "", "", "syntax", 1, 1),
    ("BD-11", "\n\n  [", "/0", "syntax", 3, 4),
]


@pytest.mark.parametrize(("ids", "text", "pointer", "rule", "line", "column"), REFUSED)
def test_a_refusal_names_the_place(
    ids: str, text: str | bytes, pointer: str, rule: str, line: int, column: int
) -> None:
    with pytest.raises(Unrepresentable) as refusal:
        parse(text)
    fault = refusal.value
    assert (fault.pointer, fault.rule, fault.line, fault.column) == (pointer, rule, line, column), ids


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e2", 100),
        ("42.0", 42),
        ("-0", 0),
        ("-0.0", 0),
        ("0e99999999999999999999", 0),
        ("0.10", 0.1),
        ("9007199254740991", 2**53 - 1),
        ("9007199254740992", 2.0**53),
        ("1e21", 1e21),
        ("295147905179352830000", 2.9514790517935283e20),
    ],
)
def test_a_number_that_keeps_its_value_is_read(text: str, value: float) -> None:
    """IN-E4, IN-E66: the spelling goes, the value stays; whole numbers are ints as far as they are exact."""
    read = parse(text)
    assert (read, type(read)) == (value, type(value))
    assert parse(encode(read)) == read


def test_two_keys_that_only_look_alike_stay_two() -> None:
    """IN-E8: composed and decomposed letters are different text and are not merged."""
    assert len(parse('{"\u00e9": 1, "e\u0301": 2}')) == 2


@pytest.mark.parametrize(
    "text", ["[" * 200_000, '{"a":' * 200_000, "[" * 65 + "]" * 65, "[" * 2_000 + "1" + "]" * 2_000]
)
def test_depth_is_refused_before_it_hurts(text: str) -> None:
    """IN-E13, JS-13: no nesting can exhaust the stack, and none takes long."""
    begin = time.process_time()
    with pytest.raises(Unrepresentable) as refusal:
        parse(text)
    assert refusal.value.rule == "depth"
    assert time.process_time() - begin < 0.5


def test_size_is_refused_before_reading() -> None:
    """IN-E15, JS-13: bytes of UTF-8 are counted, for text too, and nothing is parsed."""
    for text in (b"[" + b" " * canonical.MAX_BYTES, "\u20ac" * (canonical.MAX_BYTES // 3 + 1)):
        with pytest.raises(Unrepresentable, match="larger than 1,048,576 bytes"):
            parse(text)


def test_the_number_of_values_is_limited() -> None:
    """JS-13."""
    assert len(parse("[" + "1," * 98 + "1]", max_nodes=100)) == 99
    with pytest.raises(Unrepresentable) as refusal:
        parse("[" + "1," * 99 + "1]", max_nodes=100)
    assert (refusal.value.rule, refusal.value.pointer) == ("nodes", "/99")


def test_a_fault_never_repeats_text() -> None:
    """JS-6: what was typed may be a secret."""
    with pytest.raises(Unrepresentable) as refusal:
        parse('{"password": "hunter2\\u0000", "password": "hunter3"}')
    assert "hunter" not in str(refusal.value)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_characters="\0")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(JSON)
def test_writing_and_reading_undo_each_other(value: Any) -> None:
    """BD-11: one parse, one value."""
    assert parse(encode(value)) == value
    assert encode(parse(json.dumps(value))) == encode(value)


@given(JSON)
def test_what_we_wrote_ourselves_is_read_again_as_the_same(value: Any) -> None:
    """BD-11: a shorter way to the same value, types included."""
    written = encode(value)
    assert repr(reading.reread(written)) == repr(parse(written))


@given(
    JSON, st.integers(0, 200), st.sampled_from(['"', ",", "\\u00e9", "\\", "}", "[", "1", "e5", "\ud83d", "\0", " "])
)
def test_both_ways_of_reading_agree(value: Any, at: int, inserted: str) -> None:
    """BD-11: the quick reading takes nothing that the careful one refuses, and gives the same value."""
    text = json.dumps(value, ensure_ascii=False)
    text = text[: at % (len(text) + 1)] + inserted + text[at % (len(text) + 1) :]
    for whole in (True, False):
        careful = _outcome(partial(_carefully, text, whole))
        assert _outcome(partial(reading._plain, text, 64, 1_000, whole)) in (None, careful)


def test_a_whole_number_with_a_point_can_be_told_from_an_integer() -> None:
    """And both are written alike again."""
    text = '{"a": 1.0, "b": 1, "c": 2e0, "d": -0.0, "\\u0065": 3.0}'
    read = parse(text, whole=False)
    assert [type(each).__name__ for each in read.values()] == ["float", "int", "float", "float", "float"]
    assert encode(read) == encode(parse(text))


def _carefully(text: str, whole: bool) -> Any:
    return reading._Reader(text, 64, 1_000, True, whole).read()


def _outcome(read: Any) -> str | None:
    try:
        return repr(read())
    except (ValueError, Refused, reading._Unusual, RecursionError):
        return None
