"""Only pure data is state: anything else fails the step and names its place, and nothing before it is lost."""

from __future__ import annotations

import enum
import socket
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from approvals.ledger import entries
from runtime import checkpoints, evidence, failures, loop, retention, runs, state
from runtime.agents.agent import BadStep, ProposedCall, Question, Step, check
from runtime.runs import Run
from tests.runtime import growing
from tests.runtime.conftest import Desk
from tests.runtime.test_pages import RUNS, html_of, reads

__all__ = ["reads"]


PURE = ProposedCall("free.pure", {"n": 1})


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 1


class Name(str):
    __slots__ = ()


@dataclass
class Address:
    street: str = "Main"


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def ring() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


OFFENDERS: dict[str, Any] = {
    "socket": socket.socket,
    "lock": threading.Lock,
    "datetime": lambda: datetime.now(UTC),
    "set": lambda: {1, 2},
    "tuple": lambda: (1, 2),
    "bytes": lambda: b"raw",
    "decimal": lambda: Decimal("1.5"),
    "uuid": uuid4,
    "enum": lambda: Colour.RED,  # DU-S1
    "int enum": lambda: Level.HIGH,  # DU-S1
    "str subclass": lambda: Name("x"),
    "dict subclass": lambda: OrderedDict(a=1),
    "dataclass": Address,  # DU-S3
    "function": lambda: print,  # DU-S8
    "nan": lambda: float("nan"),
    "infinity": lambda: float("-inf"),
    "large integer": lambda: 2**53,
    "half a character": lambda: "\ud800",
    "nul": lambda: "a\0b",
    "key": lambda: {1: "one"},
    "too deep": lambda: deep(100),
    "ring": ring,
}


