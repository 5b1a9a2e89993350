"""Attention: what wants an operator's hand, as one list: runs that are parked, calls whose outcome nobody knows, agents
that are stopped, credentials that run out, a machine that is away, and what approvals has to report.

Each line is told to those alone who may do something about it: of an agent to its operators and to administrators.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from approvals import gate, rows
from approvals.ledger import sealing
from runtime import definitions, health, remedies, runs
from runtime.calls import Call
from runtime.credentials import AgentCredential
from runtime.definitions import Agent
from runtime.runs import Run

MOST: Final = 25
"""So many of one kind are listed; how many more there are is said."""
COUNTED: Final = 100
"""So far the runs and calls of one kind are counted."""
SOON: Final = timedelta(days=7)
"""So long before it runs out a credential is told of."""


@dataclass(frozen=True)
class Matter:
    """One line. ``what`` may hold text of an agent's; ``since`` is when it began, or with ``until`` when it is due.
    The remedy is a ``link`` (the name of an address and its arguments), a ``press`` (the same, with what it posts), or
    neither where the reader may do nothing; ``told`` then says who may."""

    what: str
    why: str = ""
    since: datetime | None = None
    until: datetime | None = None
    agent: str = ""
    link: tuple[str, str, str] | None = None
    press: tuple[str, str, str] | None = None
    posts: dict[str, str] = field(default_factory=dict)
    told: str = ""
    over: bool = False
    """Whether ``until`` has passed."""


@dataclass(frozen=True)
class Group:
    """Matters of one kind. ``count`` is of all of them, and ``more`` what the page does not list."""

    key: str
    name: str
    matters: list[Matter]
    count: int
    note: str = ""

    @property
    def more(self) -> int:
        return max(self.count - len(self.matters), 0)


class Operator:
    """A reader: which agents they operate, and whether they administer the workspace."""

    def __init__(self, workspace: Any, person: Any) -> None:
        self.workspace = workspace
        self.administers = gate.may(person, "administer", workspace)
        operated = gate.halts.operated(person, workspace.pk)
        keys = [key for one in operated if (key := rows.parse_id(Agent.PREFIX, one))]
        found = Agent.objects.filter(workspace=workspace, pk__in=keys).values_list("pk", "name") if keys else []
        self.operated = dict(found)

    @property
    def looks(self) -> bool:
        """Whether they see the page at all."""
        return self.administers or bool(self.operated)

    def may(self, agent_id: UUID) -> bool:
        return agent_id in self.operated

    def mine(self, found: QuerySet[Any], agent: str = "agent") -> QuerySet[Any]:
        """Only what they may be told of."""
        return found if self.administers else found.filter(**{f"{agent}_id__in": list(self.operated)})


# Questions


def groups(reader: Operator) -> list[Group]:
    """Everything, the most pressing kind first; kinds of which there is nothing are left out."""
    said = gate.concerns(reader.workspace.pk, _names(reader), administers=reader.administers)
    told = [
        _listed("machine", "The machine", list(_machine())),
        _listed(
            "ledger", "The ledger and the policy", _of(reader, said, "ledger", "anchors", "verification", "policy")
        ),
        _unknown(reader),
        _parked(reader),
        _listed("glass", "Broken glass to be reviewed", _of(reader, said, "glass")),
        _listed("rules", "Nobody can say yes", _of(reader, said, "stuck", "rule"), _partly(said)),
        _listed("halted", "Stopped", list(_halted(reader))),
        _listed("credentials", "Credentials", list(_credentials(reader))),
    ]
    return [group for group in told if group.count]


def _names(reader: Operator) -> set[str] | None:
    return None if reader.administers else set(reader.operated.values())


def _listed(key: str, name: str, matters: list[Matter], note: str = "") -> Group:
    return Group(key, name, matters[:MOST], len(matters), note)


def _partly(said: list[Any]) -> str:
    """That not all of what waits was looked at, where it was not."""
    return next((one.what for one in said if one.kind == "partly"), "")


def _machine() -> Iterator[Matter]:
    """Parts of the machine that do not answer: nothing goes on until they do."""
    names = {"database": "The database", "broker": "The broker", "workers": "No worker", "sweep": "The sweep"}
    whys = {
        "broker": "Runs start later: the sweep finds them without it.",
        "workers": "No run takes a step until one of them works again.",
        "sweep": "Deadlines, reminders and retries stand still until it works again: manage.py sweep.",
    }
    for part, state in health.look().items():
        if state != health.OK:
            seen = "was seen lately" if part == "workers" else "was not seen lately"
            said = seen if state == "not seen lately" else "is in an unknown state" if state == "unknown" else state
            yield Matter(f"{names.get(part, part)} {said}", whys.get(part, "Nothing works without it."))


def _of(reader: Operator, said: list[Any], *kinds: str) -> list[Matter]:
    return [_concern(reader, one) for one in said if one.kind in kinds]


def _concern(reader: Operator, one: Any) -> Matter:
    """What approvals reports, with where it is put right."""
    asked = ("review", one.approval.public_id, "Look at it") if one.approval else None
    agent = one.approval.agent if one.approval else ""
    due: dict[str, Any] = {"until": one.since, "over": True} if one.kind == "glass" else {"since": one.since}
    if one.kind in {"rule", "policy"}:
        return Matter(one.what, one.why, **due, link=("policy", "", "Look at the policy"))
    if one.kind == "verification" and reader.administers:
        return Matter(one.what, one.why, **due, link=("verification", "", "See what it found"))
    told = {
        "verification": "Those who audit or administer the workspace see what it found.",
        "ledger": "Find out where: manage.py ledger verify.",
        "anchors": "Whoever runs Placet can see to the file.",
    }
    return Matter(one.what, one.why, **due, agent=agent, link=asked, told=told.get(one.kind, ""))


# Runs and calls


def _parked(reader: Operator) -> Group:
    found = reader.mine(Run.objects.filter(workspace=reader.workspace, status=Run.Status.PARKED, cancel_by=""))
    listed = found.select_related("agent").order_by("-created_at")[:MOST]
    return Group("parked", "Parked runs", [_parked_run(reader, run) for run in listed], _count(found))


def _parked_run(reader: Operator, run: Run) -> Matter:
    press = ("resume", run.public_id, "Let it go on") if reader.may(run.agent_id) else None
    told = remedies.of(run) if press else f"Those who operate {run.agent.name} may let it go on."
    link = ("run", run.public_id, "Open the run")
    return Matter(named(run), _why(run), run.ended_at, agent=run.agent.name, link=link, press=press, told=told)


def named(run: Run) -> str:
    """The run's title, or why it has none."""
    try:
        return runs.title_of(run)
    except sealing.Erased:
        return "An erased run"
    except sealing.Tampered:
        return "Its title is not the one that was sealed"


