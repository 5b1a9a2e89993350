"""Dispatch: the right bytes, once, and the truth about what came of it."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from approvals import people, policies
from approvals.approvals import Approval
from approvals.ledger import canonical, entries
from runtime import attempts, calls, definitions, dispatch, leases, loop, promises, retries, tools
from runtime.calls import Attempt, Call
from runtime.definitions import Tool
from runtime.runs import Run
from runtime.tools import Answer
from tests.runtime import tooling
from tests.runtime.conftest import POLICY, Desk, call
from tests.runtime.crashing import work_and_die
from tests.runtime.test_checkpoints import tamper
from tests.runtime.test_leases import claimed, let_it_run_out


def approved(desk: Desk, tool: str = "asked.unsafe", n: int = 7) -> tuple[Run, Call]:
    """A run that waits, with the yes it waited for, and nobody has looked yet."""
    run = desk.begin([call(tool, n)])
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    return run, desk.calls(run)[0]


def sent() -> list[int]:
    return [line["args"]["n"] for line in tooling.happened("sent")]


def test_what_was_approved_is_sent_once_with_its_key(desk: Desk) -> None:
    """AP-D3, AP-D12, AP-V3."""
    run, held = approved(desk)
    assert desk.work(run).status == "completed"
    [line] = tooling.happened("sent")
    assert (line["key"], line["call"], line["args"]) == (held.key, held.public_id, {"n": 7})


def test_it_is_not_sent_again_whatever_is_looked_at(desk: Desk) -> None:
    """AP-D6, AP-D16, AP-R10: a consumed approval authorises nothing more."""
    run, _ = approved(desk)
    for _ in range(3):
        desk.work(run)
    Run.objects.filter(pk=run.pk).update(status="ready")
    desk.work(run)
    assert sent() == [7]


def test_edited_arguments_are_what_runs_and_what_the_agent_is_told(desk: Desk) -> None:
    """AP-D14, AP-V3: the saved call is sent, and the model is not asked to repeat it."""
    run = desk.begin([call("asked.keyed", 7)])
    held = desk.calls(run)[0]
    desk.say(held, desk.cast.dana, "edit", edited={"n": 3})
    assert desk.work(run).status == "completed"
    assert [line["args"] for line in tooling.happened("done")] == [{"n": 3}]
    assert desk.results(run)[0]["args"] == {"n": 3} and desk.results(run)[0]["value"] == {"n": 3, "twice": 6}
    assert desk.calls(run)[0].key == held.key


def test_the_outcome_is_reported_to_the_approval_and_the_ledger(desk: Desk) -> None:
    run, held = approved(desk)
    desk.work(run)
    assert Approval.objects.get(subject=held.public_id).outcome == "executed"
    kinds = [entry["kind"] for entry in entries.read(run.workspace_id, run.public_id)]
    assert kinds[0] == "run.started" and kinds[-2:] == ["call.intended", "outcome.reported"]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE runtime_call SET digest = repeat('b', 64)",  # AP-V10
        "UPDATE approvals_ruling SET args = set_byte(args, 20, 0)",
        "UPDATE approvals_ruling SET args_digest = repeat('c', 64)",
        "UPDATE approvals_approval SET status = 'pending'",
        "UPDATE approvals_decision SET verdict = 'reject'",
        'UPDATE runtime_tool SET config = \'{"function": "os.system"}\'',
        "UPDATE runtime_tool SET effect = 'keyed'",
        "UPDATE runtime_tool SET mac = set_byte(mac, 1, 9)",
        "UPDATE runtime_tool SET is_active = false",
    ],
)
def test_what_does_not_hold_at_dispatch_is_not_sent(desk: Desk, sql: str) -> None:
    """AP-R2, DU-L31: the gate sits at the executor. The agent is told, and the run goes on."""
    run, _ = approved(desk)
    tamper(sql)
    assert desk.work(run).status == "completed"
    assert sent() == [] and desk.results(run)[0]["status"] == "refused" and desk.results(run)[0]["message"]


def test_a_right_that_was_taken_away_counts_at_dispatch(desk: Desk) -> None:
    """The call goes back to people: whose yes no longer counts is no reason to forget what was wanted."""
    run, held = approved(desk)
    people.revoke(desk.cast.dana, "decide", desk.cast.finance, by="system")
    assert desk.work(run).status == "suspended_approval" and sent() == []
    first, second = Approval.objects.filter(subject=held.public_id).order_by("created_at")
    assert (first.status, second.status, second.asked_again_id) == ("approved", "pending", first.pk)
    desk.say(held, desk.cast.priya, "approve")
    assert desk.work(run).status == "completed" and sent() == [7]


def test_asked_again_after_an_edit_people_see_the_edited_bytes(desk: Desk) -> None:
    run = desk.begin([call("asked.keyed", 7)])
    held = desk.calls(run)[0]
    desk.say(held, desk.cast.dana, "edit", edited={"n": 3})
    people.revoke(desk.cast.dana, "decide", desk.cast.finance, by="system")
    desk.work(run)
    desk.say(held, desk.cast.priya, "approve")
    desk.work(run)
    assert sent() == [3] and desk.calls(run)[0].key == held.key


def test_a_policy_that_now_refuses_counts_at_dispatch(desk: Desk) -> None:
    run, _ = approved(desk)
    policies.load(desk.cast.northwind, "policy: 1\nrules: []\n", by="system")
    desk.work(run)
    assert sent() == [] and desk.results(run)[0]["status"] == "refused"


def test_a_policy_that_asks_others_now_asks_them(desk: Desk) -> None:
    """Also about a call that it allowed outright when it was proposed."""
    run, _ = approved(desk)
    other = desk.start([call("free.unsafe", 8)])
    assert work_and_die(other, "step.after")
    let_it_run_out(other)
    stricter = POLICY.replace("approvals: [{team: finance}]", "approvals: [{team: finance, count: 2}]")
    stricter = stricter.replace("free.unsafe]}\n    verdict: allow", "x]}\n    verdict: allow")
    stricter = stricter.replace("tool: [asked.pure,", "tool: [free.unsafe, asked.pure,")
    policies.load(desk.cast.northwind, stricter, by="system")
    for each in (run, other):
        assert desk.work(each).status == "suspended_approval" and sent() == []
        for person in (desk.cast.dana, desk.cast.priya):
            desk.say(desk.calls(each)[0], person, "approve")
    assert desk.work(run).status == desk.work(other).status == "completed" and sent() == [7, 8]


def test_a_policy_that_allows_it_outright_now_lets_it_run(desk: Desk) -> None:
    run, _ = approved(desk)
    policies.load(desk.cast.northwind, POLICY.replace("free.natural", "asked.unsafe, free.natural"), by="system")
    people.revoke(desk.cast.dana, "decide", desk.cast.finance, by="system")
    assert desk.work(run).status == "completed" and sent() == [7]


@pytest.mark.parametrize("point", ["intent.before", "intent.after"])
def test_it_is_asked_again_once_whoever_dies(desk: Desk, point: str) -> None:
    """DU-L32: durable, and once."""
    run, held = approved(desk)
    people.revoke(desk.cast.dana, "decide", desk.cast.finance, by="system")
    assert work_and_die(run, point)
    let_it_run_out(run)
    assert desk.work(run).status == "suspended_approval"
    assert Approval.objects.filter(subject=held.public_id).count() == 2


def test_a_yes_that_ran_out_before_dispatch_runs_nothing(desk: Desk) -> None:
    """AP-U10: expiry is checked at dispatch too, and people are asked anew."""
    policies.load(desk.cast.northwind, POLICY.replace("deadline: 1h", "deadline: 2s"), by="system")
    run, held = approved(desk)
    threading.Event().wait(2.1)
    assert desk.work(run).status == "suspended_approval" and sent() == []
    [told] = [each for each in entries.read(run.workspace_id, run.public_id) if each["kind"] == "call.asked_again"]
    assert "ran out" in told["reason"] and told["subject"] == held.public_id


def test_a_tool_that_changed_since_it_was_approved_is_refused(desk: Desk) -> None:
    run, held = approved(desk)
    known = next(each for each in tools.registered() if each.definition["name"] == held.tool_name)
    changed = {**known.definition, "description": "Now it also closes the account."}
    definitions.register_tool(
        run.workspace_id, changed, kind="function", config={"function": known.path}, effect="unsafe", by="system"
    )
    desk.work(run)
    assert sent() == [] and "definition" in desk.results(run)[0]["message"]


@pytest.mark.parametrize(
    ("args", "status", "word"),
    [
        ({"raise": "refused"}, "failed", "Not this one."),
        ({"raise": "out of paper"}, "failed", "RuntimeError: out of paper"),
    ],
)
def test_a_tool_that_fails_says_so_to_the_agent(desk: Desk, args: dict[str, Any], status: str, word: str) -> None:
    run = desk.begin([call("free.unsafe", 1, **args)])
    result = desk.results(run)[0]
    assert (run.status, result["status"]) == ("completed", status) and word in result["message"]
    assert word not in Attempt.objects.get().note


@pytest.mark.parametrize("outcome", [tools.LOST, tools.NOT_SENT])
@pytest.mark.parametrize("effect", tooling.EFFECTS)
def test_what_is_sent_again_depends_on_what_the_tool_promises(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, effect: str, outcome: str
) -> None:
    """AP-D3: no answer came. Safe to repeat: the same key again; else nobody knows, and nothing is sent."""
    seen: list[str] = []

    def first_lost(kind: str, config: Any, secret: bytes, args: bytes, use: tools.Use) -> Answer:
        seen.append(use.key)
        return Answer(outcome) if len(seen) == 1 else Answer(tools.EXECUTED, "there")

    monkeypatch.setattr(tools, "send", first_lost)
    run = desk.wait_out(desk.begin([call(f"free.{effect}")]))
    again = outcome == tools.NOT_SENT or effect in tools.SAFE_TO_REPEAT
    assert len(seen) == (2 if again else 1) and len(set(seen)) == 1
    assert run.status == ("completed" if again else "suspended_approval")
    assert desk.calls(run)[0].status == ("executed" if again else "unknown")


def test_it_is_not_sent_for_ever(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "send", lambda *_: Answer(tools.LOST, note="No answer."))
    run = desk.wait_out(desk.begin([call("free.keyed")]))
    assert (run.status, Attempt.objects.count()) == ("suspended_approval", promises.TRIES)
    assert [each.outcome for each in Attempt.objects.order_by("number")] == ["lost"] * 3


def test_an_unknown_outcome_holds_the_run_and_shows_on_the_approval(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DU-S9: it says neither success nor failure, and the agent takes no step."""
    run, held = approved(desk)
    monkeypatch.setattr(tools, "send", lambda *_: Answer(tools.LOST, note="No answer."))
    desk.work(run)
    assert run.status == "sleeping" and desk.results(run) == []
    assert desk.wait_out(run).status == "suspended_approval" and desk.results(run) == []
    assert Approval.objects.get(subject=held.public_id).outcome == "unknown"


