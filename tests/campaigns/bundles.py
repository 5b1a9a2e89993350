"""A bundle: one run that asks a model and then makes several calls in one step, a tool of each effect class among them.

What really happened is known to the recorder alone: it stands behind every one of these tools and counts.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import Final

from approvals.approvals import Approval
from runtime.budgets import Budget
from runtime.calls import Attempt, Call
from runtime.runs import Run
from tests.campaigns import furniture
from tests.campaigns.furniture import stubbornly
from tests.campaigns.journeys import PATIENCE, Journey
from tests.campaigns.recorder import Arrival, Recorder
from tests.campaigns.visitors import Visitor

MODEL: Final = "campaign.model"
TOOLS: Final = {f"campaign.do_{effect}": effect for effect in ("pure", "keyed", "natural", "lookup", "unsafe")}
TOKENS: Final = 1_000
"""What a question to the model may spend: held before it is asked, and charged, for it does not say what it spent."""
LOOK: Final = 0.25
"""Seconds between two looks of people for what they are asked."""
ONCE: Final = frozenset({"lookup", "unsafe"})
"""Effects of tools that do their work again each time they are called."""


@dataclass
class Bundle(Journey):
    """A run under way. ``tools`` are the parallel calls of its second step."""

    tools: list[str]
    number: int
    taken: list[tuple[str, str]] = field(default_factory=list)

    def start(self) -> Run:
        text = {"text": f"bundle {self.number}"}
        return furniture.play_steps(
            [(MODEL, text)],
            [(tool, text) for tool in self.tools],
            key=f"bundle:{self.number}",
            budget={"tokens": 100 * TOKENS},
            estimates={MODEL: {"tokens": TOKENS}},
        )

    def answer(self) -> None:
        """One person answers everything, in any order, over every restart."""
        person, deadline = random.Random(self.number).choice(self.people).again(), time.monotonic() + PATIENCE
        wanted = len([tool for tool in self.tools if TOOLS[tool] != "pure"])
        while len(self.taken) < wanted and time.monotonic() < deadline and not self.is_over():
            for approval in stubbornly(self._open):
                if person.approve(approval, seconds=PATIENCE):
                    self.taken.append((approval, person.email))
            time.sleep(LOOK)

    def _open(self) -> list[str]:
        assert self.run is not None
        asked = Approval.objects.filter(chain=self.run.public_id, kind="call", status="pending").order_by("?")
        return [each.public_id for each in asked]

    def is_in_doubt(self) -> bool:
        """Whether people are asked what became of a call, and nothing else is under way."""
        going_on = ("proposed", "held", "cleared", "executing")
        calls = stubbornly(lambda: list(Call.objects.filter(run=self.run).values_list("status", "question")))
        asked = any(status == "unknown" and question for status, question in calls)
        return asked and not any(status in going_on for status, _ in calls)


def drawn(rng: random.Random, people: list[Visitor], number: int) -> Bundle:
    """A bundle of two to four calls."""
    return Bundle(people, rng.choices(sorted(TOOLS), k=rng.randint(2, 4)), number)


@dataclass
class Count:
    """What the recorder saw of bundles, against what the database says: a sentence for everything that is wrong."""

    repaid_model_calls: int = 0
    duplicate_effects_keyed: int = 0
    sends_without_decision: int = 0
    resent_unsafe: int = 0
    unknown_unsafe: int = 0
    unfinished: int = 0
    lost_decisions: int = 0
    faults: list[str] = field(default_factory=list)

    def blame(self, figure: str, fault: str, times: int = 1) -> None:
        setattr(self, figure, getattr(self, figure) + times)
        self.faults.append(f"{figure}: {fault}")


def count(recorder: Recorder, bundles: list[Bundle]) -> Count:
    """Look at every call of every bundle, and at every arrival."""
    found = Count()
    for bundle in bundles:
        _finished(found, bundle)
        _kept(found, bundle)
    for budget in Budget.objects.filter(tokens_held__gt=0, root__status__in=["completed", "cancelled"]):
        found.blame("unfinished", f"{budget} still holds {budget.tokens_held} tokens of a run that has ended")
    known = {call.key: call for call in Call.objects.filter(tool_name__in=[MODEL, *TOOLS])}
    arrived: dict[str, list[Arrival]] = {}
    for arrival in recorder.everything():
        if arrival.path.startswith("/do_") or arrival.path == "/model":
            arrived.setdefault(arrival.key, []).append(arrival)
    for key in arrived.keys() - known.keys():
        found.blame("sends_without_decision", f"something arrived with the key {key}, which no call has")
    for key, call in known.items():
        _seen(found, call, arrived.get(key, []))
    return found


def _finished(found: Count, bundle: Bundle) -> None:
    if bundle.problem or bundle.run is None or not bundle.is_over():
        status = bundle.run.status if bundle.run else "not there"
        found.blame("unfinished", f"{bundle.name} ({bundle.blow}) is {status}. {bundle.problem}")
    elif bundle.run.status not in {"completed", "suspended_approval"}:
        found.blame("unfinished", f"{bundle.name} ({bundle.blow}) is {bundle.run.status}: {bundle.run.reason}")


def _kept(found: Count, bundle: Bundle) -> None:
    for approval, email in bundle.taken:
        row = furniture.approval_named(approval)
        if row is None or row.status != "approved":
            found.blame("lost_decisions", f"{email} approved {approval}, and it is not approved")


def _seen(found: Count, call: Call, arrivals: list[Arrival]) -> None:
    effect, name = TOOLS.get(call.tool_name, "pure"), f"{call.public_id} ({call.tool_name})"
    if call.status == "unknown":
        if effect == "unsafe":
            found.unknown_unsafe += 1
        else:
            found.blame("unfinished", f"{name} is unknown, which only an unsafe call may be")
    if effect in ONCE and len(arrivals) > 1:
        figure = "resent_unsafe" if effect == "unsafe" else "duplicate_effects_keyed"
        found.blame(figure, f"{name} was done {len(arrivals)} times", len(arrivals) - 1)
    if len({arrival.body for arrival in arrivals}) > 1:
        found.blame("duplicate_effects_keyed", f"{name} was sent with different bytes under one key")
    if call.status == "executed" and not arrivals:
        found.blame("unfinished", f"{name} is executed, and never arrived")
    _allowed(found, call, name, arrivals)
    done = Attempt.objects.filter(call=call, outcome="executed", late=False).order_by("ended_at").first()
    if call.tool_name == MODEL and done and done.ended_at:
        again = [arrival for arrival in arrivals if arrival.at > done.ended_at.timestamp()]
        if again:
            found.blame("repaid_model_calls", f"{name} was asked {len(again)} times after its answer", len(again))


def _allowed(found: Count, call: Call, name: str, arrivals: list[Arrival]) -> None:
    """Whether what arrived had been approved before, where it had to be."""
    if not arrivals or TOOLS.get(call.tool_name, "pure") == "pure":
        return
    approval = Approval.objects.filter(subject=call.public_id, kind="call", status="approved").first()
    first = min(arrival.at for arrival in arrivals)
    if approval is None or approval.decided_at is None or approval.decided_at.timestamp() > first:
        found.blame("sends_without_decision", f"{name} arrived before it was approved")
