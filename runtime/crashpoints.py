"""Named places in the protocol at which a test may end the process, as a power cut would.

``PLACET_CRASH_AT=intent.after`` kills the process with SIGKILL the first time it comes there, ``intent.after#3`` the
third time, and ``send.after:stop`` suspends it with SIGSTOP instead, so that it can wake up long after its lease has
gone; ``send.after:throw`` raises an error that nobody expects, and the process lives on. ``PLACET_CRASH_AT=@/path``
reads the same words from a file each time, and removes it at the point: so a worker is armed while it runs, once.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final

POINTS: Final = frozenset(
    {
        "claim.after",
        "step.before",
        "step.after",
        "stop.before",
        "stop.after",
        "pass.before",
        "pass.after",
        "suspend.before",
        "suspend.after",
        "later.before",
        "later.after",
        "sleep.before",
        "sleep.after",
        "intent.before",
        "intent.after",
        "send.before",
        "send.after",
        "result.before",
        "result.after",
        "refuse.before",
        "refuse.after",
    }
)


class Thrown(Exception):
    """An error that nobody expects, at a point where a test wanted one."""


_visits: Counter[str] = Counter()


def reach(name: str) -> None:
    """Say that the process has come to this point. Does nothing unless the environment names it. Raises ValueError
    for an unknown one."""
    if name not in POINTS:
        raise ValueError(f"{name} is no crash point.")
    wanted = os.environ.get("PLACET_CRASH_AT", "")
    if wanted.startswith("@"):
        _reach_if_named(name, Path(wanted[1:]))
    elif wanted:
        place, _, way = wanted.partition(":")
        point, _, turn = place.partition("#")
        _visits[name] += 1
        if point == name and _visits[name] == int(turn or 1):
            _end(name, way)


def _reach_if_named(name: str, file: Path) -> None:
    with suppress(FileNotFoundError):
        point, _, way = file.read_text().strip().partition(":")
        if point == name:
            file.unlink()
            _end(name, way)


def _end(name: str, way: str) -> None:
    if way == "throw":
        raise Thrown(f"Thrown at {name}.")
    os.kill(os.getpid(), signal.SIGSTOP if way == "stop" else signal.SIGKILL)
