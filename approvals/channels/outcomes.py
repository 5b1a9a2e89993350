"""What becomes of a call, in words, made once for every page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Outcome:
    """One outcome: the word of a list, of the state of a page, a line of a story, and what colour it has."""

    word: str
    state: str
    told: str
    tone: str

    @property
    def ink(self) -> str:
        """The class of text in this colour."""
        return {"good": "done", "bad": "danger", "wait": "waiting"}.get(self.tone, "")


OUTCOMES: Final = {
    "executed": Outcome("ran", "Done", "Ran, once", "good"),
    "failed": Outcome("failed", "Failed", "Failed", "bad"),
    "unknown": Outcome("outcome unknown", "Outcome unknown", "Outcome unknown. Not sent again by itself", "wait"),
}
FOUND: Final = Outcome("happened", "It happened", "It happened, as a person found", "good")
"""Executed, but the tool never said so: people looked."""
NONE: Final = Outcome("", "", "", "")


def outcome(name: str, *, found: bool = False) -> Outcome:
    """The words of an outcome; ``found``: people found that it happened."""
    return FOUND if found and name == "executed" else OUTCOMES.get(name, NONE)
