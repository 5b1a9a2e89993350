"""Filing: the ledger's entries by who, what and when, so that a page finds a few among many.

An index and nothing more: what a page tells of an entry it reads from the entry itself. It is written after the entries
and beside the way of a verdict: by the sweep, and by whoever looks.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import connection, models

from approvals import rows
from approvals.ledger import about, canonical, followed
from approvals.ledger.entries import Entry
from approvals.rulings import Ruling

MOST: Final = 1_000
"""So many entries are filed at once while somebody waits."""
BACK: Final = timedelta(seconds=20)
"""An entry has its time shortly before it is committed: so far before the last one that was filed is looked again."""
FAR_BACK: Final = timedelta(minutes=10)
"""And so far where nobody waits for the answer."""
MANY: Final = 5_000
"""So many are filed at once there."""
EVERY: Final = 3600.0
"""Seconds between two looks of one process at all that a workspace has."""
AT_MOST: Final = 3.0
"""Seconds for which the sweep files a workspace before it looks at other things again."""


class Filed(rows.Row):
    """Where one entry is found; its key is the entry's. ``about`` is the approval or call of which it tells, empty for
    what concerns the workspace alone."""

    PREFIX = "fil"

    created_at = None  # type: ignore[assignment] # leaves the field out
    at = models.DateTimeField()
    seq = models.BigIntegerField()
    by = models.CharField(max_length=40)
    about = models.CharField(max_length=80, blank=True)
    tool = models.CharField(max_length=200, blank=True)
    agent = models.CharField(max_length=120, blank=True)
    via = models.CharField(max_length=16, blank=True)
    verdict = models.CharField(max_length=16, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["workspace", "-at"], name="filed_by_time"),
            models.Index(fields=["workspace", "by", "-at"], name="filed_by_whom"),
            models.Index(fields=["workspace", "tool", "-at"], name="filed_of_a_tool"),
            models.Index(fields=["workspace", "agent", "-at"], name="filed_of_an_agent"),
            models.Index(fields=["workspace", "via", "-at"], name="filed_through"),
            models.Index(fields=["workspace", "verdict", "-at"], name="filed_as"),
        ]


class _Line(NamedTuple):
    id: UUID
    chain_id: UUID
    chain: str
    seq: int
    kind: str
    body: bytes
    at: datetime


# The verbs


def file_new(workspace_id: UUID) -> bool:
    """File what was entered since the last time. Returns whether there is more of it."""
    return file_since(workspace_id, _last(workspace_id, BACK), MOST) is not None


def file_all() -> None:
    """File what is new in every workspace, for a bounded time each; once an hour also what lies further back, as where
    a clock was put back."""
    for workspace_id in rows.every_workspace():
        now = time.monotonic()
        whole = _NEXT.get(workspace_id, now) <= now
        since = None if whole else _last(workspace_id, FAR_BACK)
        begun = False
        while (since is not None or not begun) and time.monotonic() < now + AT_MOST:
            since, begun = file_since(workspace_id, since, MANY), True
        if whole and since is None:
            _NEXT[workspace_id] = now + EVERY


def file_since(workspace_id: UUID, since: datetime | None, most: int) -> datetime | None:
    """File what was entered since then, the oldest first. Returns from when on there is more of it."""
    with rows.within(workspace_id):
        # By Django's cursor: a statement that is prepared is planned without knowing how little lies behind a moment.
        with connection.cursor() as cursor:
            cursor.execute(_NEW, {"workspace": workspace_id, "since": since or "-infinity", "most": most})
            found = [_Line(*line) for line in cursor.fetchall()]
        if found:
            known = _Known.of(workspace_id, found)
            made = [known.filed(line) for line in found]
            Filed.objects.bulk_create(made, batch_size=500, ignore_conflicts=True)
    return found[-1].at if len(found) == most else None


_NEXT: Final[dict[UUID, float]] = {}
"""When this process looks through all of a workspace again, by its own clock."""


def _last(workspace_id: UUID, back: timedelta) -> datetime | None:
    with rows.reading(workspace_id):
        last = Filed.objects.filter(workspace_id=workspace_id).aggregate(at=models.Max("at"))["at"]
    return last - back if last else None


# The last ones are found by a summary of the blocks that they lie in: no index grows with each entry that is written.
_NEW: Final = """
    SELECT e.id, e.chain_id, c.name, e.seq, e.kind, e.body, e.at
    FROM approvals_entry e JOIN approvals_chain c ON c.id = e.chain_id
    WHERE e.workspace_id = %(workspace)s AND e.at >= %(since)s::timestamptz
        AND NOT EXISTS (SELECT FROM approvals_filed f WHERE f.id = e.id)
    ORDER BY e.at, e.seq LIMIT %(most)s