@pytest.mark.parametrize("effect", tooling.EFFECTS)
def test_a_sender_that_died_is_followed_by_what_the_tool_promises(desk: Desk, effect: str) -> None:
    """DU-C4, DU-L18: the lease runs out between intent and result."""
    run = desk.start([call(f"free.{effect}")])
    die_after_intent(desk, run)
    desk.wait_out(run)
    repeatable = effect in tools.SAFE_TO_REPEAT
    assert run.status == ("completed" if repeatable else "suspended_approval")
    ends = list(Attempt.objects.order_by("number").values_list("outcome", flat=True))
    assert ends == (["lost", "executed"] if repeatable else ["lost"])
    assert len(sent()) == (1 if repeatable else 0)


def die_after_intent(desk: Desk, run: Run) -> None:
    """A worker that commits the intent of the run's first call and is never heard of again."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(dispatch, "_send", lambda *_: (_ for _ in ()).throw(SystemExit))
        with pytest.raises(SystemExit):
            loop.advance(run.pk)
    let_it_run_out(run)


class Overtaken:
    """A worker that sends a call and, before it can say so, is overtaken by another."""

    def __init__(self, desk: Desk, run: Run, monkeypatch: pytest.MonkeyPatch, *, settle: bool) -> None:
        self.desk, self.run, self.settle = desk, run, settle
        self.send = tools.send
        monkeypatch.setattr(tools, "send", self._send)

    def _send(self, *args: Any) -> Answer:
        answer = self.send(*args)
        let_it_run_out(self.run)
        if self.settle:
            tools.send = self.send
            loop.advance(self.run.pk)
        else:
            claimed(self.run)
        return answer


def test_a_late_answer_settles_what_nobody_knew(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other worker recorded "unknown"; the answer is the truth about this very attempt, and the run goes on."""
    run, held = approved(desk)
    Overtaken(desk, run, monkeypatch, settle=True)
    loop.advance(run.pk)
    assert desk.calls(run)[0].status == "executed" and Attempt.objects.get().late
    assert Approval.objects.get(subject=held.public_id).outcome == "executed"
    monkeypatch.undo()
    assert desk.work(run).status == "completed" and sent() == [7]


