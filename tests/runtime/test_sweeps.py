"""The sweep: what was lost is found, and looking costs next to nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis
from django.core.management import call_command
from django.db import connection
from django.db.models import Model

from approvals import rows
from approvals.approvals import Approval
from runtime import calls, definitions, hints, leases, loop, processes, runs, sweeps
from runtime.calls import Call
from runtime.embedded import ROLES
from runtime.processes import Process
from runtime.runs import Run
from tests import cast as casting
from tests.databases import pointed
from tests.runtime import tooling
from tests.runtime.conftest import Desk, call
from tests.runtime.test_budgets import costly
from tests.runtime.test_leases import claimed, let_it_run_out
from tests.throwaway import SERVERS


@pytest.fixture
def hinted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is hinted, in the broker's place."""
    found: list[str] = []

    def note(workspace_id: Any, run_id: Any) -> bool:
        found.append(run_id)
        return True

    monkeypatch.setattr(hints, "hint", note)
    monkeypatch.setattr(hints, "queued", lambda: 0)
    return found


@pytest.fixture
def sweep_role() -> Iterator[None]:
    """The sweep's own database role."""
    with pointed(USER=ROLES["sweep"], PASSWORD=SERVERS.memory["sweep"]):
        yield


def messages(broker: redis.Redis) -> list[str]:
    """The runs that hints in the broker name, oldest first."""
    waiting: list[Any] = broker.lrange(hints.QUEUE, 0, -1)
    return [json.loads(json.loads(each)["headers"]["argsrepr"].replace("'", '"'))[0] for each in waiting][::-1]


def work_off(broker: redis.Redis) -> int:
    """Do what the hints in the broker say, as a worker would; returns how many there were."""
    found = messages(broker)
    broker.delete(hints.QUEUE)
    for run_id in found:
        run = Run.objects.get(pk=run_id)
        loop.advance(run.pk, run.workspace_id)
    return len(found)


def test_a_run_that_nobody_came_for_is_hinted(desk: Desk, hinted: list[Any]) -> None:
    run = desk.start([call("free.pure")])
    hinted.clear()
    assert sweeps.hint_due() == 1 and hinted == [run.pk]


def test_it_is_hinted_again_only_after_a_while(desk: Desk, hinted: list[Any]) -> None:
    run = desk.start([call("free.pure")])
    assert (sweeps.hint_due(), sweeps.hint_due()) == (1, 0)
    Run.objects.filter(pk=run.pk).update(hinted_at="2020-01-01T00:00:00Z")
    assert sweeps.hint_due() == 1


def test_a_run_whose_worker_is_gone_is_hinted_and_goes_on(desk: Desk, hinted: list[Any]) -> None:
    """DU-C4, DU-C6, DU-E1, DU-E10, DU-E11: the lease lies on the row, and finding it needs no queue."""
    run = desk.start([call("free.keyed")])
    claimed(run)
    assert sweeps.hint_due() == 0
    let_it_run_out(run)
    assert sweeps.hint_due() == 1 and desk.work(run).status == "completed"


def test_runs_that_wait_or_have_ended_are_left_alone(desk: Desk, hinted: list[Any]) -> None:
    desk.begin([call("asked.pure")])
    desk.begin([call("free.pure")])
    hinted.clear()
    assert sweeps.sweep() == sweeps.Swept(0, 0) and hinted == []


def test_a_sleeper_is_woken_when_its_time_has_come(desk: Desk, hinted: list[Any]) -> None:
    run = desk.start([call("free.pure")])
    Run.objects.filter(pk=run.pk).update(status="sleeping", wake_at="2099-01-01T00:00:00Z")
    assert sweeps.wake_sleepers() == 0
    Run.objects.filter(pk=run.pk).update(wake_at="2020-01-01T00:00:00Z")
    assert sweeps.wake_sleepers() == 1 and desk.work(run).status == "completed"


def test_an_approval_past_its_deadline_ends_with_nobody_looking(desk: Desk, hinted: list[Any]) -> None:
    """AP-U15, AP-U16."""
    run = desk.begin([call("asked.pure")])
    Approval.objects.update(expires_at="2020-01-01T00:00:00Z")
    assert sweeps.sweep().expired == 1
    assert desk.work(run).status == "completed" and desk.results(run)[0]["status"] == "expired"


