"""What a call would change, as the review page shows it: what its tool foresees, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from approvals import edits, previews
from approvals.edits.display import DOTS
from approvals.edits.places import at
from approvals.ledger.sealing import Tampered
from approvals.pages.cards import tool_of
from approvals.previews import Line

if TYPE_CHECKING:
    from approvals.pages.told import Told

SHORTEST: Final = 4
"""A secret of fewer characters is not looked for in what a tool says: it would be found everywhere."""


@dataclass(frozen=True)
class Seen:
    """What the tool foresees of the revision that people decide on; ``problem`` says why it says nothing."""

    lines: list[Line]
    when: datetime
    reader: str = ""
    problem: str = ""
    revision: int = 0
    """Of which earlier revision it was; 0 where it is the one that stands."""


def of(asked: Told) -> Seen | None:
    """What is shown of it; None where the tool of the call offers no preview."""
    found = previews.of(asked.approval) if asked.is_call else None
    if found is None:
        return None
    if found.revision != asked.approval.revision:
        return Seen([], found.made_at, revision=found.revision)
    try:
        foreseen = found.foreseen()
    except Tampered as fault:
        return Seen([], found.made_at, problem=str(fault))
    secrets = _secrets(asked)
    lines = [Line(**{name: _covered(text, secrets) for name, text in vars(line).items()}) for line in foreseen.lines]
    return Seen(lines, found.made_at, foreseen.reader, _covered(foreseen.problem, secrets))


def _secrets(asked: Told) -> list[str]:
    """The texts that no surface shows: a tool may repeat what it was given."""
    args = asked.last_args
    found: list[Any] = [at(args, pointer) for pointer in edits.secrets(args, tool_of(asked.approval))]
    return [each for each in found if isinstance(each, str) and len(each) >= SHORTEST]


def _covered(text: str, secrets: list[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, DOTS)
    return text