@pytest.fixture
def poisoned(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`poisoned(value)`: a run whose second step puts this into its state, deep inside."""

    def begin(value: Any) -> Run:
        monkeypatch.setitem(growing.poison, "found", {"here": [0, value]})
        return growing.grow(desk, {"update": {"good": 1}, "goto": "poisoned"}, {})

    yield begin
    growing.poison.clear()


@pytest.mark.parametrize("kind", OFFENDERS)
def test_what_is_no_data_fails_the_step_and_is_named_by_its_path(poisoned: Any, kind: str) -> None:
    """DU-S1, DU-S3, DU-S4, DU-S8, CH-B166: refused when it is committed, never turned into something else."""
    value = OFFENDERS[kind]()
    try:
        run = poisoned(value)
    finally:
        if isinstance(value, socket.socket):
            value.close()
    assert (run.status, run.reason_code) == ("failed", "bad_step") and run.told.startswith("/found/here/1")
    assert run.head_seq == 2
    assert checkpoints.read(run.workspace_id, run.pk, 2).state["good"] == 1


def in_clear(word: str) -> list[str]:
    """The tables of the database in which a word stands as it is."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.oid::regclass FROM pg_class c WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
        tables = [str(name) for (name,) in cursor.fetchall()]
        found = []
        for table in tables:
            shown = f"SELECT count(*) FROM {table} t WHERE t::text LIKE %s OR t::text LIKE %s"
            cursor.execute(shown, [f"%{word}%", f"%{word.encode().hex()}%"])
            found += [table] if cursor.fetchone()[0] else []
    return found


def test_a_name_that_an_agent_gave_is_shown_with_its_run_and_goes_with_it(
    desk: Desk, reads: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DU-S1: the path of what is no data may name a customer. It is sealed, and the ledger holds a code of it."""
    monkeypatch.setitem(growing.poison, "Jane Doe", float("nan"))
    run = growing.grow(desk, {"goto": "poisoned"}, {})
    assert run.told.startswith("/Jane Doe: ") and run.reason == failures.SAID and in_clear("Jane Doe") == []
    html = html_of(reads(desk.cast.omar), run)
    assert html.count("/Jane Doe: ") == 2 and failures.SAID not in html
    log = StringIO()
    call_command("run", "log", run.public_id, stdout=log)
    assert "/Jane Doe: " in log.getvalue()
    runs.cancel(run, by="system", reason="Enough.")
    retention.erase(desk.work(run), by="system")
    run.refresh_from_db()
    assert (bytes(run.reason_words), run.told) == (b"", "It was cancelled.")
    assert "Jane" not in html_of(reads(desk.cast.omar), run)
    assert list(evidence.unproven(run.workspace_id)) == []
    call_command("ledger", "verify", stdout=StringIO())


def test_the_words_of_another_failure_are_not_taken_for_those_of_an_entry(poisoned: Any, desk: Desk) -> None:
    """DU-S1: only the words that the ledger holds the code of stand beside its entry; those of old stand in it."""
    run = poisoned({1, 2})
    entry = entries.read(run.workspace_id, run.public_id)[-1]
    assert failures.with_words(run, entry)["reason"] == run.told
    other = failures.sealed(run.workspace_id, run.pk, "/another: one")
    Run.objects.filter(pk=run.pk).update(reason_words=other)
    run.refresh_from_db()
    assert failures.with_words(run, entry)["reason"] == failures.SAID
    assert failures.with_words(run, {"reason": "/of/old: x"}) == {"reason": "/of/old: x"}


def test_what_is_too_large_is_named_too(poisoned: Any) -> None:
    run = poisoned("x" * state.MAX_BYTES)
    assert run.status == "failed" and run.told.startswith("/found: one step may write")


@pytest.mark.parametrize(
    ("update", "append", "remove", "said"),
    [
        ({1: "x"}, {}, (), "/1: a name"),
        ({}, {"a": "text"}, (), "/a: items"),
        ({}, {"a": {"b": 1}}, (), "/a: items"),
        ({}, {}, (None,), "/None: a name"),
    ],
)
def test_names_are_text_and_what_is_appended_is_a_list(update: Any, append: Any, remove: Any, said: str) -> None:
    with pytest.raises(state.NotState, match=said):
        state.changes(update, append, remove)


def test_what_is_no_list_is_not_appended_to_and_the_last_good_checkpoint_stays(desk: Desk) -> None:
    """DU-S1: it is found before it is committed, so that the run can go on after a fix."""
    run = growing.grow(desk, {"update": {"a": 1}}, {"append": {"a": [2]}})
    assert (run.status, run.reason_code, run.head_seq) == ("failed", "bad_step", 2)
    assert run.told.startswith("/a: only a list")
    assert checkpoints.rehydrate(run.pk, head_seq=2, head_mac=bytes(run.head_mac))[0]["a"] == 1


def test_a_list_may_be_set_and_appended_to_in_one_step(desk: Desk) -> None:
    run = growing.grow(desk, {"update": {"a": 1}}, {"update": {"a": [1]}, "append": {"a": [2]}})
    assert run.status == "completed"
    state_, _ = checkpoints.rehydrate(run.pk, head_seq=run.head_seq, head_mac=bytes(run.head_mac))
    assert state_["a"] == [1, 2]


ANY_STEP: Any = Step
ANY_CALL: Any = ProposedCall
"""What an agent without types may answer."""


@pytest.mark.parametrize(
    "step",
    [
        Step(usage={"tokens": 2**53}),
        Step(usage={"half \ud800": 1}),
        ANY_STEP(usage={7: 1}),
        ANY_STEP(usage=None),
        ANY_STEP(update=None),
        ANY_STEP(append=[1]),
        Step(remove="name"),
        ANY_STEP(calls=None),
        Step(goto="n" * 121),
        Step(goto="."),
        Step(goto="half \ud800"),
        Step(calls=[ANY_CALL("free.pure", {}, reason=5)]),
    ],
)
def test_each_part_of_a_step_is_of_its_kind(step: Step) -> None:
    """DU-S1: whatever an agent answers, it is a sentence about the step, never a worker that dies of it."""
    with pytest.raises(BadStep):
        check(step)


HOSTILE: dict[str, tuple[Callable[[], Step], str]] = {
    "items": (lambda: ANY_STEP(append={"messages": 5}, calls=[PURE]), "/messages: items"),
    "no items": (lambda: ANY_STEP(append={"messages": None}, calls=[PURE]), "/messages: items"),
    "huge": (lambda: Step(update={"messages": [{"text": 10**5000}]}, calls=[PURE]), "/messages/0/text"),
    "deep": (lambda: Step(append={"messages": [{"text": deep(100_000)}]}, calls=[PURE]), "/messages/0/text"),
    "half a name": (lambda: Step(update={"a\ud800": 1}, done=True), "/a?: "),
    "a name with nul": (lambda: Step(update={"a\0b": float("nan")}, done=True), "/a\ufffdb: "),
    "a name of no text": (lambda: ANY_STEP(remove=[10**5000]), "The step cannot be committed: ValueError"),
    "nul for a team": (lambda: Step(calls=[Question("Which?", team="a\0b")]), ""),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_step_fails_its_run_and_not_its_worker(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """DU-S1: also where it proposes calls, and where its very names cannot be kept."""
    make, said = HOSTILE[kind]
    run = growing.start(desk, {}, {})
    monkeypatch.setattr(growing.told, "step", lambda *_: make())
    assert loop.advance(run.pk, run.workspace_id)
    run.refresh_from_db()
    if said:
        assert (run.status, run.reason_code) == ("failed", "bad_step") and run.told.startswith(said)


def test_an_operator_lets_it_go_on_after_a_fix(
    desk: Desk, poisoned: Any, reads: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AP-D7: by a button, a POST of those who operate the agent; a second press changes nothing."""
    run = poisoned({1, 2})
    at = f"{RUNS}/{run.public_id}/resume"
    omar, dana, oskar = (reads(person) for person in (desk.cast.omar, desk.cast.dana, desk.cast.oskar))
    assert (dana.post(at).status_code, oskar.post(at).status_code, omar.get(at).status_code) == (403, 404, 405)
    assert "Let it go on" not in html_of(dana, run) and "Let it go on" in html_of(omar, run)
    assert omar.post(at, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(desk.cast.omar, backend="django.contrib.auth.backends.ModelBackend")
    assert strict.post(at).status_code == 403
    monkeypatch.setitem(growing.poison, "found", "mended")
    assert omar.post(at).status_code == omar.post(at).status_code == 302
    assert desk.work(run).status == "completed"
    html = html_of(omar, run)
    assert "let it go on" in html and "Let it go on" not in html
    assert html.count("let it go on") == 1
    assert not runs.resume(run, by="system")
