"""What JSON can carry exactly: the faults of text and numbers, and the pointers that say where they are."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from decimal import Decimal

import rfc8785

SAFE_INTEGER = 2**53 - 1

_NUMBER_LENGTH = 400
SURROGATE = re.compile(r"[\ud800-\udfff]")


class Unrepresentable(ValueError):
    """What cannot be carried exactly as JSON: where, by which rule, and why. The message never repeats a string value.

    ``pointer`` is a JSON pointer; ``line`` and ``column`` count from 1, and are None unless a text was read.
    """

    def __init__(
        self, pointer: str, rule: str, message: str, line: int | None = None, column: int | None = None
    ) -> None:
        super().__init__(pointer, rule, message, line, column)
        self.pointer, self.rule, self.message, self.line, self.column = pointer, rule, message, line, column

    def __str__(self) -> str:
        place = f" (line {self.line}, column {self.column})" if self.line else ""
        return f"{self.pointer or 'The value'}: {self.message}{place}"


def join(parts: Sequence[str | int]) -> str:
    """The JSON pointer (RFC 6901) of a path."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def split(pointer: str) -> list[str]:
    """The path of a JSON pointer. Raises ValueError for text that is none."""
    if (pointer and not pointer.startswith("/")) or re.search(r"~(?![01])", pointer):
        raise ValueError(f"{pointer!r} is no JSON pointer.")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


class Refused(Exception):
    """A fault on its way up, gathering the path from its end; whoever knows the place makes it an `Unrepresentable`."""

    def __init__(self, rule: str, message: str) -> None:
        self.rule, self.message, self.path = rule, message, list[str | int]()


FLAWS = {
    "nul": "The character U+0000 cannot be stored.",
    "surrogate": "Half of a surrogate pair is no character.",
}


def flaw(text: str) -> str:
    """The key in FLAWS of what keeps the text from being stored or sent, else nothing."""
    if "\0" in text:
        return "nul"
    return "" if text.isascii() or not SURROGATE.search(text) else "surrogate"


def plain(text: str) -> str:
    """A text on one line of printable characters: what would begin a line or hide on it is written as its escape."""
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def exact(token: str) -> int | float:
    """The value of a number's text. Refused if RFC 8785 would write another value, which a receiver might then read."""
    if len(token) < 16 and token.lstrip("-").isdigit():
        return int(token)
    if len(token) > _NUMBER_LENGTH:
        raise Refused("number", f"A number has at most {_NUMBER_LENGTH} characters.")
    value = float(token)
    if value in (float("inf"), float("-inf")):
        raise Refused("number", "This number is too large: send it as text.")
    if repr(value) == token:
        return _whole(value)
    # A mantissa of zeros comes first: its exponent may be beyond what Decimal reads.
    if not re.split("[eE]", token)[0].strip("-0."):
        return 0
    written = rfc8785.dumps(value).decode()
    if value == 0 or Decimal(written) != Decimal(token):
        raise Refused("number", f"This number is not carried exactly, it would become {written}: send it as text.")
    return _whole(value)


def _whole(value: float) -> int | float:
    return int(value) if value.is_integer() and abs(value) <= SAFE_INTEGER else value
