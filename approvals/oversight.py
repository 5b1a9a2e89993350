"""Oversight: how people decide, so that whoever answers for it sees where a yes has become a habit.

What a decision took is the time from when it could be given, or from the same person's decision before it, whichever is
shorter: nobody can have read for longer. Rehearsals are left out, and so is how long an editor's own yes took.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from approvals import people, rows
from approvals.people import Person
from approvals.rows import wire

MOST: Final = 50_000
"""So many decisions, and as many approvals that ended, are counted: the newest."""
LINES: Final = 200
"""So many people, tools and channels are told of, those with the most first."""
QUICK: Final = 3
"""A yes in fewer seconds is very quick, however little there was to read."""
READING: Final = 100
"""So is one in less time than its arguments take at so many characters a second, which nobody reads."""
QUICK_MOST: Final = 60
"""And none that took so many seconds is."""
SOME: Final = 20
"""A habit takes so many decisions."""
OFTEN: Final = 0.25
"""A share of very quick yeses from which they are told of."""


@dataclass(frozen=True)
class Habit:
    """How a person decides, or how is decided of a tool or through a channel. ``seconds`` is the median time,
    ``length`` the median number of bytes to read; None where nothing can be said."""

    of: str
    name: str
    decisions: int
    yeses: int
    noes: int
    quick: int
    seconds: float | None
    length: float | None

    @property
    def always_yes(self) -> bool:
        """Whether nothing but yes was said, often enough to be a habit."""
        return self.decisions >= SOME and self.yeses == self.decisions

    @property
    def at_once(self) -> bool:
        """Whether many a yes was very quick."""
        return self.yeses >= SOME and self.quick >= OFTEN * self.yeses


@dataclass(frozen=True)
class Ended:
    """How many approvals of calls of a tool ended, how many of them with nobody's answer, and how many asked again for
    what people had refused."""

    tool: str
    ended: int
    expired: int
    repeats: int


@dataclass(frozen=True)
class Report:
    """How was decided in a workspace in this time. ``whole`` says that nothing of it was left out for its number."""

    since: timedelta
    habits: tuple[Habit, ...]
    ended: tuple[Ended, ...]
    whole: bool

    def of(self, what: str) -> list[Habit]:
        """The habits of people, tools or channels: ``person``, ``tool``, ``channel``."""
        return [habit for habit in self.habits if habit.of == what]


def report(workspace_id: UUID, since: timedelta) -> Report:
    """How was decided in this time: two statements, each over an index and at most `MOST` rows."""
    asked = {"workspace": workspace_id, "since": since, "most": MOST, "lines": LINES}
    asked |= {"quick": QUICK, "reading": READING, "quick_most": QUICK_MOST}
    habits = tuple(Habit(*line) for line in wire.rows(_HABITS, asked))
    ended = tuple(Ended(*line) for line in wire.rows(_ENDED, asked))
    counted = (sum(one.decisions for one in habits if one.of == "channel"), sum(one.ended for one in ended))
    return Report(since, habits, ended, max(counted) < MOST)


_HABITS: Final = """
    WITH given AS (
        SELECT person_id, verdict, decided_via, decided_at AS at, approval_id, revision FROM approvals_decision
        WHERE workspace_id = %(workspace)s AND decided_at > placet_now() - %(since)s::interval
        ORDER BY decided_at DESC LIMIT %(most)s
    ), timed AS (
        SELECT given.*, asked.tool, seen.length, CASE WHEN seen.editor_id IS DISTINCT FROM given.person_id THEN
            extract(epoch FROM LEAST(at - seen.created_at, at - lag(at) OVER mine)) END AS took
        FROM given JOIN approvals_approval asked ON asked.id = approval_id
            JOIN approvals_revision seen ON seen.approval_id = asked.id AND seen.number = given.revision
        WHERE NOT asked.rehearsal
        WINDOW mine AS (PARTITION BY given.person_id ORDER BY at)
    ), habits AS (
        SELECT CASE 0 WHEN grouping(person_id) THEN 'person' WHEN grouping(tool) THEN 'tool' ELSE 'channel' END AS of,
            COALESCE(person_id::text, tool, decided_via) AS name, count(*) AS decisions,
            count(*) FILTER (WHERE verdict IN ('approve', 'override')) AS yeses,
            count(*) FILTER (WHERE verdict IN ('reject', 'stop')) AS noes,
            count(*) FILTER (WHERE verdict IN ('approve', 'override') AND took < GREATEST(%(quick)s::float,
                LEAST(length / %(reading)s::float, %(quick_most)s::float))) AS quick,
            percentile_cont(0.5) WITHIN GROUP (ORDER BY took) AS seconds,
            percentile_cont(0.5) WITHIN GROUP (ORDER BY NULLIF(length, 0)) AS length
        FROM timed WHERE verdict IN ('approve', 'edit', 'reject', 'respond', 'choose', 'stop', 'override')
        GROUP BY GROUPING SETS ((person_id), (tool), (decided_via))
    )
    SELECT of, name, decisions, yeses, noes, quick, seconds::float, length::float FROM (
        SELECT *, row_number() OVER (PARTITION BY of ORDER BY decisions DESC, name) AS place FROM habits
    ) placed WHERE place <= %(lines)s ORDER BY of, place