def test_a_late_answer_of_an_attempt_that_no_longer_counts_is_kept_beside(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = approved(desk, "asked.keyed")
    Overtaken(desk, run, monkeypatch, settle=True)
    loop.advance(run.pk)
    first, second = Attempt.objects.order_by("number")
    assert (first.late, second.late, desk.calls(run)[0].attempt_id) == (True, False, second.pk)
    assert desk.work(run).status == "completed" and len(tooling.happened("done")) == 1


def test_an_answer_is_evidence_while_another_worker_has_the_run(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    run, _ = approved(desk)
    Overtaken(desk, run, monkeypatch, settle=False)
    loop.advance(run.pk)
    monkeypatch.undo()
    run.refresh_from_db()
    assert (desk.calls(run)[0].status, run.status, run.head_seq) == ("executed", "in_progress", 2)
    let_it_run_out(run)
    assert desk.work(run).status == "completed" and sent() == [7]


def test_a_worker_that_wakes_up_too_late_sends_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """DU-E15: the deadline is known to the worker, and enforced where it sends."""
    run, _ = approved(desk)
    lease = claimed(run)
    intent = dispatch._intend(lease, desk.calls(run)[0], retries.UNSENT)
    assert intent is not None
    late = dispatch.Intent(intent.call, intent.attempt, intent.tool, intent.args, time.monotonic() - 60)
    assert dispatch._send(lease, late).outcome == tools.NOT_SENT
    lease.lost = True
    assert dispatch._send(lease, intent).outcome == tools.NOT_SENT and sent() == []


def test_two_workers_that_both_hold_the_call_send_it_once(desk: Desk) -> None:
    """AP-D1: one conditional update claims the dispatch."""
    run, held = approved(desk)
    lease = claimed(run)
    twin = Call.objects.get(pk=held.pk)
    assert dispatch._intend(lease, held, retries.UNSENT) is not None
    with pytest.raises(leases.LeaseLost):
        dispatch._intend(lease, twin, retries.UNSENT)


def test_the_bytes_sent_are_the_bytes_that_were_hashed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    run, held = approved(desk)
    caught: list[bytes] = []

    def catch(kind: str, config: Any, secret: bytes, args: bytes, use: tools.Use) -> Answer:
        caught.append(args)
        return Answer(tools.EXECUTED)

    monkeypatch.setattr(tools, "send", catch)
    desk.work(run)
    assert canonical.sha256_hex(caught[0]) == Call.objects.get(pk=held.pk).args_digest
    assert calls.args_of(Call.objects.get(pk=held.pk)) == caught[0]


def test_a_tool_says_in_its_definition_how_long_it_may_take(desk: Desk) -> None:
    run, _ = approved(desk)
    desk.work(run)
    attempt = Attempt.objects.get()
    seconds = (attempt.send_deadline - attempt.created_at).total_seconds()
    assert 10 <= seconds - attempts.GRACE < 11 and Tool.objects.get(name="asked.unsafe").timeout == 10


def test_an_intent_whose_commit_was_lost_is_not_sent_though_the_call_was_changed(desk: Desk) -> None:
    """DU-E1, AP-D3: that somebody changed the call meanwhile does not make our intent one that was committed."""
    _, held = approved(desk)
    Call.objects.filter(pk=held.pk).update(status="refused")
    made: list[dispatch.Intent] = [dispatch.Intent(held, Attempt(), Tool(), b"{}", 0.0)]
    assert dispatch._answered(held, Attempt().pk, made) and made == []
