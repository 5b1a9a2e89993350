"""A panel: sixteen people who say yes, no or something else about one call at the same instant, each through a door of
their own: the page, the API, or `decide` as whatever stands in this process calls it."""

from __future__ import annotations

import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

import httpx
import yaml
from django.conf import settings
from django.db import connections
from django.test import Client

from approvals import people, policies, rows
from approvals.approvals import Approval
from approvals.decisions import Decided, Decision, decide
from approvals.ledger import canonical, entries
from approvals.people import Person, Team
from runtime import definitions
from runtime.calls import Call
from runtime.children import until
from tests.campaigns import furniture
from tests.campaigns.stage import Stage
from tests.campaigns.visitors import TOKEN, Form, Visitor
from tests.cast import formed

T = TypeVar("T")
SEATS: Final = 3
MEMBERS: Final = 16
RULE: Final[dict[str, Any]] = {
    "id": "campaign-panel",
    "match": {"tool": "campaign.panel"},
    "verdict": "require_approval",
    "approvals": [{"team": "panel", "count": SEATS}],
    "editable": ["/text"],
    "editor_may_approve": True,
    "deadline": "2d",
}
VERDICTS: Final = ("approve",) * 7 + ("retract",) * 3 + ("edit",) * 4 + ("reject",) * 2
"""What the sixteen want, in an order that is drawn anew each time. Whoever wanted an edit agrees to the next one. Those
who take back say yes first, and again afterwards."""
DOORS: Final = (("page", "api"), ("page", "api", "process"))
"""Which doors there are, turn about: without HTTP one is faster than all who come by it."""
PATIENCE: Final = 60.0
"""Seconds after which whoever still waits for the others gives up."""
OVER: Final = frozenset({"approved", "rejected"})


@dataclass
class Story:
    """What became of all rounds: how each ended, what was answered, and what must not be."""

    ends: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    approved: dict[str, str] = field(default_factory=dict)
    """The chains whose call was approved, and the text that was."""
    asked: list[str] = field(default_factory=list)

    @property
    def unclear(self) -> int:
        """How many answers were neither yes nor that somebody was faster."""
        return sum(count for said, count in self.answers.items() if not said.endswith("taken"))


@dataclass
class Seat:
    """One of the panel: who they are, and their browser."""

    person: Person
    visitor: Visitor
    token: str = ""


def seat(stage: Stage) -> list[Seat]:
    """Make the panel, its tool and its rule, behind those of the stage."""
    workspace = furniture.workspace()
    definition = {"name": "campaign.panel", "title": "Note (panel)", "inputSchema": furniture.TEXT}
    where = {"url": f"http://{stage.recorder.address}/panel"}
    definitions.register_tool(workspace.pk, definition, kind="http", config=where, effect="keyed", by="system")
    with rows.within(workspace):
        team = formed(workspace, "panel")
        found = [_member(workspace, team, number) for number in range(MEMBERS)]
    policy = yaml.safe_load((stage.home / "policy.yaml").read_text("utf-8"))
    policies.load(workspace, yaml.safe_dump(policy | {"rules": [*policy["rules"], RULE]}), by="system")
    return [_at_their_browser(stage, person) for person in found]


def _member(workspace: Any, team: Team, number: int) -> Person:
    person = Person.objects.create_user(f"panel{number:02}@northwind.example", None, name=f"Panel {number:02}")
    people.join(person, workspace, by="system")
    people.grant(person, "decide", team, by="system")
    return person


def _at_their_browser(stage: Stage, person: Person) -> Seat:
    """Signed in without the sign-in page, which counts how often it is asked from one address."""
    client = Client()
    client.force_login(person, backend=settings.AUTHENTICATION_BACKENDS[0])
    visitor = Visitor(stage.stack.url, furniture.workspace().slug, person.email, "")
    visitor.client.cookies.set(settings.SESSION_COOKIE_NAME, client.cookies[settings.SESSION_COOKIE_NAME].value)
    token = TOKEN.search(visitor.client.get("/accounts/").text)
    assert token is not None, f"{person.email} is not signed in"
    return Seat(person, visitor, token[1])


class Table:
    """A thread for each of them, which keeps its connection to the database until the table is left."""

    def __enter__(self) -> Table:
        self._pool = ThreadPoolExecutor(MEMBERS)
        return self

    def __exit__(self, *_: object) -> None:
        self.at_once([connections.close_all] * MEMBERS)
        self._pool.shutdown()

    def at_once(self, parts: Sequence[Callable[[], T]]) -> list[T]:
        """Run a function in each thread at the same instant; their results in order."""
        barrier = threading.Barrier(len(parts))

        def begin(part: Callable[[], T]) -> T:
            barrier.wait(30)
            return part()

        return [one.result(120) for one in [self._pool.submit(copy_context().run, begin, part) for part in parts]]


# One round


def asked(number: int) -> str:
    """Begin a run whose call the panel is asked about; its chain."""
    return furniture.play(("campaign.panel", {"text": f"panel {number}"})).public_id


def sit(chain: str, panel: list[Seat], rng: random.Random, story: Story, table: Table) -> None:
    """All sixteen at the same instant, until it is over; then what came of it."""
    approval = furniture.approval_named(furniture.held(chain))
    assert approval is not None
    story.asked.append(chain)
    doors = DOORS[len(story.asked) % len(DOORS)]
    wanted, news = rng.sample(VERDICTS, MEMBERS), threading.Condition()
    parts = [
        partial(_take_part, one, approval.pk, verdict, random.Random(rng.random()), number, doors, news)
        for number, (one, verdict) in enumerate(zip(panel, wanted, strict=True))
    ]
    for answers in table.at_once(parts):
        story.answers.update(answers)
    _judge(chain, Approval.objects.get(pk=approval.pk), story)


