"""What a schema says of a value besides its type, in a sentence beside its field."""

from __future__ import annotations

from typing import Any

from approvals.edits import marks, money, shapes
from approvals.edits.display import counted

_FORMATS = {
    "date": "A date, such as 2026-12-04",
    "time": "A time with its zone, such as 14:30:00Z",
    "date-time": "A point in time, such as 2026-12-04T14:30:00Z",
    "duration": "A duration, such as PT15M",
    "email": "An e-mail address",
    "uri": "An address with its scheme, such as https://example.com",
    "uuid": "A UUID",
    "ipv4": "An IPv4 address",
    "ipv6": "An IPv6 address",
    "hostname": "A host name",
}
PATTERN_MAX = 120
"""A longer pattern is not told: the sentence of a fault still names it."""
EVERY = 2**53 - 1
"""The largest whole number that travels unharmed as JSON: a limit that is not worth a word."""


def words(flat: shapes.Node, code: str = "") -> str:
    """The limits of a text or a number, such as "1 to 10,080."; those of an amount in its currency."""
    if code:
        return _sentences(_amounts(flat, code))
    match shapes.kind(flat):
        case "number":
            return _sentences(_range(flat, "minimum", "maximum"), _exclusive(flat), _steps(flat))
        case "text":
            length = _range(flat, "minLength", "maxLength", "character")
            return _sentences(_form(flat), length, _pattern(flat))
    return ""


def entries(flat: shapes.Node, number: int) -> str:
    """How many entries a list has, and how many it may have: "2 of at most 5"."""
    most, least = _number(flat.get("maxItems")), _number(flat.get("minItems"))
    if most is not None:
        return f"{number:,} of at most {most:,}"
    return f"{number:,} of at least {least:,}" if least else counted(number, "entry", "entries")


def _sentences(*parts: str) -> str:
    return " ".join(part + "." for part in parts if part)


def _range(flat: shapes.Node, low: str, high: str, noun: str = "") -> str:
    least, most = _number(flat.get(low)), _number(flat.get(high))
    most = None if most is not None and most >= EVERY else most
    unit = f" {noun}s" if noun else ""
    if least is not None and most is not None and (least or not noun):
        return f"{least:,} to {most:,}{unit}"
    if most is not None:
        return f"At most {most:,}{unit}"
    return f"At least {least:,}{unit}" if least is not None and (least > 1 or not noun) else ""


def _amounts(flat: shapes.Node, code: str) -> str:
    least, most = (money.readable(flat.get(word), code) for word in ("minimum", "maximum"))
    most = None if (_number(flat.get("maximum")) or 0) >= EVERY else most
    if least and most:
        return f"{least} to {most}"
    return f"At most {most}" if most else f"At least {least}" if least else ""


def _exclusive(flat: shapes.Node) -> str:
    above, under = _number(flat.get("exclusiveMinimum")), _number(flat.get("exclusiveMaximum"))
    told = [f"more than {above:,}" if above is not None else "", f"less than {under:,}" if under is not None else ""]
    return " and ".join(part for part in told if part).capitalize()


def _steps(flat: shapes.Node) -> str:
    step = _number(flat.get("multipleOf"))
    return f"A multiple of {step:,}" if step is not None and step != 1 else ""


def _form(flat: shapes.Node) -> str:
    name = flat.get("format")
    return _FORMATS.get(name, f"Format: {marks.escaped(name)}") if isinstance(name, str) else ""


def _pattern(flat: shapes.Node) -> str:
    pattern = flat.get("pattern")
    return f"Pattern: {marks.escaped(pattern)}" if isinstance(pattern, str) and len(pattern) <= PATTERN_MAX else ""


def _number(value: Any) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
