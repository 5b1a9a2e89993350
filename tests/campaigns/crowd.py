"""A workspace full of people and of what they were asked; several processes fill it at once, each with `FILL`.

Everything is opened and settled as always, sealed, signed and in the ledger, but no run waits for it: approvals can be
used without any agent. The clock goes through a year meanwhile, so that little of it was settled today.
"""

from __future__ import annotations

import random
from functools import cache
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import connection

from approvals import gate, people, rows
from approvals.approvals import Approval
from approvals.decisions import Decided, decide
from approvals.ledger import canonical
from approvals.people import Person, Team, Workspace

SLUG: Final = "crowd"
TEAMS: Final = 50
PEOPLE: Final = 200
TEAMS_EACH: Final = 3
OPEN: Final = 0.05
"""The share that nobody has settled yet."""
YEAR: Final = 365 * 24 * 3600
FILL: Final = (
    "import sys, django; django.setup(); from tests.campaigns import crowd; crowd.fill(*map(int, sys.argv[1:]))"
)
"""The program of a process that fills: so many, drawn by a seed."""
BATCH: Final = 50
"""So many are opened in one transaction."""
TEXT: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["text", "amount"],
    "properties": {"text": {"type": "string"}, "amount": {"type": "integer"}},
}


def cast() -> dict[str, Any]:
    """People and teams, in the form that `people load` reads; everybody decides for three teams."""
    people = [{"email": email(number), "name": f"Person {number:03}"} for number in range(PEOPLE)]
    deciders: list[list[str]] = [[] for _ in range(TEAMS)]
    for number in range(PEOPLE):
        for each in range(TEAMS_EACH):
            deciders[(number + each * 17) % TEAMS].append(email(number))
    teams = [
        {"slug": team(number), "name": f"Team {number:02}", "deciders": deciders[number]} for number in range(TEAMS)
    ]
    members = [each["email"] for each in people]
    crowd = {"slug": "crowd", "name": "Crowd", "members": members, "audit": [email(0)], "teams": teams}
    return {"people": people, "workspaces": [crowd]}


def policy() -> dict[str, Any]:
    """One tool for each team, every fifth of which needs two people."""
    return {
        "policy": 1,
        "rules": [
            {
                "id": team(number),
                "match": {"tool": tool(number)},
                "verdict": "require_approval",
                "approvals": [{"team": team(number), "count": 2 if number % 5 == 0 else 1}],
                "deadline": "60d",
            }
            for number in range(TEAMS)
        ],
    }


def email(number: int) -> str:
    """The address of one of the crowd."""
    return f"person{number:03}@crowd.example"


def team(number: int) -> str:
    """The slug of one of the teams, and the name of its rule."""
    return f"team-{number:02}"


def tool(number: int) -> str:
    """The tool about which a team is asked."""
    return f"crowd.tool_{number:02}"


def nobody_waits(resolution: Any) -> None:
    """What hears of a decision here: there is no run."""


def fill(count: int, seed: int) -> None:
    """Open so many approvals and settle most of them: those that were opened first."""
    settings.PLACET_RESOLVED = f"{__name__}.nobody_waits"
    rng, settled = random.Random(seed), round(count * (1 - OPEN))
    for begun in range(0, settled, BATCH):
        _at(-YEAR * (1 - begun / settled))
        asked = _ask(rng, min(BATCH, settled - begun))
        with rows.within(asked[0].workspace_id):
            for approval in asked:
                _settle(approval, rng)
    _at(0)
    for begun in range(settled, count, BATCH):
        _ask(rng, min(BATCH, count - begun))


def _at(offset: float) -> None:
    """Set the clock of this session so many seconds away from the database's."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('placet.clock_offset', %s, false)", [str(round(offset))])


def _ask(rng: random.Random, count: int) -> list[Approval]:
    """Hold so many calls, each of a run of its own."""
    workspace = gate.workspace_named(SLUG)
    assert workspace is not None
    with rows.within(workspace):
        held = [gate.hold(gate.judge(_proposal(workspace, rng))) for _ in range(count)]
        wanted = [key for each in held if (key := rows.parse_id(Approval.PREFIX, each.approval_id or ""))]
        return list(Approval.objects.filter(workspace=workspace, pk__in=wanted))


def _proposal(workspace: Workspace, rng: random.Random) -> gate.Proposal:
    number = rng.randrange(TEAMS)
    facts = gate.ToolFacts(tool(number), f"Tool {number:02}", "d" * 64, TEXT, "Do {/text} for {/amount}", risk="low")
    args = {"text": f"the work number {rng.randrange(10**6)}", "amount": rng.randrange(10**5)}
    return gate.Proposal(
        workspace_id=workspace.pk,
        subject=rows.public_id("call", rows.uuid7()),
        chain=rows.public_id("run", rows.uuid7()),
        agent=f"agent-{number % 10}",
        requester_id=None,
        tool=facts,
        args=canonical.encode(args),
        context={"reason": "It is due.", "messages": [], "title": "Work"},
    )


@cache
def _deciders(workspace_id: UUID, slug: str) -> list[Person]:
    return people.deciders(Team.objects.get(workspace_id=workspace_id, slug=slug))


def _settle(approval: Approval, rng: random.Random) -> None:
    """End it: approved, rejected or, which is quickest to bring about, withdrawn by the agent."""
    how = rng.choices(("approve", "reject", "withdraw"), (3, 1, 6))[0]
    if how == "withdraw":
        gate.withdraw(approval.workspace_id, approval.chain, by="system", reason="Not needed any more.")
        return
    able = _deciders(approval.workspace_id, approval.teams[0])
    revision = approval.revisions.get(number=1)
    seen: dict[str, Any] = {"revision": 1, "digest": revision.digest, "via": "web", "message": "As agreed."}
    for person in rng.sample(able, approval.required if how == "approve" else 1):
        answer = decide(approval.workspace_id, approval.pk, by=person, verdict=how, **seen)
        assert isinstance(answer, Decided), answer
