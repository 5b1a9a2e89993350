"""Requested changes as a form: one line of text for each field of the call, and one for the call as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from approvals import words
from approvals.edits import marks
from approvals.ledger import canonical

MOST: Final = 20
"""So many fields have a line of their own; what else there is to say belongs to the whole."""


@dataclass(frozen=True)
class Wish:
    """What a person wants otherwise in one field, as far as they wrote it."""

    number: int
    pointer: str
    label: str
    text: str = ""

    @property
    def name(self) -> str:
        """What the form calls it."""
        return f"change-{self.number}"


def read(sent: Mapping[str, Any], args: Any) -> list[Wish]:
    """The lines for these arguments, with what was sent."""
    names = sorted(args)[:MOST] if isinstance(args, dict) else []
    fields = [("", "The call as a whole"), *((canonical.join([name]), marks.escaped(name)) for name in names)]
    return [Wish(number, at, label, str(sent.get(f"change-{number}", ""))) for number, (at, label) in enumerate(fields)]


def changes(wishes: list[Wish]) -> list[tuple[str, str]]:
    """Pointer and words of each line that says something."""
    return [(wish.pointer, wish.text.replace("\r\n", "\n")) for wish in wishes if words.spoken(wish.text)]