def test_with_the_broker_down_it_waits_and_goes_on(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """DU-C3: and what is due then is due still."""
    run = desk.start([call("free.pure")])
    desk.begin([call("asked.pure")])
    Approval.objects.update(expires_at="2020-01-01T00:00:00Z")
    with monkeypatch.context() as down:
        down.setattr(hints, "queued", lambda: (_ for _ in ()).throw(redis.ConnectionError("refused")))
        assert sweeps.sweep() == sweeps.Swept(0, 1)
    run.refresh_from_db()
    assert run.hinted_at is None


def test_hints_do_not_pile_up_where_no_worker_comes(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """DU-L4."""
    desk.start([call("free.pure")])
    monkeypatch.setattr(hints, "queued", lambda: sweeps.QUEUE_LIMIT)
    assert sweeps.hint_due() == 0


def test_ten_cleared_calls_survive_an_emptied_broker(desk: Desk, broker: redis.Redis) -> None:
    """AP-U16: FLUSHALL while ten approvals wait for dispatch: all ten run within two sweeps, once each."""
    waiting = [desk.begin([call("asked.unsafe", n)]) for n in range(10)]
    broker.flushall()
    for run in waiting:
        desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    assert len(messages(broker)) == 10
    broker.flushall()
    sweeps.sweep()
    work_off(broker)
    sweeps.sweep()
    work_off(broker)
    assert sorted(line["args"]["n"] for line in tooling.happened("done")) == list(range(10))
    assert {run.status for run in Run.objects.all()} == {"completed"}


def test_two_sweeps_at_once_hint_each_run_once(
    desk: Desk, broker: redis.Redis, together: Callable[..., list[Any]]
) -> None:
    for n in range(20):
        desk.start([call("free.pure", n)])
    broker.flushall()
    assert sum(together(sweeps.hint_due, sweeps.hint_due)) == 20 == len(set(messages(broker)))


def test_a_hint_repeated_ten_times_does_nothing_more(desk: Desk, broker: redis.Redis) -> None:
    """DU-C2."""
    run = desk.start([call("free.unsafe")])
    for _ in range(10):
        hints.hint(run.workspace_id, run.pk)
    assert work_off(broker) == 11 and len(tooling.happened("sent")) == 1


def test_the_sweeps_own_role_may_do_all_of_it(desk: Desk, broker: redis.Redis, sweep_role: None) -> None:
    desk.start([call("free.pure")])
    desk.begin([call("asked.pure")])
    Approval.objects.update(expires_at="2020-01-01T00:00:00Z")
    assert sweeps.sweep() == sweeps.Swept(2, 1) and sweeps.repair() == 0


# What only a fault of ours can leave behind


def test_a_run_that_waits_for_nothing_is_woken(desk: Desk, hinted: list[Any], caplog: Any) -> None:
    """AP-D11, AP-U16, DU-E4: no waiting run without an open request."""
    run = desk.begin([call("asked.keyed")])
    Call.objects.filter(run=run).update(status="cancelled")
    Approval.objects.update(status="cancelled")
    assert sweeps.repair() == 1 and "nothing of it is open" in caplog.text
    assert desk.work(run).status == "completed" and sweeps.repair() == 0


def test_a_verdict_that_the_call_was_never_told_is_told(
    desk: Desk, hinted: list[Any], settings: Any, caplog: Any
) -> None:
    """AP-U16, AP-U4: decided and not resumed."""
    run = desk.begin([call("asked.keyed")])
    settings.PLACET_RESOLVED = "tests.runtime.test_sweeps.hear_nothing"
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    settings.PLACET_RESOLVED = "runtime.resolutions.resolved"
    assert desk.calls(run)[0].status == "held"
    assert sweeps.repair() == 1 and "was not told" in caplog.text
    assert desk.work(run).status == "completed" and len(tooling.happened("done")) == 1


def test_a_rejection_that_is_told_late_still_says_why(desk: Desk, hinted: list[Any], settings: Any) -> None:
    """AP-R4: the agent learns the reason, whoever had to tell it again."""
    run = desk.begin([call("asked.keyed")])
    settings.PLACET_RESOLVED = "tests.runtime.test_sweeps.hear_nothing"
    desk.say(desk.calls(run)[0], desk.cast.dana, "reject", message="Wrong customer.")
    settings.PLACET_RESOLVED = "runtime.resolutions.resolved"
    assert sweeps.repair() == 1
    (told,) = desk.calls(run)
    assert told.status == "refused" and calls.message_of(told) == "Wrong customer."


def hear_nothing(resolution: Any) -> None:
    """A machine that forgets."""


def test_nobody_is_asked_about_a_run_that_has_ended(desk: Desk, hinted: list[Any], caplog: Any) -> None:
    """AP-D11: no open request without a run."""
    run = desk.begin([call("asked.keyed")])
    Run.objects.filter(pk=run.pk).update(status="cancelled")
    assert sweeps.repair() == 1 and Approval.objects.get().status == "cancelled"
    assert sweeps.repair() == 0


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_nobody_is_asked_about_the_budget_of_a_run_that_has_ended(desk: Desk, hinted: list[Any], status: str) -> None:
    run = desk.begin([costly(300)], budget={"tokens": 200})
    Run.objects.filter(pk=run.pk).update(status=status)
    assert sweeps.repair() == 1 and Approval.objects.get().status == "cancelled"
    assert sweeps.repair() == 0


def test_a_run_that_was_not_told_of_its_budget_is_woken(desk: Desk, hinted: list[Any], settings: Any) -> None:
    run = desk.begin([costly(300)], budget={"tokens": 200})
    settings.PLACET_RESOLVED = f"{__name__}.hear_nothing"
    casting.say(Approval.objects.get(), desk.cast.omar, "approve")
    assert sweeps.repair() == 1
    assert desk.work(run).status == "completed"


def test_all_is_well_where_all_is_well(desk: Desk, hinted: list[Any]) -> None:
    desk.begin([call("asked.keyed"), call("asked.keyed", 2)])
    runs.cancel(desk.begin([call("asked.keyed")]), by="system", reason="Stop.")
    desk.begin([call("free.pure")])
    assert sweeps.repair() == 0


# The process


def test_a_sweep_says_that_it_is_alive(desk: Desk, hinted: list[Any], settings: Any) -> None:
    settings.PLACET_PROCESS = "sweep"
    call_command("sweep", once=True)
    assert processes.alive("sweep") == 1 and processes.alive("runs") == 0
    Process.objects.update(seen_at="2020-01-01T00:00:00Z")
    assert processes.alive("sweep") == 0 and processes.forget_the_dead() == 1


# What it costs

READS = [
    sweeps.ASLEEP,
    sweeps.DUE.format(due=sweeps.READY, since="wake_at"),
    sweeps.DUE.format(due=sweeps.LEFT_BEHIND, since="lease_until"),
]


def twins(model: type[Model], source: str, **changed: str) -> str:
    """The SQL that copies a row ``r``, with other values in these columns."""
    columns = [str(field.column) for field in model._meta.concrete_fields]
    given = ", ".join(changed.get(column, f"r.{column}") for column in columns)
    return f"INSERT INTO {model._meta.db_table} ({', '.join(columns)}) SELECT {given} FROM {source}"


def many_waiting(desk: Desk, count: int) -> None:
    """So many more runs that wait for people, copied from one that does."""
    run = desk.begin([call("asked.pure")])
    runs = "runtime_run r, generate_series(1, %s) n WHERE r.id = %s"
    calls = "runtime_call r, runtime_run w WHERE r.run_id = %s AND w.id <> r.run_id"
    with connection.cursor() as cursor:
        cursor.execute(twins(Run, runs, id="md5(r.id::text || n)::uuid"), [count, run.pk])
        cursor.execute(twins(Call, calls, id="md5('call' || w.id)::uuid", run_id="w.id", key="w.id"), [run.pk])
        cursor.execute("ANALYZE runtime_run")
        cursor.execute("ANALYZE runtime_call")


@pytest.mark.lasts(20)
def test_ten_thousand_waiting_runs_are_not_read_to_find_none_that_is_due(
    desk: Desk, django_assert_max_num_queries: Any, hinted: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks for due runs reads an index; the repair looks at all that wait, in a few queries."""
    from approvals import gate

    many_waiting(desk, 10_000)
    with pointed(USER=ROLES["sweep"], PASSWORD=SERVERS.memory["sweep"]), rows.nowhere():
        for query in READS:
            with connection.cursor() as cursor:
                cursor.execute("EXPLAIN (ANALYZE, BUFFERS) " + query, {"again": 3, "limit": 100})
                plan = "\n".join(line for (line,) in cursor.fetchall())
            assert "Index Scan" in plan and "Seq Scan" not in plan, plan
    monkeypatch.setattr(gate, "open_among", lambda _, subjects: set(subjects))
    with django_assert_max_num_queries(20):
        assert sweeps.repair() == 0


def test_the_clock_is_read_once_where_rows_are_looked_for_and_again_where_they_are_locked() -> None:
    """A bare placet_now() in a query for due rows would not use the index; once in an UPDATE that waits, it would be
    stale."""
    for query in (*READS, sweeps.WAKE):
        assert "placet_now()" in query and "placet_now()" not in query.replace("(SELECT placet_now())", "")
    for statement in (leases.CLAIM, leases.SUSPEND):
        assert "placet_now()" in statement and "SELECT placet_now()" not in statement


def test_what_is_due_is_found_in_every_workspace(desk: Desk, hinted: list[Any]) -> None:
    """AP-I5: the sweep's role reads all rows, and writes those of one workspace after the other."""
    waiting = desk.begin([call("asked.keyed")])
    halden = desk.cast.halden
    clerk = definitions.register_agent(halden.pk, "clerk", "scripted", {}, by="system")
    runs_of_halden = [runs.start(halden.pk, clerk, input={"steps": []}, title=name, by="system") for name in "ab"]
    with rows.within(halden):
        Run.objects.filter(pk=runs_of_halden[0].pk).update(status="sleeping", wake_at="2020-01-01T00:00:00Z")
    with rows.within(desk.cast.northwind):
        Approval.objects.update(expires_at="2020-01-01T00:00:00Z")
    hinted.clear()
    with pointed(USER=ROLES["sweep"], PASSWORD=SERVERS.memory["sweep"]), rows.nowhere():
        assert sweeps.sweep().expired == 1
        assert sweeps.repair() == 0
        assert {run.status for run in Run.objects.filter(workspace=halden)} == {"ready"}
    assert {*hinted} == {waiting.pk, *(run.pk for run in runs_of_halden)}