"""


# What is known of entries beside their own words


@dataclass
class _Known:
    """Which agent each chain is of, and which tool and agent each call."""

    workspace_id: UUID
    agents: Mapping[str, str] = field(default_factory=dict)
    chains: Mapping[UUID, str] = field(default_factory=dict)
    calls: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, workspace_id: UUID, found: Iterable[_Line]) -> _Known:
        lines = list(found)
        subjects = {str(body["subject"]) for line in lines if (body := read(line.body)).get("subject")}
        ruled = Ruling.objects.filter(workspace_id=workspace_id, subject__in=subjects)
        calls = {subject: (tool, agent) for subject, tool, agent in ruled.values_list("subject", "tool", "agent")}
        starts = Entry.objects.filter(chain__in={line.chain_id for line in lines}, seq=1, kind="run.started")
        chains = {key: str(read(body).get("agent", "")) for key, body in starts.values_list("chain_id", "body")}
        return cls(workspace_id, names(workspace_id), chains, calls)

    def filed(self, line: _Line) -> Filed:
        body = read(line.body)
        tool, agent = self.calls.get(str(body.get("subject", "")), ("", ""))
        agent = agent or str(body.get("agent", "")) or self.chains.get(line.chain_id, "")
        return Filed(
            pk=line.id,
            workspace_id=self.workspace_id,
            at=line.at,
            seq=line.seq,
            by=str(body.get("by", ""))[:40],
            about=about_what(line.chain, body)[:80],
            tool=(tool or _own_tool(line.kind, body))[:200],
            agent=self.agents.get(agent, agent)[:120],
            via=str(body.get("via", ""))[:16],
            verdict=verdict(line.kind, body)[:16],
        )


def about_what(chain: str, body: Mapping[str, Any]) -> str:
    """Of which approval, call or run an entry tells; nothing where it concerns the workspace alone."""
    told = body.get("approval") or body.get("subject") or (chain if chain != followed.CHAIN else "")
    return str(told)


def _own_tool(kind: str, body: Mapping[str, Any]) -> str:
    return str(body.get("name" if kind == "tool.registered" else "tool", ""))


_ENDS: Final = {"approval.expired": "expired", "approval.cancelled": "withdrawn", "decision.refused": "refused"}


def verdict(kind: str, body: Mapping[str, Any]) -> str:
    """What an entry says of the call: a person's verdict, how an approval ended without one, what policy ruled."""
    if kind in _ENDS:
        return _ENDS[kind]
    return str(body.get("verdict", "")) if kind in {"decision.made", "call.ruled"} else ""


def read(body: bytes | memoryview) -> dict[str, Any]:
    """What an entry says; nothing where it cannot be read, which its chain's verification tells."""
    try:
        said = canonical.parse(bytes(body))
    except canonical.Unrepresentable:
        return {}
    return said if isinstance(said, dict) else {}


def names(workspace_id: UUID) -> Mapping[str, str]:
    """The names of agents and teams by their ids, as they were entered; none where the ledger proves nothing."""
    try:
        return _NAMES.of(workspace_id)
    except about.Broken:
        return {}


def _named(known: dict[str, str], told: list[dict[str, Any]]) -> dict[str, str]:
    return known | {str(entry[_IDS[entry["kind"]]]): str(entry["name"]) for entry in told}


_IDS: Final = {"agent.registered": "agent", "team.formed": "team"}
_NAMES: Final = followed.Followed[dict[str, str]](_IDS, {}, _named)
