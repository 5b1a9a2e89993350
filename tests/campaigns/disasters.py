"""Two disasters: the broker loses everything while approved calls wait for a worker; the database is restarted under
load."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import redis

from approvals import rows
from runtime.children import until
from runtime.processes import Process
from runtime.runs import Run
from tests.campaigns.blows import start_worker
from tests.campaigns.proof import wait_for_all
from tests.campaigns.refunds import ONE_PERSON, Refund
from tests.campaigns.stage import Stage, tell
from tests.campaigns.visitors import Visitor

TEN: Final = 10


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
    """FLUSHALL while ten approvals wait for a worker: two sweeps hint them all again, and each runs once."""
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
    sweeps = sweeps_until_hinted({refund.run.pk for refund in refunds if refund.run})
    start_worker(stack)
    wait_for_all(refunds, seconds=90)
    after.refunds += refunds
    after.figures["sweeps_after_flushall"] = sweeps
    if sweeps > 2:
        after.faults.append(f"after FLUSHALL it took {sweeps} sweeps until all ten were hinted again")


def sweeps_until_hinted(wanted: set[UUID], *, seconds: float = 30) -> int:
    """How many sweeps begin from now on until each of these runs has been hinted anew. No worker may be at hand."""
    now, begun = rows.now(), set[Any]()

    def all_hinted() -> bool:
        begun.update(Process.objects.filter(kind="sweep", seen_at__gt=now).values_list("name", "seen_at"))
        return Run.objects.filter(pk__in=wanted, hinted_at__gt=now).count() == len(wanted)

    return len(begun) if until(all_hinted, seconds=seconds, every=0.1) else len(begun) + 1000


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
