"""One value in words and signs: typed, complete, with a note for what the eye cannot tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from approvals.edits import marks, money
from approvals.edits.marks import Segment
from approvals.ledger import canonical

PROSE_FROM = 80
"""A longer text takes the full width as prose."""
INLINE_MAX = 80
"""A list of plain values up to so many characters stands in one row; a longer one has a row for each entry."""
FOLD_FROM = 1_500
"""A text of more characters can be folded by who has read it. It is never folded by itself."""
DOTS = "•" * 16

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_KINDS = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    list: "list",
    dict: "object",
    type(None): "null",
}


@dataclass(frozen=True)
class Shown:
    """How a value is shown. ``readable`` leads where it is given; ``secret`` says why a value is masked."""

    kind: str
    segments: tuple[Segment, ...]
    note: str = ""
    readable: str = ""
    secret: str = ""
    prose: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def long(self) -> bool:
        """Whether a reader may want to fold it."""
        return self.prose and sum(len(segment.text) for segment in self.segments) > FOLD_FROM

    @property
    def plain(self) -> str:
        """The value as one line of text, for a title, a label or a screen reader."""
        return self.readable or "".join(segment.text for segment in self.segments)


def shown(
    value: Any, *, secret: str | None = None, code: str | None = None, node: Mapping[str, Any] | None = None
) -> Shown:
    """The value as it is shown; ``secret`` masks it, ``code`` is the currency of an amount, ``node`` its schema."""
    kind = _KINDS[type(value)]
    if secret:
        return Shown(kind, (Segment(DOTS),), _masked_note(value), secret=secret)
    if isinstance(value, str):
        return _shown_text(value, node or {})
    if isinstance(value, list | dict):
        return _shown_container(value, kind)
    literal = canonical.encode(value).decode()
    if readable := money.readable(value, code):
        return Shown(kind, (Segment(literal),), f"sent as {literal}", readable)
    return Shown(kind, (Segment(literal),))


def inline(value: Any) -> Shown | None:
    """A short list of plain values in one row, each entry in quotes if it is text; None if it does not fit."""
    if not isinstance(value, list) or not value or any(isinstance(entry, list | dict) for entry in value):
        return None
    text = "[" + ", ".join(canonical.encode(entry).decode() for entry in value) + "]"
    if len(text) > INLINE_MAX or any(isinstance(entry, str) and "\n" in entry for entry in value):
        return None
    texts = [entry for entry in value if isinstance(entry, str)]
    warnings = tuple(dict.fromkeys(warning for entry in texts for warning in marks.warnings(entry)))
    note = joined(f"list of {len(value)}", _unseen_note(sum(map(marks.count, texts))))
    return Shown("list", marks.segments(text), note, warnings=warnings)


def joined(*notes: str) -> str:
    """Several notes as one."""
    return ", ".join(note for note in notes if note)


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: "1 entry", "2,000 entries"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _masked_note(value: Any) -> str:
    if isinstance(value, str):
        return f"masked, {counted(len(value), 'character')}"
    return f"masked, {_KINDS[type(value)]}"


def _shown_text(value: str, node: Mapping[str, Any]) -> Shown:
    prose = "\n" in value or len(value) > PROSE_FROM
    length = counted(len(value), "character") if prose else ""
    lines = counted(value.count("\n") + 1, "line") if "\n" in value else ""
    ends = "" if "\r\n" not in value or marks.mixed_line_ends(value) else "lines end with CR LF"
    quoted = not prose and _reads_as_other(value)
    kind = "empty text" if not value else "text" if quoted else ""
    note = joined(_when(value, node), kind, length, lines, ends, _unseen_note(marks.count(value)))
    pieces = marks.segments(value)
    pieces = (Segment('"'), *pieces, Segment('"')) if quoted else pieces
    return Shown("string", pieces, note, prose=prose, warnings=marks.warnings(value))


def _reads_as_other(value: str) -> bool:
    """Whether the bare text could be taken for another kind of value, or for another text."""
    return (
        value in ("", "true", "false", "null")
        or value[0] in '"[{'
        or value != value.strip()
        or bool(_NUMBER.fullmatch(value))
    )


def _unseen_note(number: int) -> str:
    return counted(number, "invisible character") if number else ""


def _when(value: str, node: Mapping[str, Any]) -> str:
    """The day of a date or of a point in time, where the schema says that the text is one."""
    try:
        if node.get("format") == "date":
            return _day(date.fromisoformat(value))
        if node.get("format") == "date-time":
            moment = datetime.fromisoformat(value)
            zone = moment.tzname() or "no time zone"
            return f"{_day(moment)}, {moment:%H:%M} {zone}"
    except ValueError:
        pass
    return ""


def _day(day: date) -> str:
    return f"{day:%A} {day.day} {day:%B} {day.year}"


def _shown_container(value: list[Any] | dict[str, Any], kind: str) -> Shown:
    if not value:
        return Shown(kind, (Segment("[]" if kind == "list" else "{}"),), f"empty {kind}")
    if kind == "list":
        return Shown(kind, (Segment(f"list of {len(value):,}"),))
    return Shown(kind, (Segment(f"object, {counted(len(value), 'entry', 'entries')}"),))
