"""Calls that are tried again: when, how often, under which key, and what is asked first."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from approvals import policies, rows
from approvals.ledger import entries
from runtime import attempts, definitions, evidence, lookups, promises, retries, runs, sweeps, tools
from runtime.calls import Attempt, Call
from runtime.runs import Run
from runtime.tools import Answer
from tests.runtime import tooling
from tests.runtime.conftest import Desk, call
from tests.runtime.crashing import work_and_die
from tests.runtime.endpoints import Endpoint, serving
from tests.runtime.test_leases import let_it_run_out


class Sends:
    """Stands in for `tools.send`: gives these answers one after another, then that it was done."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: Answer) -> None:
        self.answers, self.keys = list(answers), list[str]()
        monkeypatch.setattr(tools, "send", self)

    def __call__(self, kind: str, config: Any, secret: bytes, args: bytes, use: tools.Use) -> Answer:
        self.keys.append(use.key)
        return self.answers.pop(0) if self.answers else Answer(tools.EXECUTED, "done")


NOT_REACHED = Answer(tools.FAILED_BEFORE, message="not reached", note="not reached", passing=True)
NO_ANSWER = Answer(tools.LOST, note="No answer came.")


def promising(desk: Desk, name: str, **ours: Any) -> None:
    """Give a tool of the tests a new version with these promises."""
    known = next(each for each in tools.registered() if each.definition["name"] == name)
    definition = {**known.definition, "placet": {**known.definition["placet"], **ours}}
    definitions.register_tool(
        desk.cast.northwind.pk,
        definition,
        kind="function",
        config={"function": known.path},
        effect=known.effect,
        by="system",
    )


