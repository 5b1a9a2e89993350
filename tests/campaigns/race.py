"""`bin/prove race`: people who decide at the same instant, and runs on which everything happens at once.

Per round: two people answer one approval at the same instant (one winner, a clear answer to the other); the two
voters of a two-person rule vote at the same instant (never both votes in and still pending); and sixteen people, three
of whom are needed, approve, edit and reject by page, API and in this process (one end each, by three yeses to the last
revision or one no, and sent once as it was approved). Then, on the same few runs: decide, step, cancel and expire, as
fast as it goes. No deadlock, no lost wake, every chain of the ledger whole.
"""

from __future__ import annotations

import argparse
import random
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Final, TypeVar

import httpx
from django.db import connections

from approvals.decisions import Decision
from tests.campaigns import furniture, panel, scuffle
from tests.campaigns.stage import DANA, PRIYA, WORKSPACE, Stage, tell
from tests.campaigns.visitors import Form, Visitor, visitors

T = TypeVar("T")
ROUNDS: Final = 200
BATCH: Final = 10
"""So many runs are begun at once, so that their workers work while others are decided."""
NAMES: Final = {DANA: "Dana Okafor", PRIYA: "Priya Nair"}


def run(stage: Stage, options: argparse.Namespace) -> tuple[bool, dict[str, Any]]:
    """Race; ok when nobody won twice, nobody is stuck, and nothing broke."""
    rounds = options.rounds or ROUNDS
    stage.start()
    pair = visitors(stage.stack.url, stage.home, WORKSPACE, DANA, PRIYA)
    tell(f"{rounds} times two people answer at the same instant …")
    winners = in_batches(rounds, "campaign.note", lambda chain, number: one_winner(chain, pair, number))
    tell(f"{rounds} times two voters of a two-person rule …")
    quorums = in_batches(rounds, "campaign.pair", lambda chain, number: both_voters(chain, pair))
    tell(f"{rounds} times sixteen people say yes, no or something else, through every door …")
    sat = sittings(stage, rounds, options.seed)
    tell("Decide, step, cancel and expire on the same few runs …")
    fight = scuffle.fight(options.seed, seconds=max(5.0, rounds / 10))
    faults = stage.verify_ledger()
    for line in (*faults, *fight.errors):
        tell(line)
    figures: dict[str, Any] = {
        "rounds": rounds,
        "double_winners": winners["double"] + sat.wrong["double_winners"],
        "unclear_answers": winners["unclear"] + sat.unclear,
        "stuck_quorums": quorums["stuck"] + sat.wrong["stuck_quorums"],
        "miscounted_quorums": quorums["miscounted"] + sat.wrong["miscounted_quorums"],
        "late_decisions": sat.wrong["late_decisions"],
        "sent_wrongly": sat.wrong["sent_wrongly"],
        "lost_wakes": fight.stuck + sat.wrong["lost_wakes"],
        "errors": len(fight.errors),
        "deadlocks": stage.log_of("postgres").count("deadlock detected"),
        "ledger_breaks": len(faults),
    }
    wrong = sum(value for name, value in figures.items() if name != "rounds")
    told = {"deciders": panel.MEMBERS, "ended": dict(sat.ends), "answers": dict(sorted(sat.answers.items()))}
    return wrong == 0, figures | told | {"fought": dict(fight.acts)}


def sittings(stage: Stage, rounds: int, seed: int) -> panel.Story:
    """Sixteen deciders on one approval after the other, in an order and with verdicts that the seed draws."""
    seats, story, rng = panel.seat(stage), panel.Story(), random.Random(seed)
    with panel.Table() as table:
        for begun in range(0, rounds, BATCH):
            for chain in [panel.asked(number) for number in range(begun, min(begun + BATCH, rounds))]:
                panel.sit(chain, seats, rng, story, table)
            tell(f"{min(begun + BATCH, rounds)}: {dict(story.ends)} {dict(+story.wrong)}")
    panel.settled(stage, story)
    return story


def in_batches(rounds: int, tool: str, race: Callable[[str, int], str]) -> Counter[str]:
    """Begin runs of one held call each, race on every one of them, and count what came of it."""
    told: Counter[str] = Counter()
    for begun in range(0, rounds, BATCH):
        numbers = range(begun, min(begun + BATCH, rounds))
        chains = [furniture.play((tool, {"text": f"round {number}"})).public_id for number in numbers]
        told.update(race(chain, number) for chain, number in zip(chains, numbers, strict=True))
    return told


def one_winner(chain: str, pair: list[Visitor], number: int) -> str:
    """Both answer, every other time with opposite verdicts: one of them is taken, the other learns who was faster."""
    approval = furniture.held(chain)
    verdicts = ("approve", "reject") if number % 2 else ("approve", "approve")
    answers = at_once(approval, pair, verdicts)
    taken = [visitor for visitor, answer in zip(pair, answers, strict=True) if answer.status_code == 302]
    decisions = Decision.objects.filter(approval=furniture.approval_named(approval)).count()
    if len(taken) != 1 or decisions != 1:
        return "double"
    beaten = answers[1 - pair.index(taken[0])]
    clear = beaten.status_code == 409 and "Too late" in beaten.text and NAMES[taken[0].email] in beaten.text
    return "well" if clear else "unclear"


def both_voters(chain: str, pair: list[Visitor]) -> str:
    """Both votes are taken, and the second one settles it."""
    approval = furniture.held(chain)
    answers = at_once(approval, pair, ("approve", "approve"))
    row = furniture.approval_named(approval)
    assert row is not None
    votes = Decision.objects.filter(approval=row, verdict="approve").count()
    if votes == 2 and row.status == "pending":
        return "stuck"
    return "well" if votes == 2 and {answer.status_code for answer in answers} == {302} else "miscounted"


def at_once(approval: str, pair: list[Visitor], verdicts: tuple[str, str]) -> list[httpx.Response]:
    """Both have read the page; both forms leave at the same instant."""
    forms = [visitor.read(approval) for visitor in pair]
    assert all(forms), f"{approval} cannot be decided"

    def post(visitor: Visitor, form: Form | None, verdict: str) -> httpx.Response:
        assert form is not None
        return visitor.post(approval, form, verdict, comment="No." if verdict == "reject" else "")

    return together(*(lambda args=args: post(*args) for args in zip(pair, forms, verdicts, strict=True)))


def together(*functions: Callable[[], T]) -> list[T]:
    """Run the functions at the same instant, each in a thread of its own; their results in order."""
    barrier = threading.Barrier(len(functions))

    def begin(function: Callable[[], T]) -> T:
        try:
            barrier.wait(30)
            return function()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(functions)) as pool:
        return [
            future.result(60) for future in [pool.submit(copy_context().run, begin, function) for function in functions]
        ]
