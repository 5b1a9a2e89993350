"""`bin/prove kill`: every process is ended outright, at every named point and at random; everything completes, once.

A round starts one run and strikes while it is under way; the next round does not wait for it, so that several are
under way whenever something is ended. Half of the runs are refunds, half are bundles: a question to a model, then
parallel calls of tools of every effect class, behind a recorder that counts. With `--hasten` the leases of a worker
that was killed run out at once, which skips 20 seconds of waiting and changes nothing else. At the end the broker is
emptied while ten approvals wait for dispatch, and the database is restarted under load. What happened is proved from
`run log`, from the payments service's books, from the recorder, and by the invariants.
"""

from __future__ import annotations

import argparse
import random
from typing import Any, Final

from runtime import invariants, runs
from runtime.children import until
from tests.campaigns import bundles, disasters
from tests.campaigns.blows import Blow, Striker, plan
from tests.campaigns.bundles import Bundle
from tests.campaigns.proof import prove, wait_for_all
from tests.campaigns.refunds import ONE_PERSON, TWO_PEOPLE, Refund
from tests.campaigns.stage import DANA, PRIYA, WORKSPACE, Stage, tell
from tests.campaigns.visitors import Visitor, visitors

ROUNDS: Final = 100
DOUBTFUL: Final = frozenset({"intent.after", "send.before", "send.after", "result.before"})
PATIENCE: Final = 90.0
"""Seconds after which the next round begins, however many runs are under way."""
AT_ONCE: Final = 6
"""So many runs may be under way when the next round begins."""
REST: Final = 300
"""Seconds in which everything has to be over at the end."""


def run(stage: Stage, options: argparse.Namespace) -> tuple[bool, dict[str, Any]]:
    """Strike; ok when nothing happened twice, undecided or never, and every point was reached."""
    rng, rounds = random.Random(options.seed), options.rounds or ROUNDS
    striker, started = Striker(stage, hasten=options.hasten), list[Refund | Bundle]()
    stage.start()
    pair = visitors(stage.stack.url, stage.home, WORKSPACE, DANA, PRIYA)
    for number, blow in enumerate(plan(rounds, rng), 1):
        one = drawn(rng, pair, blow) if number % 2 else bundles.drawn(rng, pair, number)
        if number % 2 == 0 and blow.point.startswith("suspend"):
            one = drawn(rng, pair, blow)
        tell(f"{number}/{rounds}  {blow}")
        if blow.arming:
            striker.arm(blow.arming)
        one.set_off()
        started.append(one)
        striker.strike(blow, one)
        until(lambda: under_way(started) <= AT_ONCE, seconds=PATIENCE, every=0.5)
    tell("Everything runs again; now all of them have to end …")
    striker.rest()
    wait_for_all(started, seconds=REST)
    resumed = let_go_on(started)
    wait_for_all(started, seconds=REST)
    after = disasters.all_of_them(stage, pair)
    ok, figures = told(stage, rounds, started, after, striker.missed)
    return ok, figures | {"resumed": resumed}


def let_go_on(started: list[Refund | Bundle]) -> int:
    """Do what an operator does about runs whose workers died five times in a row: where workers are ended one after
    another, some run is always the one at hand. Who had no say until then has it now. Returns how many."""
    parked = [each for each in started if each.run and each.run.status == "parked"]
    resumed = [each for each in parked if each.run and each.run.reason_code == "no_progress"]
    for each in resumed:
        assert each.run and runs.resume(each.run, by="system")
        each.run.refresh_from_db()
        each.set_off()
    return len(resumed)


def under_way(started: list[Refund | Bundle]) -> int:
    """How many of the latest runs have not ended."""
    return sum(not each.is_over() for each in started[-4 * AT_ONCE :])


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
    stage: Stage, rounds: int, started: list[Refund | Bundle], after: disasters.After, missed: list[str]
) -> tuple[bool, dict[str, Any]]:
    """The figures, and whether they are what they have to be."""
    proof = prove(stage, [*(each for each in started if isinstance(each, Refund)), *after.refunds])
    counted = bundles.count(stage.recorder, [each for each in started if isinstance(each, Bundle)])
    offending = [f"invariant: {each}" for each in (*invariants.offenders(), *invariants.unreadable())]
    faults = [*proof.faults, *counted.faults, *after.faults, *(f"missed: {blow}" for blow in missed), *offending]
    faults += stage.verify_ledger()
    for fault in faults:
        tell(fault)
    figures = proof.figures()
    for name, value in vars(counted).items():
        if isinstance(value, int):
            figures[name] = figures.get(name, 0) + value
    deadlocks = stage.log_of("postgres").count("deadlock detected")
    more = {**after.figures, "missed": len(missed), "offending": len(offending), "deadlocks": deadlocks}
    return not faults and not deadlocks, {"rounds": rounds, **figures, **more}
