"""A verification that was begun on a page is taken up by the sweep and done by workers, part by part."""

from __future__ import annotations

import pytest
import redis

from approvals import filing, people, rows, verifications
from approvals.filing import Filed
from approvals.ledger.entries import Entry
from approvals.verifications import Verification
from runtime import hints, sweeps, tasks
from tests.runtime.conftest import Desk, call

pytestmark = pytest.mark.committed


def test_each_part_asks_for_the_next_until_it_is_done(desk: Desk, broker: redis.Redis) -> None:
    """What is lost on the way to a worker, the sweep sends again; a message that comes late does nothing."""
    people.grant(desk.cast.omar, "audit", desk.cast.northwind, by="system")
    made = verifications.begin(desk.cast.northwind, by=desk.cast.omar)
    assert isinstance(made, Verification)
    sweeps.sweep()
    assert hints.queued() == 1
    parts = 0
    while Verification.objects.get().status == "running":
        tasks.verify_ledger(made.pk.hex, desk.cast.northwind.pk.hex)
        parts += 1
    assert hints.queued() == parts > 2
    tasks.verify_ledger(made.pk.hex, desk.cast.northwind.pk.hex)
    assert hints.queued() == parts and Verification.objects.get().faults == 0


def test_the_sweep_files_what_was_entered(desk: Desk) -> None:
    desk.begin([call("free.pure", 1)])
    filing._NEXT.clear()
    sweeps.file()
    with rows.reading(desk.cast.northwind):
        entered = set(Entry.objects.filter(workspace=desk.cast.northwind).values_list("pk", flat=True))
        assert set(Filed.objects.filter(workspace=desk.cast.northwind).values_list("pk", flat=True)) == entered
    assert Filed.objects.filter(agent="scripted", verdict="allow", tool="free.pure").exists()
