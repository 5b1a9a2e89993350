"""What a terminal is told: one calm line for each step."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


def _can_draw() -> bool:
    try:
        "✓·".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


DONE, DOING, WRONG = ("✓", "·", "✗") if _can_draw() else ("+", "-", "!")


def say(line: str = "") -> None:
    """A line, at once."""
    print(f"  {line}" if line else "", flush=True)


@contextmanager
def step(name: str) -> Iterator[list[str]]:
    """Announce a step and confirm it when it is done; what the block appends to the list is said beside it."""
    alive = sys.stdout.isatty()
    if alive:
        print(f"  {DOING} {name} …", end="", flush=True)
    began, notes = time.monotonic(), list[str]()
    try:
        yield notes
    except BaseException:
        print(f"\r\x1b[K  {WRONG} {name}" if alive else f"  {WRONG} {name}", flush=True)
        raise
    took = time.monotonic() - began
    words = [*notes, *([f"{took:.0f} s"] if took >= 1 else [])]
    line = f"  {DONE} {name:<14} {' · '.join(words)}".rstrip()
    print(f"\r\x1b[K{line}" if alive else line, flush=True)