"""
_ENDED: Final = """
    SELECT tool, count(*), count(*) FILTER (WHERE status = 'expired'), count(*) FILTER (WHERE refused_before > 0) FROM (
        SELECT tool, status, refused_before FROM approvals_approval
        WHERE workspace_id = %(workspace)s AND decided_at > placet_now() - %(since)s::interval
            AND NOT status = 'pending' AND kind = 'call' AND NOT rehearsal
        ORDER BY decided_at DESC LIMIT %(most)s
    ) ended GROUP BY tool ORDER BY count(*) DESC, tool LIMIT %(lines)s
"""


@dataclass(frozen=True)
class Waiting:
    """How many approvals wait for people, counted up to `MOST`, and for how many seconds the oldest has."""

    count: int
    oldest: float


def waiting(workspace_id: UUID) -> Waiting:
    """What waits now, rehearsals apart."""
    return Waiting(*wire.rows(_WAITING, {"workspace": workspace_id, "most": MOST})[0])


_WAITING: Final = """
    SELECT count(*), COALESCE(extract(epoch FROM placet_now() - min(created_at)), 0)::float FROM (
        SELECT created_at FROM approvals_approval
        WHERE workspace_id = %(workspace)s AND status = 'pending' AND NOT rehearsal
        ORDER BY created_at LIMIT %(most)s
    ) waiting
"""


def noticed(found: Report) -> Iterator[str]:
    """What is to be brought to the notice of whoever answers for the policy, as sentences about people and tools."""
    return sentences(list(facts(found)))


def facts(found: Report) -> Iterator[dict[str, Any]]:
    """The same for a ledger: ``of`` whom or what, ``what`` it is, and ``count`` times among so many in ``all``."""
    for habit in found.of("person"):
        person = rows.public_id(Person.PREFIX, UUID(habit.name))
        if habit.always_yes:
            yield {"of": person, "what": "always_yes", "count": habit.yeses, "all": habit.decisions}
        if habit.at_once:
            yield {"of": person, "what": "at_once", "count": habit.quick, "all": habit.yeses}
    for one in found.ended:
        if one.ended >= SOME and one.expired * 2 > one.ended:
            yield {"of": one.tool, "what": "expired", "count": one.expired, "all": one.ended}


_SENTENCES: Final = {
    "always_yes": "{of} said yes to all of {all:,}.",
    "at_once": "{of} gave {count:,} of {all:,} yeses faster than anybody reads.",
    "expired": "{count:,} of {all:,} approvals of {of} expired: nobody answered.",
}


def sentences(told: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Such facts in words."""
    found = list(told)
    keys = {fact["of"]: rows.parse_id(Person.PREFIX, fact["of"]) for fact in found if fact["what"] != "expired"}
    names = people.names({key for key in keys.values() if key})
    for fact in found:
        key = keys.get(fact["of"])
        named = names.get(key, fact["of"]) if key else fact["of"]
        yield _SENTENCES[fact["what"]].format(**fact | {"of": named})
