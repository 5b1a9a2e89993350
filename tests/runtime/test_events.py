"""Run events: one order over checkpoints and ledger, told by cursor; nothing is missed, repeated or moved."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from approvals import rows
from approvals.ledger import entries
from runtime import events, runs
from runtime.checkpoints import Checkpoint
from runtime.events import Event
from runtime.runs import Run
from tests.runtime.conftest import Desk, call


@pytest.fixture
def ended(desk: Desk) -> Run:
    """A run that waited for two people and did both calls."""
    run = desk.begin([call("pair.keyed", 1), call("free.pure", 2)])
    for person in (desk.cast.dana, desk.cast.priya):
        desk.say(desk.calls(run)[0], person, "approve")
    return desk.work(run)


def pages(run: Run, size: int) -> list[list[Event]]:
    found: list[list[Event]] = []
    while page := events.follow(run, after=found[-1][-1].cursor if found else "", limit=size):
        found.append(page)
    return found


def test_the_events_of_a_run_are_told_in_order(ended: Run) -> None:
    kinds = [each.kind for each in events.events(ended)]
    wanted = ["run.started", "step.committed", "run.suspended", "call.executed", "decision.made", "run.resumed"]
    places = [kinds.index(kind) for kind in wanted]
    assert (
        places == sorted(places)
        and kinds.count("call.executed") == 2
        and kinds[-2:] == ["step.committed", "run.completed"]
    )
    assert kinds.count("run.suspended") == kinds.count("run.resumed") == 1


def test_every_checkpoint_and_every_entry_is_one_of_them(ended: Run) -> None:
    told = events.events(ended)
    assert [each.checkpoint.seq for each in told if each.checkpoint] == list(range(1, ended.head_seq + 1))
    assert [each.entry for each in told if each.entry] == entries.read(ended.workspace_id, ended.public_id)


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_pages_of_any_size_tell_the_same(ended: Run, size: int) -> None:
    told = [each.out() for page in pages(ended, size) for each in page]
    assert [each["kind"] for each in told] == [each.kind for each in events.events(ended)]
    assert [each["cursor"] for each in told] == [each.cursor for each in events.events(ended)]


def test_who_follows_a_run_is_told_what_who_comes_later_is_told(desk: Desk) -> None:
    """Page by page while it happens, waits included, and whole afterwards: one order."""
    run, told = desk.start([call("pair.keyed", 1), call("asked.unsafe", 2)]), list[Event]()

    def follow() -> None:
        told.extend(events.follow(run, after=told[-1].cursor if told else ""))

    follow()
    desk.work(run)
    follow()
    for number, person in ((0, desk.cast.dana), (1, desk.cast.priya), (0, desk.cast.priya)):
        desk.say(desk.calls(run)[number], person, "approve")
        follow()
        desk.work(run)
    follow()
    run.refresh_from_db()
    assert run.status == "completed" and [each.out() for each in told] == [each.out() for each in events.events(run)]


def test_what_is_under_way_is_waited_for(desk: Desk, together: Callable[..., list[Any]]) -> None:
    """A commit that has read the clock and has not ended: nothing later is told before it."""
    run = desk.begin([call("asked.keyed", 1)])
    begun, ended = threading.Event(), threading.Event()

    def write() -> None:
        with rows.within(run.workspace_id):
            Run.objects.filter(pk=run.pk).update(pokes=99)
            begun.set()
            ended.wait(1)

    def read() -> list[Event]:
        begun.wait(5)
        found = events.follow(run)
        assert Run.objects.get(pk=run.pk).pokes == 99
        return found

    _, found = together(write, read)
    assert [each.kind for each in found] == [each.kind for each in events.events(run)]


def test_a_writer_that_hangs_is_not_waited_for_for_ever(desk: Desk, together: Callable[..., list[Any]]) -> None:
    run = desk.begin([call("asked.keyed", 1)])
    begun, ended = threading.Event(), threading.Event()

    def hang() -> None:
        with rows.within(run.workspace_id):
            Run.objects.filter(pk=run.pk).update(pokes=99)
            begun.set()
            ended.wait(20)

    def read() -> list[Event]:
        begun.wait(5)
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '50ms'")
        found = events.follow(run)
        ended.set()
        return found

    assert together(hang, read)[1] == []


def test_a_cursor_that_is_none_of_ours_is_refused(ended: Run) -> None:
    for cursor in ("x", "1", "1-", "-1-2", "1-2-3", "1-g", "1-2\n", "f" * 16 + "-1"):
        with pytest.raises(ValueError, match="no cursor"):
            events.follow(ended, after=cursor)


def test_a_cursor_beyond_the_end_tells_nothing(ended: Run) -> None:
    assert events.follow(ended, after="ffff-ffff") == []


def test_lines_of_json_go_on_from_a_cursor(ended: Run) -> None:
    lines = [json.loads(line) for line in log(ended).splitlines()]
    assert [line["kind"] for line in lines] == [each.kind for each in events.events(ended)]
    rest = [json.loads(line) for line in log(ended, "--after", lines[3]["cursor"]).splitlines()]
    assert rest == [line for line in lines[4:] if line["cursor"] != lines[3]["cursor"]]
    with pytest.raises(CommandError, match="no cursor"):
        log(ended, "--after", "nonsense")


def log(run: Run, *words: str) -> str:
    out = StringIO()
    call_command("run", "log", run.public_id, "--lines", *words, stdout=out)
    return out.getvalue()


def test_events_hold_nothing_that_people_or_agents_wrote(desk: Desk) -> None:
    run = desk.begin([call("asked.keyed", 7, note="a secret word")])
    desk.say(desk.calls(run)[0], desk.cast.dana, "reject", message="No secret word.")
    desk.work(run)
    assert "secret word" not in log(run) and "Because" not in log(run) and "Ticket" not in log(run)


def test_a_withdrawn_run_tells_its_end(desk: Desk) -> None:
    run = desk.begin([call("asked.keyed", 1)])
    runs.cancel(run, by=desk.cast.omar.public_id, reason="No.")
    desk.work(run)
    kinds = [each.kind for each in events.events(run)]
    assert kinds.index("run.suspended") < kinds.index("run.resumed") < kinds.index("run.cancelled")
    assert Checkpoint.objects.filter(run=run).count() == len([kind for kind in kinds if kind.endswith(".committed")])
