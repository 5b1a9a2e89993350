"""What a draft would have changed: the calls of the last days of which it says something else, counted and listed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.utils.dateparse import parse_datetime

from approvals import policy_backtest, policy_uses, rows
from approvals.channels.card import number
from approvals.pages.matter import address_of
from approvals.pages.policy import telling
from approvals.pages.policy.telling import Names
from approvals.pages.ruled import joined
from approvals.people import Workspace
from approvals.policies import Opinion
from approvals.policy_backtest import Change, Sample

LISTED: Final = 50
"""So many changed calls are listed; all are counted."""


@dataclass(frozen=True)
class Backtest:
    """``kinds`` are what changed, the most frequent first; ``further`` leads to calls that are older."""

    sample: Sample
    kinds: list[tuple[str, int]]
    listed: list[tuple[Change, str, str]]
    further: str

    @property
    def more(self) -> int:
        """How many changed calls are counted and not listed."""
        return len(self.sample.changes) - len(self.listed)


def backtest(workspace: Workspace, document: Mapping[str, Any], names: Names, before: str) -> Backtest:
    """Look at the newest calls, or at those before a moment, as far as a page has time for."""
    since = rows.now() - timedelta(days=policy_uses.DAYS)
    found = policy_backtest.sample(workspace.pk, document, since=since, before=_moment(before))
    kinds = Counter(told(change, names) for change in found.changes)
    listed = [
        (change, told(change, names), address_of("call", workspace.slug, change.subject))
        for change in found.changes[:LISTED]
    ]
    return Backtest(found, kinds.most_common(), listed, found.reached.isoformat() if found.reached else "")


def told(change: Change, names: Names) -> str:
    """In what a call would have been judged otherwise: ``Would be asked of two of Finance instead of going``."""
    return f"Would {_would(change.after, names)} instead of {_was(change.before, names)}"


def _needs(opinion: Opinion, names: Names) -> str:
    needs = opinion.rule["approvals"] if opinion.rule else []
    return joined([f"{number(need['count'])} of {telling.name_of(need['team'], names)}" for need in needs])


def _would(opinion: Opinion, names: Names) -> str:
    said = {"allow": "go without asking", "deny": "be refused"}
    return said.get(opinion.verdict) or f"be asked of {_needs(opinion, names)} by {opinion.rule_id}"


def _was(opinion: Opinion, names: Names) -> str:
    said = {"allow": "going without asking", "deny": "being refused"}
    return said.get(opinion.verdict) or f"being asked of {_needs(opinion, names)} by {opinion.rule_id}"


def _moment(text: str) -> datetime | None:
    try:
        found = parse_datetime(text.replace(" ", "+")[:40])
    except ValueError:
        return None
    return found if found and found.tzinfo else None