def test_a_tool_out_of_reach_is_tried_again_later_by_a_run_that_sleeps(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DU-C2: no worker waits: the lease is given back, and the time to wake is a row."""
    sends = Sends(monkeypatch, NOT_REACHED)
    run = desk.begin([call("free.unsafe")])
    assert (run.status, run.lease_owner, len(sends.keys)) == ("sleeping", "", 1)
    assert run.wake_at is not None and 1 < (run.wake_at - rows.now()).total_seconds() <= promises.FIRST_WAIT
    assert desk.wait_out(run).status == "completed"
    assert len(sends.keys) == 2 and len(set(sends.keys)) == 1
    assert [each.outcome for each in Attempt.objects.order_by("number")] == ["failed_before", "executed"]


@pytest.mark.parametrize("code", [b"", b"\x00\x01" + b"f" * 32])
def test_only_an_end_that_placet_wrote_lets_an_unsafe_call_be_sent_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, code: bytes
) -> None:
    """T31, DU-S6: whoever writes the database cannot say that nothing happened."""
    sends = Sends(monkeypatch, NOT_REACHED)
    run = desk.begin([call("free.unsafe")])
    Attempt.objects.update(end_mac=code)
    desk.wait_out(run)
    assert len(sends.keys) == 1 and desk.calls(run)[0].status == "unknown"
    found = [line for line in evidence.unproven(run.workspace_id) if "end of att_" in line]
    assert bool(found) is bool(code)


def test_it_is_not_woken_before_its_time(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    Sends(monkeypatch, NOT_REACHED)
    run = desk.begin([call("free.unsafe")])
    assert sweeps.wake_sleepers() == 0 and desk.work(run).status == "sleeping"
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('placet.clock_offset', '60', false)")
        assert sweeps.wake_sleepers() == 1
        cursor.execute("SELECT set_config('placet.clock_offset', '0', false)")
    run.refresh_from_db()
    assert run.status == "ready"


def test_the_waits_grow_up_to_the_longest() -> None:
    promise = promises.of({"placet": {"effect": "keyed", "retry": {"wait_seconds": 3, "longest_seconds": 20}}})
    assert [promise.wait(turn) for turn in range(5)] == [3, 6, 12, 20, 20] and promise.wait(10**6) == 20


def test_a_tool_says_how_often_it_may_be_tried(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the agent is told that nothing happened, which is not the same as a failure after the effect."""
    promising(desk, "free.unsafe", retry={"tries": 5, "wait_seconds": 1})
    sends = Sends(monkeypatch, *[NOT_REACHED] * 9)
    run = desk.wait_out(desk.begin([call("free.unsafe")]))
    assert (run.status, len(sends.keys), desk.calls(run)[0].status) == ("completed", 5, "failed")
    assert desk.results(run)[0]["message"] == "not reached"


@pytest.mark.parametrize(
    ("effect", "answer", "declared", "again"),
    [
        ("unsafe", Answer(tools.FAILED_BEFORE), True, False),  # refused for good
        ("unsafe", Answer(tools.FAILED_AFTER), True, False),
        ("lookup", Answer(tools.FAILED_AFTER), True, False),
        ("keyed", Answer(tools.FAILED_AFTER), False, False),
        ("keyed", Answer(tools.FAILED_AFTER), True, True),
        ("unsafe", NO_ANSWER, True, False),
        ("lookup", NO_ANSWER, True, False),  # it names no lookup
        ("natural", NO_ANSWER, False, True),
        ("pure", Answer(tools.NOT_SENT), False, True),
        ("unsafe", Answer(tools.EXECUTED), True, False),
    ],
)
def test_only_what_cannot_have_happened_or_may_happen_twice_is_tried_again(
    effect: str, answer: Answer, declared: bool, again: bool
) -> None:
    """AP-D3: failed before the effect and failed after it are told apart."""
    ours: dict[str, Any] = {"effect": effect} | ({"retry": {"tries": 2}} if declared else {})
    assert promises.of({"placet": ours}).try_again(answer) is again


@pytest.mark.parametrize(
    ("given", "effect", "word"),
    [
        ({"retry": {"tries": 0}}, "keyed", "retry.tries"),
        ({"retry": {"tries": True}}, "keyed", "retry.tries"),
        ({"retry": {"often": 3}}, "keyed", "retry is"),
        ({"retry": {"wait_seconds": 50, "longest_seconds": 10}}, "keyed", "longest_seconds"),
        ({"key_seconds": 3600}, "unsafe", "keyed tools"),
        ({"key_seconds": 1}, "keyed", "key_seconds"),
        ({"lookup": {"url": "https://pay.example/x?r={reference}"}}, "natural", "lookup is for"),
        ({"lookup": {"url": "https://pay.example/x"}}, "lookup", "{reference}"),
        ({"lookup": {"url": "http://10.0.0.1/{reference}"}}, "lookup", "not https"),
        ({"lookup": {"path": "x"}}, "lookup", "lookup is"),
        ({"timeout_seconds": 601}, "pure", "timeout_seconds"),
    ],
)
def test_a_promise_that_cannot_be_kept_is_refused_when_the_tool_is_taken_in(
    given: dict[str, Any], effect: str, word: str
) -> None:
    with pytest.raises(ValueError, match=word):
        promises.admit(given, effect)


def test_a_sibling_does_not_wait_for_a_call_that_does(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """DU-L21, DU-L20: and a decision that comes while the run sleeps is carried out at once."""
    promising(desk, "free.unsafe", retry={"wait_seconds": 600})
    sends = Sends(monkeypatch, NOT_REACHED)
    run = desk.begin([call("free.unsafe", 1), call("free.unsafe", 2), call("asked.unsafe", 3)])
    assert [each.status for each in desk.calls(run)] == ["executing", "executed", "held"]
    assert run.status == "sleeping"
    desk.say(desk.calls(run)[2], desk.cast.dana, "approve")
    assert desk.work(run).status == "sleeping" and len(sends.keys) == 3
    assert [each.status for each in desk.calls(run)] == ["executing", "executed", "executed"]
    assert desk.wait_out(run).status == "completed"


def test_a_worker_that_dies_before_a_retry_is_followed_by_one_that_tries(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DU-C4, DU-E4: the wait and the count are rows."""
    Sends(monkeypatch, NOT_REACHED)
    run = desk.begin([call("free.unsafe", 7)])
    monkeypatch.undo()
    Call.objects.update(due_at=None)
    Run.objects.update(status="ready")
    assert work_and_die(run, "intent.before")
    let_it_run_out(run)
    assert desk.work(run).status == "completed" and Call.objects.get().retries == 1
    assert [line["key"] for line in tooling.happened("done")] == [Call.objects.get().key]


@pytest.mark.parametrize("end", [NOT_REACHED, Answer(tools.NOT_SENT, note="Too late.")])
def test_what_is_out_of_reach_after_a_lost_answer_has_not_failed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, end: Answer
) -> None:
    """Found by the model (tests/model, FORGET_LOST): the first sending may have arrived, so nobody knows."""
    Sends(monkeypatch, NO_ANSWER, end)
    run = desk.begin([call("free.keyed")])
    Call.objects.filter(run=run).update(due_at=rows.Now(), retries=100)
    Run.objects.filter(pk=run.pk).update(status="ready")
    desk.work(run)
    assert desk.calls(run)[0].status == "unknown"
    assert [each.outcome for each in Attempt.objects.order_by("number")] == ["lost", "lost"]


def test_a_run_that_is_cancelled_while_it_waits_says_that_nothing_happened(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DU-S9."""
    Sends(monkeypatch, NOT_REACHED)
    run = desk.begin([call("free.unsafe")])
    assert runs.cancel(run, by="system", reason="Not needed.")
    assert desk.work(run).status == "cancelled" and desk.calls(run)[0].status == "failed"


def test_a_clearance_that_is_gone_at_the_retry_leaves_a_call_that_failed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    Sends(monkeypatch, NOT_REACHED)
    run = desk.begin([call("free.unsafe")])
    policies.load(desk.cast.northwind, "policy: 1\nrules: []\n", by="system")
    assert desk.wait_out(run).status == "completed" and desk.results(run)[0]["status"] == "failed"


# The key's window


def test_a_key_that_may_be_forgotten_is_not_sent_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """AP-D3: a keyed tool promises its key for so long; after that it is as unsafe as any other."""
    promising(desk, "free.keyed", key_seconds=60)
    sends = Sends(monkeypatch, NO_ANSWER, NO_ANSWER)
    run = desk.begin([call("free.keyed")])
    Attempt.objects.update(created_at=rows.Now())
    with connection.cursor() as cursor:
        cursor.execute("UPDATE runtime_attempt SET created_at = created_at - interval '59 seconds'")
    desk.wait_out(run)
    assert desk.calls(run)[0].status == "unknown" and len(sends.keys) == 1


def test_the_window_counts_from_the_first_sending_to_the_end_of_the_next(desk: Desk) -> None:
    promising(desk, "free.keyed", key_seconds=60)
    run = desk.start([call("free.keyed")])
    assert work_and_die(run, "send.after")
    sent = desk.calls(run)[0]
    tool = definitions.tool_named(run.workspace_id, "free.keyed")
    assert tool is not None and retries.key_is_known(sent, tool)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE runtime_attempt SET created_at = created_at - interval '46 seconds'")
    assert not retries.key_is_known(sent, tool)


# Lookups


@pytest.fixture
def register(desk: Desk) -> Iterator[Endpoint]:
    """Where the tool free.lookup can be asked about its calls; it answers that there is none."""
    from django.conf import settings

    with serving() as endpoint, pytest.MonkeyPatch.context() as patched:
        patched.setattr(settings, "PLACET_ALLOW_ADDRESSES", {endpoint.address})
        endpoint.body = b'{"found": false}'
        promising(desk, "free.lookup", lookup={"url": endpoint.url + "/find/{reference}"})
        yield endpoint


def test_what_a_lookup_finds_is_recorded_with_its_evidence_and_not_sent_again(desk: Desk, register: Endpoint) -> None:
    """DU-C4: the sender died after it had sent."""
    run = desk.start([call("free.lookup", 7)])
    assert work_and_die(run, "send.after")
    let_it_run_out(run)
    register.body = b'{"found": true, "value": {"id": "re_1"}}'
    assert desk.work(run).status == "completed" and len(tooling.happened("done")) == 1
    assert desk.results(run)[0]["value"] == {"id": "re_1"} and register.got[0][0] == f"/find/{desk.calls(run)[0].key}"
    assert (Attempt.objects.get().outcome, Attempt.objects.get().note) == (
        "executed",
        "It was looked up, and it had happened.",
    )


def test_what_is_absent_is_sent_again_only_after_the_last_deadline(desk: Desk, register: Endpoint) -> None:
    """The first sender may only be slow: until its deadline is over, absent means not yet."""
    run = desk.start([call("free.lookup", 7)])
    assert work_and_die(run, "send.before")
    let_it_run_out(run)
    assert desk.work(run).status == "sleeping" and tooling.happened("sent") == []
    due, deadline = Call.objects.get().due_at, Attempt.objects.get().send_deadline
    assert due is not None and (due - deadline).total_seconds() >= attempts.MARGIN - 0.5
    assert desk.wait_out(run).status == "completed" and len(tooling.happened("done")) == 1
    assert len(register.got) == 2 and Attempt.objects.count() == 2
    intended = [each for each in entries.read(run.workspace_id, run.public_id) if each["kind"] == "call.intended"]
    assert [each["why"] for each in intended] == ["unsent", "absent"]


def test_a_call_that_arrives_while_it_is_waited_for_is_found(desk: Desk, register: Endpoint) -> None:
    run = desk.start([call("free.lookup", 7)])
    assert work_and_die(run, "send.before")
    let_it_run_out(run)
    assert desk.work(run).status == "sleeping"
    register.body = b'{"found": true}'
    assert desk.wait_out(run).status == "completed" and tooling.happened("sent") == []


@pytest.mark.parametrize(
    ("status", "body"), [(404, b""), (404, b'{"found": false}'), (200, b"[]"), (200, b'{"found": "no"}'), (500, b"")]
)
def test_a_lookup_that_proves_nothing_leaves_the_outcome_unknown(
    desk: Desk, register: Endpoint, status: int, body: bytes
) -> None:
    """A wrong address answers 404 too: that nothing is there has to be said."""
    register.status, register.body = status, body
    run = desk.start([call("free.lookup", 7)])
    assert work_and_die(run, "send.before")
    let_it_run_out(run)
    desk.wait_out(run)
    assert desk.calls(run)[0].status == "unknown" and tooling.happened("sent") == []
    assert len(register.got) == retries.LOOKS * promises.TRIES + 1


def test_a_lookup_may_be_another_tool_that_only_reads(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a key of its own, so that nobody takes it for the call."""
    promising(desk, "free.lookup", lookup={"tool": "free.pure"})
    sends = Sends(monkeypatch, NO_ANSWER, Answer(tools.EXECUTED, {"found": True, "value": 5}))
    run = desk.wait_out(desk.begin([call("free.lookup", 7)]))
    assert desk.results(run)[0]["value"] == 5 and len(set(sends.keys)) == 2


def test_a_lookup_by_a_tool_that_does_something_is_not_made(desk: Desk) -> None:
    promising(desk, "free.lookup", lookup={"tool": "free.keyed"})
    run = desk.start([call("free.lookup", 7)])
    assert work_and_die(run, "send.before")
    sent = desk.calls(run)[0]
    assert sent.tool is not None
    seen = lookups.look(sent.tool, sent, b'{"n":7}')
    assert seen.verdict == lookups.UNSURE and "only reads" in seen.note and tooling.happened("sent") == []


def test_a_keyed_tool_is_looked_up_once_its_key_is_forgotten(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    promising(desk, "free.keyed", key_seconds=60, lookup={"tool": "free.pure"})
    run = desk.start([call("free.keyed", 7)])
    assert work_and_die(run, "send.after")
    let_it_run_out(run)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE runtime_attempt SET created_at = created_at - interval '1 day'")
    Sends(monkeypatch, Answer(tools.EXECUTED, {"found": True, "value": 5}))
    assert desk.work(run).status == "completed" and desk.results(run)[0]["value"] == 5


def test_a_poke_that_comes_while_a_run_goes_to_sleep_is_noticed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, together: Any
) -> None:
    """DU-L34, AP-U16."""
    Sends(monkeypatch, NOT_REACHED)
    run = desk.begin([call("free.unsafe", 1), call("asked.unsafe", 2)])
    held, barrier = desk.calls(run)[1], threading.Barrier(2)

    def say() -> None:
        barrier.wait()
        desk.say(held, desk.cast.dana, "approve")

    def wake() -> None:
        Run.objects.filter(pk=run.pk, status="sleeping").update(status="ready")
        barrier.wait()
        desk.work(run)

    together(say, wake)
    desk.wait_out(run)
    assert run.status == "completed"