def _take_part(
    one: Seat, key: Any, verdict: str, rng: random.Random, number: int, doors: Sequence[str], news: threading.Condition
) -> list[str]:
    """What one of them does: say it, look again if it was edited meanwhile, and agree then."""
    told: list[str] = []
    over, turn = time.monotonic() + PATIENCE, 0
    while time.monotonic() < over:
        seen = Approval.objects.get(pk=key)
        if seen.status != "pending":
            return told
        word = _word_of(one, seen, verdict, turn)
        if not word:
            with news:  # nothing to say until somebody edits it
                news.wait(1)
            continue
        revision = seen.revisions.get(number=seen.revision)
        door = doors[(number + turn) % len(doors)]
        form = Form(one.token, str(revision.number), revision.digest)
        told.append(f"{door} {word}: {_SAY[door](one, seen, form, word, f'edit {rng.random()}')}")
        verdict = "approve" if word in {"edit", "retract"} else verdict
        turn += 1
        with news:
            news.notify_all()
    return [*told, "gave up"]


def _word_of(one: Seat, seen: Approval, verdict: str, turn: int) -> str:
    """What they say next who want this; nothing where their yes stands already."""
    mine = Decision.objects.filter(approval=seen, revision=seen.revision, person=one.person).order_by("-turn").first()
    agreed = turn > 0 and mine is not None and mine.verdict == "approve"
    if verdict == "retract":
        return "retract" if agreed else "approve"
    return "" if agreed else verdict


def _by_page(one: Seat, approval: Approval, form: Form, verdict: str, text: str) -> str:
    if verdict != "edit":
        return _word(one.visitor.post(approval.public_id, form, verdict, comment="No." if verdict == "reject" else ""))
    given = {"csrfmiddlewaretoken": form.token, "revision": form.revision, "digest": form.digest}
    given |= {"mode": "json", "text": canonical.encode({"text": text}).decode(), "do": "save", "message": ""}
    return _word(one.visitor.client.post(f"{one.visitor.path(approval.public_id)}/edit", data=given))


def _by_api(one: Seat, approval: Approval, form: Form, verdict: str, text: str) -> str:
    said: dict[str, Any] = {"verdict": verdict, "revision": int(form.revision), "action_digest": form.digest}
    said["message"] = "No." if verdict == "reject" else ""
    if verdict == "edit":
        said["edited_action"] = {"name": approval.tool, "args": {"text": text}}
    path = f"/api/v1/workspaces/{one.visitor.slug}/approvals/{approval.public_id}/decisions"
    return _word(one.visitor.client.post(path, json=said, headers={"X-CSRFToken": form.token}))


def _in_process(one: Seat, approval: Approval, form: Form, verdict: str, text: str) -> str:
    answer = decide(
        approval.workspace_id,
        approval.pk,
        by=one.person,
        verdict=verdict,
        revision=int(form.revision),
        digest=form.digest,
        via="web",
        message="No." if verdict == "reject" else "",
        edited=canonical.encode({"text": text}) if verdict == "edit" else None,
    )
    return "taken" if isinstance(answer, Decided) else "not taken"


_SAY: Final = {"page": _by_page, "api": _by_api, "process": _in_process}


def _word(answer: httpx.Response) -> str:
    """Taken, or not because others were faster; anything else by its status."""
    if answer.status_code in {200, 302}:
        return "taken"
    return "not taken" if answer.status_code == 409 else str(answer.status_code)


def _judge(chain: str, approval: Approval, story: Story) -> None:
    """One end, by the right number of people, and nothing after it."""
    told = entries.read(approval.workspace_id, chain)
    ends = [
        one["kind"] for one in told if re.fullmatch(r"approval\.(approved|rejected|expired|cancelled)", one["kind"])
    ]
    made = [one for one in told if one["kind"] == "decision.made"]
    last = [one for one in made if one["revision"] == approval.revision]
    said = {one["by"]: one["verdict"] for one in last}  # a person's last turn
    yeses = [by for by, verdict in said.items() if verdict == "approve"]
    story.ends[approval.status] += 1
    story.wrong["stuck_quorums"] += approval.status not in OVER
    story.wrong["double_winners"] += len(ends) != 1
    story.wrong["miscounted_quorums"] += approval.status == "approved" and len(yeses) != SEATS
    story.wrong["late_decisions"] += _after_the_end(told, approval)
    if approval.status == "approved":
        args = approval.revisions.select_related("ruling").get(number=approval.revision).ruling.clear_args()
        story.approved[chain] = canonical.parse(args)["text"]


def _after_the_end(told: list[dict[str, Any]], approval: Approval) -> bool:
    """Whether a decision was taken behind the one that ended it."""
    kinds = [one["kind"] for one in told]
    end = f"approval.{approval.status}"
    return end in kinds and "decision.made" in kinds[kinds.index(end) :]


def settled(stage: Stage, story: Story) -> None:
    """Wait until every call went its way; each approved text was sent once, and nothing else was."""
    open_ones = Call.objects.filter(run__in=[rows.parse_id("run", chain) for chain in story.asked])
    open_ones = open_ones.exclude(status__in=["executed", "failed", "refused", "cancelled", "expired", "answered"])
    story.wrong["lost_wakes"] += (
        0 if until(lambda: not open_ones.exists(), seconds=90, every=0.5) else open_ones.count()
    )
    sent = Counter(canonical.parse(each.body)["text"] for each in stage.recorder.of("/panel"))
    wanted = Counter(story.approved.values())
    story.wrong["sent_wrongly"] += ((sent - wanted) + (wanted - sent)).total()
