"""`bin/prove kill`: every process is ended outright, at every named point and at random; each refund completes, once.

A round starts one refund and strikes while it is under way. Rounds overlap: what waits for a dead worker's lease to run
out is struck again by later rounds. At the end the broker is emptied while ten approvals wait for dispatch, and the
database is restarted under load. What happened is proved from `run log` and from the payments service's books.
"""

from __future__ import annotations

import argparse
import random
from typing import Any, Final

from tests.campaigns import disasters
from tests.campaigns.blows import Striker, plan
from tests.campaigns.proof import prove, wait_for_all
from tests.campaigns.refunds import ONE_PERSON, TWO_PEOPLE, Refund
from tests.campaigns.stage import DANA, PRIYA, WORKSPACE, Stage, tell
from tests.campaigns.visitors import Visitor, visitors

ROUNDS: Final = 100
PACE: Final = 1.5
"""Seconds that a refund has to go on after its blow before the next one sets off."""
REST: Final = 300
"""Seconds in which everything has to be over at the end: several leases, since later blows hit earlier refunds."""


def run(stage: Stage, options: argparse.Namespace) -> tuple[bool, dict[str, Any]]:
    """Strike; ok when nothing happened twice, undecided or never, and every point was reached."""
    rng, rounds = random.Random(options.seed), options.rounds or ROUNDS
    stage.start()
    pair = visitors(stage.stack.url, stage.home, WORKSPACE, DANA, PRIYA)
    striker, refunds = Striker(stage), list[Refund]()
    for number, blow in enumerate(plan(rounds, rng), 1):
        refund = drawn(rng, pair)
        tell(f"{number}/{rounds}  {blow}")
        striker.arm(blow.arming)
        refund.set_off()
        refunds.append(refund)
        striker.strike(blow, refund)
        refund.wait(PACE)
    tell("Everything runs again; now all of them have to end …")
    striker.rest()
    wait_for_all(refunds, seconds=REST)
    after = disasters.all_of_them(stage, pair)
    return told(stage, rounds, refunds, after, striker.missed)


def drawn(rng: random.Random, pair: list[Visitor]) -> Refund:
    """A refund for one person or two, with a key that the tool honours or, one time in four, without."""
    if rng.random() < 0.25:
        return Refund(pair[:1], ONE_PERSON, keyed=False)
    two = rng.random() < 0.3
    return Refund(pair if two else [rng.choice(pair)], TWO_PEOPLE if two else ONE_PERSON, keyed=True)


def told(
    stage: Stage, rounds: int, refunds: list[Refund], after: disasters.After, missed: list[str]
) -> tuple[bool, dict[str, Any]]:
    """The figures, and whether they are what they have to be."""
    proof = prove(stage, [*refunds, *after.refunds])
    faults = [*proof.faults, *after.faults, *(f"missed: {blow}" for blow in missed), *stage.verify_ledger()]
    for fault in faults:
        tell(fault)
    deadlocks = stage.log_of("postgres").count("deadlock detected")
    figures = {"rounds": rounds, **proof.figures(), **after.figures, "missed": len(missed), "deadlocks": deadlocks}
    return not faults and not deadlocks, figures
