"""What commands print: one line for each write, whatever is in it.

Names, reasons and arguments come from agents. An escape sequence in them would clear the reader's terminal, and a line
break would write a line that Placet never said.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, OutputWrapper

from approvals.ledger import canonical


class Lines(OutputWrapper):
    """An output to which each write adds a line of printable characters; all others stand as their escapes."""

    def write(  # type: ignore[override]  # as Django's own, which is no stream's either
        self, msg: str = "", style_func: Callable[[str], str] | None = None, ending: str | None = None
    ) -> None:
        # With a style of its own only Django writes: what its checks of the settings found, on several lines.
        super().write(msg if style_func else canonical.plain(msg.removesuffix("\n")), style_func, ending)


def _lines(given: OutputWrapper) -> Lines:
    out: Any = given._out
    return Lines(out)


class PlainCommand(BaseCommand):
    """A command that prints lines. Whatever has several is written line by line."""

    @property
    def stdout(self) -> OutputWrapper:
        return self._stdout

    @stdout.setter
    def stdout(self, given: OutputWrapper) -> None:
        self._stdout = _lines(given)

    @property
    def stderr(self) -> OutputWrapper:
        return self._stderr

    @stderr.setter
    def stderr(self, given: OutputWrapper) -> None:
        self._stderr = _lines(given)
