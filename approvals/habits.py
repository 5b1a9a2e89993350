"""Habits: what stands out in how people decide is told to those who answer for the policy, without their asking.

The sweep looks every hour, and writes an entry into the workspace's chain whenever something else stands out than the
last time. Whoever wrote the policy in force, or administers the workspace, has it in the inbox until it is over.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import DatabaseError

from approvals import oversight, people, policies, rows
from approvals.ledger import about, entries, followed
from approvals.people import Person, Workspace

SPAN: Final = timedelta(days=30)
"""How far back is looked."""
EVERY: Final = 3600.0
"""Seconds between two looks of one process at one workspace."""
NOTICED: Final = "oversight.noticed"

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Noticed:
    """What stood out when it was looked at last, and when that was written."""

    facts: tuple[dict[str, Any], ...] = ()
    at: datetime | None = None

    def after(self, told: list[dict[str, Any]]) -> Noticed:
        return Noticed(tuple(told[-1]["facts"]), datetime.fromisoformat(told[-1]["at"]))

    @property
    def subjects(self) -> set[tuple[str, str]]:
        """Of whom or what something stands out, and what."""
        return {(fact["of"], fact["what"]) for fact in self.facts}


_TOLD = followed.Followed({NOTICED}, Noticed(), Noticed.after)


# Questions


@dataclass(frozen=True)
class Notice:
    """What somebody is told: sentences, and as of when."""

    sentences: tuple[str, ...]
    at: datetime | None


def for_reader(workspace: Workspace, reader: Person) -> Notice | None:
    """What stands out, for somebody who answers for the policy; None for anybody else, and where nothing does."""
    if not answers_for_policy(workspace, reader):
        return None
    try:
        told = _TOLD.of(workspace.pk)
    except about.Broken as fault:
        return Notice((str(fault),), None)
    return Notice(tuple(oversight.sentences(told.facts)), told.at) if told.facts else None


def answers_for_policy(workspace: Workspace, reader: Person) -> bool:
    """Whether somebody wrote the policy in force, or administers the workspace."""
    policy = policies.current(workspace.pk)
    return (policy is not None and policy.author_id == reader.pk) or people.may(reader, "administer", workspace)


# Verbs


def look(workspace_id: UUID) -> bool:
    """Write down what stands out in a workspace now, if it is not what was written last. Raises about.Broken."""
    with rows.within(workspace_id):
        facts = tuple(oversight.facts(oversight.report(workspace_id, SPAN)))
        if Noticed(facts).subjects == _TOLD.of(workspace_id).subjects:
            return False
        entries.append(workspace_id, followed.CHAIN, NOTICED, {"days": SPAN.days, "facts": list(facts)}, by=None)
    return True


def look_around() -> int:
    """Look at each workspace that this process has not looked at within the hour. Returns of how many something else
    stands out than before."""
    now = time.monotonic()
    due = [key for key in Workspace.objects.order_by("pk").values_list("pk", flat=True) if _NEXT.get(key, now) <= now]
    _NEXT.update(dict.fromkeys(due, now + EVERY))
    return sum(_look(key) for key in due)


_NEXT: Final[dict[UUID, float]] = {}
"""When this process looks at a workspace again, by its own clock."""


def _look(key: UUID) -> bool:
    try:
        return look(key)
    except (about.Broken, DatabaseError) as fault:
        log.error("How people decide in %s cannot be told: %s", key, fault)
        return False
