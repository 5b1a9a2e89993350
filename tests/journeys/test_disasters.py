"""The broker forgets everything, the database restarts under load: real processes, and every run goes on, once."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
import redis
from django.db import connection

from approvals.approvals import Approval
from approvals.decisions import Decided
from approvals.people import Person
from runtime import timeline
from runtime.calls import Call
from runtime.children import until
from runtime.demo import opening, services, shop, tickets
from runtime.runs import Run
from runtime.stack import Stack
from tests import cast as casting
from tests.campaigns.disasters import sweeps_until_hinted

TEN = 10


@pytest.fixture
def desk(stack: Stack, settings: Any) -> Stack:
    """The refund desk, set up in the stack's own place; nothing runs yet."""
    settings.PLACET_HOME = stack.log.parent
    done = stack.manage("demo")
    assert done.returncode == 0, done.stderr
    Run.objects.update(status="cancelled", wake_at=None)
    return stack


def ask(count: int) -> list[Run]:
    """Start so many runs whose refund needs one of Finance."""
    like = shop.ticket(tickets.home(), "T-4471")
    return [opening.start(shop.add(tickets.home(), like, amount=31_000)) for _ in range(count)]


def open_ones() -> list[Approval]:
    return list(Approval.objects.filter(status="pending"))


def approve(approval: Approval) -> None:
    assert isinstance(casting.say(approval, Person.objects.get(name="Dana Okafor"), "approve"), Decided)


def sent(runs: list[Run]) -> int:
    refunds = Call.objects.filter(run__in=runs, tool_name="payments.create_refund", status="executed")
    return refunds.count()


def once_each(stack: Stack, runs: list[Run]) -> bool:
    """Whether the payments service saw one refund for every run, and no log has a doubt."""
    address = services.payments(stack.log.parent).address
    counts = httpx.get(f"http://{address}/counts", trust_env=False).json()
    doubts = [doubt for run in runs for doubt in timeline.doubts(run)]
    return counts["refunds"] == len(runs) and not doubts


def test_ten_approved_calls_survive_a_broker_that_forgets_everything(desk: Stack, broker: redis.Redis) -> None:
    """AP-U16: FLUSHALL while ten approvals wait for a worker; all run within two sweeps of its coming, once each."""
    desk.start("payments", "sweep", "runs")
    runs = ask(TEN)
    assert until(lambda: len(open_ones()) == TEN, seconds=60)
    desk.stop("runs")
    for approval in open_ones():
        approve(approval)
    broker.flushall()
    assert sweeps_until_hinted({run.pk for run in runs}) <= 2
    desk.start("runs")
    assert until(lambda: sent(runs) == TEN, seconds=90)
    assert once_each(desk, runs)


def test_every_run_goes_on_when_the_database_restarts_under_load(desk: Stack) -> None:
    """DU-E1: some are held, some decided and on their way, when every connection ends at once."""
    desk.start("payments", "sweep", "runs")
    runs = ask(TEN)
    assert until(lambda: len(open_ones()) >= TEN // 2, seconds=60)
    for approval in open_ones()[: TEN // 2]:
        approve(approval)
    assert desk.servers is not None
    desk.servers.postgres.stop()
    desk.servers.postgres.start()
    connection.close()
    assert until(lambda: len(open_ones()) == TEN - TEN // 2, seconds=90)
    for approval in open_ones():
        approve(approval)
    finished = Run.objects.filter(pk__in=[run.pk for run in runs], status="completed")
    assert until(lambda: finished.count() == TEN, seconds=90)
    assert once_each(desk, runs)
