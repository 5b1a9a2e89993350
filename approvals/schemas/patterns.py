"""Regular expressions of schemas, run by an engine whose time grows with the length of the text and never faster (RE2).

``\\d`` and ``\\w`` mean ASCII and ``$`` the very end, as in ECMAScript; in Python they would not.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import re2

from approvals.schemas.budgets import spend

LENGTH = 4096
PROGRAM = 5000
"""The longest pattern, and the largest program made from one, that is run; a repetition unfolds into its copies."""

_WORK_OF_A_STEP = 1500
_ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|.)", re.DOTALL
)


def runs(pattern: str) -> bool:
    """Whether the pattern is checked here; one with look-around, back-references or a huge repetition is not."""
    return _compiled(pattern) is not None


def found(pattern: str, text: str) -> bool | None:
    """Whether the pattern occurs in the text; None for a pattern that is not checked here. Costs steps."""
    engine = _compiled(pattern)
    if engine is None:
        return None
    data = text.encode("utf-8", "replace")
    spend(1 + len(data) * engine.programsize // _WORK_OF_A_STEP)
    return engine.search(data) is not None


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = 1 << 20
    try:
        engine = re2.compile(_ESCAPE.sub(_translated, pattern), options) if len(pattern) <= LENGTH else None
    except (re2.error, UnicodeEncodeError):
        return None
    return engine if engine is not None and engine.programsize <= PROGRAM else None


def _translated(found: re.Match[str]) -> str:
    """ECMAScript's ``\\u0041`` and surrogate pairs in RE2's spelling; other escapes stay as they are."""
    high, low, unit = found[1], found[2], found[3]
    if high:
        return f"\\x{{{0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00:x}}}"
    return f"\\x{{{unit}}}" if unit else found[0]
