"""What cannot be seen is shown, long gaps are counted, and look-alike letters are warned of."""

from __future__ import annotations

import time

import pytest

from approvals import masks
from approvals.edits import marks
from approvals.edits.marks import Segment

UNSEEN = {
    "controls": "\u0007\u001b\u0085\t\r",
    "formats": "\u200b\u200d\u2060\ufeff\u00ad\u180e\ufff9\U0001d173",
    "directions": "\u202e\u2066\u200f",
    "separators": "\u2028\u2029",
    "fillers": "\u3164\uffa0\u115f\u1160\u2800\u034f\u17b4",
    "selectors": "\ufe0f\U000e0100\u180b",
    "tags": "\U000e0041\U000e007f",
    "private and unassigned": "\ue000\U000f0000\ufdd0\u0378",
    "spaces": "\u00a0\u2003\u3000",
}


@pytest.mark.parametrize("char", "".join(UNSEEN.values()))
def test_a_character_that_cannot_be_seen_is_a_sign(char: str) -> None:
    """RN-5 AP-X5 AP-X6 IN-E9: whatever draws nothing, or moves what is drawn."""
    code = f"U+{ord(char):04X}"
    found = marks.segments(f"a{char}b")
    assert [segment.text for segment in found] == ["a", code, "b"]
    assert found[1].mark == "sign"
    assert marks.escaped(f"a{char}b") == f"a\\u{{{ord(char):04x}}}b"
    assert marks.count(f"a{char}b") == 1


SEEN = ["plain", "Grüße, Ω 12 °C", "日本語", "a\nb\nc", "“quoted” – 10 %", "👍", "naïve", "a  b"]


@pytest.mark.parametrize("text", SEEN)
def test_text_that_can_be_seen_stays_as_it_is(text: str) -> None:
    """AP-X2: marks are for what needs them."""
    assert marks.segments(text) == (Segment(text),)
    assert marks.count(text) == 0


def test_the_end_of_a_padded_text_stays_in_sight() -> None:
    """RN-8 AP-X6: 2,900 spaces and 40 empty lines are two counts."""
    shown = marks.escaped("rm file" + " " * 2900 + "; rm -rf /" + "\n" * 40 + "now")
    assert shown == "rm file[2,900 spaces]; rm -rf /\n[39 blank lines]now"


def test_a_run_of_one_invisible_character_is_counted() -> None:
    """RN-5: many equal ones are said once, with their number; nothing is left out."""
    assert marks.segments("x" + "\u00a0" * 2900 + "y")[1].text == "U+00A0 × 2,900"
    assert marks.count("x" + "\u00a0" * 2900) == 2900


def test_every_piece_is_there() -> None:
    """RN-7 AP-X2: the pieces make up the whole text."""
    text = "a\u200b b" * 50
    shown = "".join(segment.text for segment in marks.segments(text))
    assert shown.replace("U+200B", "\u200b") == text


def test_uniform_line_ends_are_no_marks() -> None:
    """RN-5: CR LF all through is a kind of text; a lone CR can hide a line."""
    assert marks.segments("a\r\nb\r\n") == (Segment("a\nb\n"),)
    assert [segment.text for segment in marks.segments("safe\rrm -rf")] == ["safe", "U+000D", "rm -rf"]


def test_where_the_first_invisible_character_stands() -> None:
    """AP-X6: the form says the code point and the word before it."""
    assert marks.first_unseen("two pallets\u200b arrived") == "U+200B, after “pallets”"
    assert marks.first_unseen("\u202ex") == "U+202E, at the start"
    assert marks.take_out("two pallets\u200b arrived") == "two pallets arrived"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("https://раypal.com/login", "its address is xn--ypal-43d9g.com"),
        ("write to ap@аcme.example now", "its address is xn--cme-5cd.example"),
        ("раypal.com", "its address is xn--ypal-43d9g.com"),
        ("https://münchen.example/", "xn--mnchen-3ya.example"),
        ("https://xn--ypal-43d9g.com/", "is the plain form of раypal.com"),
        ("https://bank.example@evil.example/", "the host is evil.example"),
        ("/srv/dаta/backup", "mixes Latin and Cyrillic letters (U+0430)"),
        ("${SECRET} and more", "is passed on as it stands"),
        ("Dear {{ name }}", "is passed on as it stands"),
    ],
)
def test_what_only_looks_like_something_is_warned_of(text: str, part: str) -> None:
    """RN-6 AP-X6 IN-E62: hosts and e-mails with their plain form, mixed words with the odd letters, templates."""
    assert any(part in warning for warning in marks.warnings(text)), marks.warnings(text)


ORDINARY = ["https://example.com/a?b=c", "ap@acme.example", "Москва и Киев", "iPhone用ケース", "$5 {a}"]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_texts_are_not_warned_of(text: str) -> None:
    """RN-6: a warning on everything is read by nobody."""
    assert marks.warnings(text) == ()


@pytest.mark.parametrize(
    "part", ["a", "a.", "a@", "{{", "${", "a+", "://", "é.", "\u200b", " ", "\n ", "xn--", "-----BEGIN "]
)
def test_no_text_takes_long(part: str) -> None:
    """JS-3: texts come from agents; what is looked for in them is looked for in one go."""
    text = part * (200_000 // len(part))
    began = time.process_time()
    marks.warnings(text)
    marks.segments(text)
    masks.looks_secret(text)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("text", "way"), [("", "ltr"), ("12 €", "ltr"), ("12 وصلت two", "rtl"), ("two وصلت", "ltr"), ("\u202eabc", "ltr")]
)
def test_a_text_runs_the_way_of_its_first_letter(text: str, way: str) -> None:
    """RN-5: no invisible character turns it round."""
    assert marks.direction(text) == way
