"""How the page shows what was edited: in place, side by side or as the result, and compared with which revision.

Both are said by the address, so that a link shows to others what its sender saw.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from approvals import turns
from approvals.decisions import Decision
from approvals.pages.ruled import joined

if TYPE_CHECKING:
    from approvals.pages.told import Told

VIEWS: Final = {"changes": "Changes", "sides": "Side by side", "result": "Result"}
"""What the address says, and what the switch calls it; the first is shown where the address says nothing."""
FIRST: Final = next(iter(VIEWS))


@dataclass(frozen=True)
class Version:
    """A revision on the way from the proposal to the vote: who made it and what of it, and how to compare with it."""

    number: int
    text: str
    votes: str
    url: str
    compared: bool
    last: bool


def view_of(sent: Mapping[str, Any], asked: Told) -> dict[str, Any]:
    """What templates know of it."""
    view = str(sent.get("view", ""))
    view = view if view in VIEWS and asked.edited else FIRST
    return {
        "view": "" if view == FIRST else view,
        "result_only": view == "result",
        "sides": view == "sides",
        "views": [(name, _address(asked, asked.since, each), each == view) for each, name in VIEWS.items()],
        "versions": [_version(asked, number, view) for number in asked.revisions] if asked.edited else [],
    }


def _address(asked: Told, since: int, view: str) -> str:
    """The address of the page with this comparison; what goes without saying is not said."""
    query = {"since": since if since > 1 else "", "view": view if view != FIRST else ""}
    said = urlencode({name: value for name, value in query.items() if value})
    return f"{asked.url}{'?' if said else ''}{said}#what"


def _version(asked: Told, number: int, view: str) -> Version:
    made = asked.revisions[number]
    text = (
        f"{asked.name(made.editor) or 'Somebody'} changed {asked.changed_fields(number)}" if number > 1 else "Proposed"
    )
    last, compared = number == asked.approval.revision, number == asked.since
    shown = FIRST if view == "result" else view
    return Version(number, text, _votes(asked, number), "" if last else _address(asked, number, shown), compared, last)


def _votes(asked: Told, number: int) -> str:
    """Who said yes to it, whether or not that still counts."""
    given = turns.counting(one for one in asked.decisions if one.revision == number)
    names = [asked.name(one.person) for one in given if one.verdict == Decision.Verdict.APPROVE]
    return f"voted for by {joined(['you' if name == 'You' else name for name in names])}" if names else ""
