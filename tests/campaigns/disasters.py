"""Two disasters: the broker loses everything while approved calls wait for a worker; the database is restarted under
load."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import Any, Final

import redis

from runtime.calls import Call
from runtime.children import until
from runtime.sweeps import EVERY
from tests.campaigns.blows import start_worker
from tests.campaigns.proof import wait_for_all
from tests.campaigns.refunds import ONE_PERSON, Refund
from tests.campaigns.stage import Stage, tell
from tests.campaigns.visitors import Visitor

TEN: Final = 10
TWO_SWEEPS: Final = 2 * EVERY * 1.1
SLACK: Final = 3.0
"""Seconds beside the two sweeps: ten calls have to be sent as well, on a machine that may be busy."""


@dataclass
class After:
    """What the disasters left: refunds to be proved like all others, figures, and sentences on what went wrong."""

    refunds: list[Refund] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def all_of_them(stage: Stage, pair: list[Visitor]) -> After:
    """One after the other, everything running before and afterwards."""
    after = After()
    emptied(stage, pair, after)
    restarted(stage, pair, after)
    return after


def emptied(stage: Stage, pair: list[Visitor], after: After) -> None:
    """FLUSHALL while ten approvals wait for dispatch: all ten run within two sweeps of a worker's return."""
    tell(f"FLUSHALL while {TEN} approvals wait for a worker …")
    refunds = [Refund(pair[:1], ONE_PERSON, keyed=True) for _ in range(TEN)]
    stack = stage.stack
    for refund in refunds:
        refund.people = []
        refund.set_off()
    assert all(refund.wait(120) for refund in refunds)
    stack.stop("runs")
    for refund in refunds:
        refund.people = pair[:1]
        if pair[0].approve(refund.approval):
            refund.taken.append(pair[0].email)
    with redis.Redis.from_url(stage.servers.valkey.url) as broker:
        broker.flushall()
    start_worker(stack)
    took = _until_paid(stage, refunds)
    after.refunds += refunds
    after.figures["emptied_s"] = round(took, 1)
    if took > TWO_SWEEPS + SLACK:
        after.faults.append(f"after FLUSHALL it took {took:.1f} s, more than two sweeps")


def _until_paid(stage: Stage, refunds: list[Refund]) -> float:
    began = time.monotonic()
    wanted = {refund.run.pk for refund in refunds if refund.run}
    until(lambda: _paid(wanted) >= len(refunds), seconds=60, every=0.05)
    return time.monotonic() - began


def _paid(runs: set[Any]) -> int:
    return Call.objects.filter(run_id__in=runs, tool_name="payments.create_refund", status="executed").count()


def restarted(stage: Stage, pair: list[Visitor], after: After) -> None:
    """The database is stopped and started while ten refunds are under way: every one of them goes on."""
    tell(f"The database restarts while {TEN} refunds are under way …")
    refunds = [Refund([pair[number % 2]], ONE_PERSON, keyed=True) for number in range(TEN)]
    for refund in refunds:
        refund.set_off()
    time.sleep(random.Random(TEN).uniform(0.5, 1.0))
    stage.servers.postgres.stop()
    stage.servers.postgres.start()
    for refund in refunds:
        refund.hit("database restarted under load")
    wait_for_all(refunds, seconds=90)
    after.refunds += refunds
