"""Where in a JSON text the value of a pointer begins."""

from __future__ import annotations

import json
import re
from typing import Any

from approvals.edits.places import below

_SPACE = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(r"[^\s,\]}]+")
_TEXTS = json.JSONDecoder()


def line_of(text: str, pointer: str) -> int:
    """The line, counted from 1, of the value at a pointer or of the nearest one around it. The text is valid JSON."""
    starts = positions(text)
    while pointer and pointer not in starts:
        pointer = pointer.rpartition("/")[0]
    return text.count("\n", 0, starts.get(pointer, 0)) + 1


def positions(text: str) -> dict[str, int]:
    """Where each value begins, for members where their name does. As far as the text can be read."""
    starts: dict[str, int] = {}
    try:
        _value(text, _skip(text, 0), "", starts)
    except (ValueError, IndexError, RecursionError):
        pass
    return starts


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, pointer: str, starts: dict[str, int]) -> int:
    """Note the value that begins here and give the place after it."""
    starts.setdefault(pointer, at)
    if text[at] in "{[":
        return _members(text, at + 1, pointer, starts, "}" if text[at] == "{" else "]")
    if text[at] == '"':
        return _string(text, at)[1]
    found = _SCALAR.match(text, at)
    if found is None:
        raise ValueError(at)
    return found.end()


def _members(text: str, at: int, pointer: str, starts: dict[str, int], end: str) -> int:
    at, index = _skip(text, at), 0
    while text[at] != end:
        name: Any = index
        inner = at
        if end == "}":
            name, at = _string(text, at)
            at = _skip(text, _skip(text, at) + 1)
        starts[below(pointer, name)] = inner
        at = _skip(text, _value(text, at, below(pointer, name), starts))
        at = _skip(text, at + 1) if text[at] == "," else at
        index += 1
    return at + 1


def _string(text: str, at: int) -> tuple[str, int]:
    value, end = _TEXTS.raw_decode(text, at)
    return str(value), end