def _why(run: Run) -> str:
    try:
        return run.told
    except sealing.Tampered:
        return "What was said about its end is not what was sealed."


def _unknown(reader: Operator) -> Group:
    found = reader.mine(Call.objects.filter(workspace=reader.workspace, status=Call.Status.UNKNOWN), "run__agent")
    listed = (
        found.select_related("run", "run__agent", "tool").prefetch_related("attempts").order_by("created_at")[:MOST]
    )
    return Group("unknown", "Outcome unknown", [_unknown_call(call) for call in listed], _count(found))


def _unknown_call(call: Call) -> Matter:
    sent = max((each.created_at for each in call.attempts.all()), default=call.created_at)
    title = definitions.facts(call.tool).title if call.tool else call.tool_name
    what = f"Did “{title}” happen?"
    why = f"{named(call.run)}. It was sent, and no answer was recorded."
    if call.question:
        return Matter(what, why, sent, agent=call.run.agent.name, link=("review", call.question, "Settle it"))
    told = "People are asked once no answer can arrive any more."
    return Matter(what, why, sent, agent=call.run.agent.name, link=("call", call.public_id, "What is known"), told=told)


def _count(found: QuerySet[Any]) -> int:
    return found.order_by()[: COUNTED + 1].count()


# Agents


def _halted(reader: Operator) -> Iterator[Matter]:
    mine = set(reader.operated.values())
    for halt in gate.halts.on(reader.workspace.pk):
        if halt.agent and not reader.administers and halt.agent not in mine:
            continue
        may = reader.administers or halt.agent in mine
        what = f"{halt.agent or 'All agents'} stopped by {halt.who}"
        press = ("halt_end", "", "Let it go on" if halt.agent else "Let all go on") if may else None
        told = "" if may else "Administrators may let all go on."
        posts = {"agent": halt.agent}
        yield Matter(what, halt.said, halt.begun_at, agent=halt.agent, press=press, posts=posts, told=told)


def _credentials(reader: Operator) -> Iterator[Matter]:
    """Credentials that run out soon and that no other takes the place of."""
    now = rows.now()
    found = AgentCredential.objects.filter(
        workspace=reader.workspace, revoked_at=None, successor=None, expires_at__gt=now, expires_at__lte=now + SOON
    )
    for one in reader.mine(found).select_related("agent").order_by("expires_at")[:COUNTED]:
        what = f"The credential {one.shown}… of {one.agent.name} runs out"
        link = ("agent", one.agent.public_id, "Exchange it")
        yield Matter(what, one.label, until=one.expires_at, agent=one.agent.name, link=link)


# For the bar


FRESH: Final = 15.0
"""Seconds for which the number in the bar is given again: every page asks for it."""
_KEPT: Final = 2000
_known: dict[tuple[Any, ...], tuple[float, int]] = {}


def sees(workspace: Any, person: Any) -> bool:
    """Whether somebody has the place in their bar."""
    return Operator(workspace, person).looks


def waiting(workspace: Any, person: Any) -> int:
    """How many matters there are for somebody who sees the place, as the bar says it."""
    at, count = _known.get(_key(workspace, person), (float("-inf"), 0))
    if time.monotonic() - at > FRESH:
        count = note(workspace, person, groups(Operator(workspace, person)))
    return count


def note(workspace: Any, person: Any, found: list[Group]) -> int:
    """What was found just now is what the bar says."""
    if len(_known) > _KEPT:
        _known.clear()
    count = sum(group.count for group in found)
    _known[_key(workspace, person)] = (time.monotonic(), count)
    return count


def forget(workspace: Any, person: Any) -> None:
    """Somebody did something about a matter: their bar counts anew."""
    _known.pop(_key(workspace, person), None)


def _key(workspace: Any, person: Any) -> tuple[Any, ...]:
    return (connection.settings_dict["NAME"], workspace.pk, person.pk)
