"""`bin/prove kill`: every process is ended outright, at every named point and at random; each refund completes, once.

A round starts one refund, strikes while it is under way, and waits until it is over. With `--hasten` the leases of a
worker that was killed run out at once, which skips 20 seconds of waiting and changes nothing else. At the end the
broker is emptied while ten approvals wait for dispatch, and the database is restarted under load. What happened is
proved from `run log` and from the payments service's books.
"""

from __future__ import annotations

import argparse
import random
from typing import Any, Final

from runtime.children import until
from tests.campaigns import disasters
from tests.campaigns.blows import Blow, Striker, plan
from tests.campaigns.proof import prove, wait_for_all
from tests.campaigns.refunds import ONE_PERSON, TWO_PEOPLE, Refund
from tests.campaigns.stage import DANA, PRIYA, WORKSPACE, Stage, tell
from tests.campaigns.visitors import Visitor, visitors

ROUNDS: Final = 100
DOUBTFUL: Final = frozenset({"intent.after", "send.before", "send.after", "result.before"})
PATIENCE: Final = 90.0
"""Seconds after which the next round begins though the last refund is not over."""
REST: Final = 300
"""Seconds in which everything has to be over at the end."""


def run(stage: Stage, options: argparse.Namespace) -> tuple[bool, dict[str, Any]]:
    """Strike; ok when nothing happened twice, undecided or never, and every point was reached."""
    rng, rounds = random.Random(options.seed), options.rounds or ROUNDS
    striker, refunds = Striker(stage, hasten=options.hasten), list[Refund]()
    stage.start()
    pair = visitors(stage.stack.url, stage.home, WORKSPACE, DANA, PRIYA)
    for number, blow in enumerate(plan(rounds, rng), 1):
        refund = drawn(rng, pair, blow)
        tell(f"{number}/{rounds}  {blow}")
        if blow.arming:
            striker.arm(blow.arming)
        refund.set_off()
        refunds.append(refund)
        striker.strike(blow, refund)
        until(refund.is_over, seconds=PATIENCE, every=0.1)
    tell("Everything runs again; now all of them have to end …")
    striker.rest()
    wait_for_all(refunds, seconds=REST)
    after = disasters.all_of_them(stage, pair)
    return told(stage, rounds, refunds, after, striker.missed)


def drawn(rng: random.Random, pair: list[Visitor], blow: Blow) -> Refund:
    """A refund for one person or two, with a key that the tool honours or without: one time in four, and every other
    time where the blow leaves it open whether the call was sent."""
    if blow.point.startswith("suspend"):  # a suspension is a commit of its own where a sibling ran first
        return Refund(pair[:1], ONE_PERSON, keyed=True, beside=True)
    if rng.random() < (0.5 if blow.point in DOUBTFUL else 0.25):
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
