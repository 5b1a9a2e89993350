"""The loop: steps, suspension, decisions in any order, and what the agent is told, once."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import pytest

from approvals import policies
from approvals.approvals import Approval
from approvals.ledger import entries
from approvals.rulings import Ruling
from runtime import definitions, loop, runs
from runtime.agents.agent import ProposedCall, Step
from runtime.agents.graph import Graph
from runtime.calls import Call
from runtime.checkpoints import Checkpoint
from runtime.runs import Run
from tests.runtime import tooling
from tests.runtime.conftest import POLICY, Desk, call

odd = Graph("odd", entry="start")


@odd.node
def start(state, results):
    return ODD[state["input"]["how"]](state, results)


@odd.node
def after(state, results):
    return Step(update={"told": [result.message for result in results]}, done=True)


def _raise(state, results):
    raise KeyError("the customer's name")


ODD: dict[str, Any] = {
    "no step": lambda state, results: {"calls": []},
    "raises": _raise,
    "a set": lambda state, results: Step(update={"answer": {"seen": {1}}}),
    "a clock in a call": lambda state, results: Step(calls=[ProposedCall("free.pure", {"n": {1}})]),
    "nan": lambda state, results: Step(calls=[ProposedCall("free.pure", {"n": float("nan")})], goto="after"),
    "nowhere": lambda state, results: Step(goto="nowhere"),
    "half a pair": lambda state, results: Step(
        calls=[ProposedCall("free.\ud800", {"n": 1}, "Be\0cause \udfff.")], goto="after"
    ),
    "changes its copy": lambda state, results: state.clear() or Step(goto="after"),
}


def odd_run(desk: Desk, how: str) -> Run:
    agent = definitions.register_agent(desk.cast.northwind.pk, "odd", "graph", {"graph": "odd"}, by="system")
    return desk.work(runs.start(desk.cast.northwind.pk, agent, input={"how": how}, title="Odd", by="system"))


def test_a_run_whose_calls_policy_allows_goes_through(desk: Desk) -> None:
    run = desk.begin([call("free.keyed", 1)], [call("free.pure", 2)])
    assert (run.status, run.reason) == ("completed", "")
    assert [result["value"]["twice"] for result in desk.results(run)] == [2, 4]
    assert len(tooling.happened("done")) == 2


def test_a_run_waits_for_people_and_runs_what_they_approved(desk: Desk) -> None:
    """AP-D8, AP-U1, AP-U12: everything between is rows; no process remembers anything."""
    run = desk.begin([call("asked.keyed", 7)])
    assert (run.status, run.lease_owner) == ("suspended_approval", "") and tooling.happened("sent") == []
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    assert desk.work(run).status == "completed"
    assert [line["args"] for line in tooling.happened("done")] == [{"n": 7}]


def test_a_decision_makes_the_run_ready_by_the_same_commit(desk: Desk) -> None:
    """AP-U16, AP-D11, AP-R9."""
    run = desk.begin([call("asked.keyed")])
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    run.refresh_from_db()
    assert (run.status, run.pokes, desk.calls(run)[0].status) == ("ready", 1, "cleared")


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_several_calls_are_decided_in_any_order_and_told_in_the_agents(desk: Desk, order: tuple[int, ...]) -> None:
    """AP-P2, AP-P3, AP-P4, AP-P8, AP-P11, AP-P13, DU-L13, DU-L16, DU-L17, DU-L21, DU-T1: each decision runs its own
    call, at once, and no other; the agent goes on when all three have ended, and is told in the order in which it
    proposed them."""
    run = desk.begin([call("asked.keyed", 0), call("asked.unsafe", 1), call("asked.natural", 2)])
    held = desk.calls(run)
    for count, idx in enumerate(order, 1):
        desk.say(held[idx], desk.cast.dana, "reject" if idx == 1 else "approve", message=f"Told {idx}.")
        desk.work(run)
        assert run.status == ("completed" if count == 3 else "suspended_approval")
    assert [line["args"]["n"] for line in tooling.happened("done")] == [idx for idx in order if idx != 1]
    assert [result["status"] for result in desk.results(run)] == ["executed", "refused", "executed"]
    assert desk.results(run)[1]["message"] == "Told 1."


def test_a_reason_reaches_the_agent_exactly_once(desk: Desk) -> None:
    """AP-R4, AP-R1, AP-R2: and a rejected call never reaches a tool."""
    run = desk.begin([call("asked.keyed", 1)], [call("free.pure", 2)])
    desk.say(desk.calls(run)[0], desk.cast.dana, "reject", message="The photo shows another pallet.")
    desk.work(run)
    told = [result["message"] for result in desk.results(run)]
    assert told == ["The photo shows another pallet.", ""]
    assert [line["args"]["n"] for line in tooling.happened("sent")] == [2]


def test_expired_rejected_and_cancelled_are_three_outcomes(desk: Desk) -> None:
    """AP-R8, AP-V7: an expiry is not told as if somebody had said no."""
    run = desk.begin([call("asked.keyed", 1), call("asked.keyed", 2)])
    first, second = desk.calls(run)
    desk.say(first, desk.cast.dana, "reject", message="No.")
    expire(second)
    assert [each.status for each in desk.calls(run)] == ["refused", "expired"]
    desk.work(run)
    assert [result["status"] for result in desk.results(run)] == ["refused", "expired"]
    assert run.status == "completed" and tooling.happened("sent") == []


def expire(held: Call) -> None:
    from approvals import gate

    Approval.objects.filter(subject=held.public_id).update(expires_at="2020-01-01T00:00:00Z")
    assert gate.expire_due() == 1


def test_an_expiry_ends_the_run_where_the_rule_says_so(desk: Desk) -> None:
    """AP-R13."""
    policies.load(
        desk.cast.northwind, POLICY.replace("deadline: 1h", "deadline: 1h\n    on_deadline: cancel_run"), by="system"
    )
    run = desk.begin([call("asked.keyed", 1), call("asked.keyed", 2)], [call("free.unsafe", 3)])
    expire(desk.calls(run)[0])
    assert desk.work(run).status == "cancelled"
    assert [each.status for each in desk.calls(run)] == ["expired", "cancelled"] and tooling.happened("sent") == []
    assert not Approval.objects.filter(status="pending").exists()


def test_what_ran_before_a_pause_is_not_run_again(desk: Desk) -> None:
    """AP-P6, DU-L18, DU-L20, DU-L21: a sibling that had ended, and every step before."""
    run = desk.begin([call("free.unsafe", 1)], [call("free.unsafe", 2), call("asked.unsafe", 3)])
    assert [line["args"]["n"] for line in tooling.happened("sent")] == [1, 2]
    desk.say(desk.calls(run)[2], desk.cast.dana, "approve")
    desk.work(run)
    assert [line["args"]["n"] for line in tooling.happened("sent")] == [1, 2, 3]


def test_the_tenth_pause_works_like_the_first(desk: Desk) -> None:
    """AP-P7, DU-L15, DU-L32: each pause has its own approval, and one answer serves one pause."""
    run = desk.begin(*[[call("asked.keyed", n)] for n in range(10)])
    for _ in range(10):
        held = [each for each in desk.calls(run) if each.status == "held"]
        assert len(held) == 1 and Approval.objects.filter(status="pending").count() == 1
        desk.say(held[0], desk.cast.dana, "approve")
        desk.work(run)
    assert run.status == "completed" and len(tooling.happened("done")) == 10


def test_one_of_two_needed_voices_does_not_run_it(desk: Desk) -> None:
    """AP-V1, AP-V11."""
    run = desk.begin([call("pair.unsafe")])
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    assert desk.work(run).status == "suspended_approval" and tooling.happened("sent") == []
    desk.say(desk.calls(run)[0], desk.cast.priya, "approve")
    assert desk.work(run).status == "completed"


@pytest.mark.parametrize(
    ("proposed", "word"),
    [
        (call("no.such.tool"), "no tool called no.such.tool"),
        ({"tool": "free.pure", "args": {}}, "n"),
        ({"tool": "free.pure", "args": {"n": "seven"}}, "/n"),
        ({"tool": "free.pure", "args": {"n": 1, "note": None}}, "/note"),
    ],
)
def test_what_policy_or_the_schema_refuses_is_told_and_never_sent(desk: Desk, proposed: Any, word: str) -> None:
    """DU-L30, AP-V9: an answer to the agent, not an exception."""
    run = desk.begin([proposed], [call("free.pure", 2)])
    first, second = desk.results(run)
    assert (first["status"], second["status"], run.status) == ("refused", "executed", "completed")
    assert word in first["message"] and len(tooling.happened("sent")) == 1


def test_an_unknown_tool_is_refused_though_a_rule_would_allow_anything(desk: Desk) -> None:
    policies.load(desk.cast.northwind, "policy: 1\nrules: [{id: all, match: {}, verdict: allow}]\n", by="system")
    run = desk.begin([call("no.such.tool")])
    assert desk.results(run)[0]["status"] == "refused"


def test_there_is_a_ruling_for_every_call(desk: Desk) -> None:
    run = desk.begin([call("free.pure"), call("no.such.tool"), call("asked.pure")])
    found = {ruling.subject: ruling.verdict for ruling in Ruling.objects.all()}
    assert [found[each.public_id] for each in desk.calls(run)] == ["allow", "deny", "require_approval"]


@pytest.mark.parametrize(
    ("how", "status", "code", "word"),
    [
        ("no step", "failed", "bad_step", "not dict"),
        ("raises", "failed", "agent", "KeyError"),
        ("a set", "failed", "bad_step", "/answer/seen"),
        ("a clock in a call", "failed", "bad_step", "/calls/0/args/n"),
        ("nowhere", "parked", "unusable", "nowhere"),
    ],
)
def test_an_agent_that_goes_wrong_ends_its_run_loudly_and_loses_nothing(
    desk: Desk, how: str, status: str, code: str, word: str
) -> None:
    """DU-S1, DU-S2, AP-D7: the reason names the path; the customer's name stands in none."""
    run = odd_run(desk, how)
    assert (run.status, run.reason_code) == (status, code)
    assert word in run.told and "customer" not in run.told
    assert Checkpoint.objects.filter(run=run).count() == run.head_seq
    assert entries.read(run.workspace_id, run.public_id)[-1]["kind"] == f"run.{status}"


@pytest.mark.parametrize("how", ["nan", "half a pair"])
def test_what_models_write_and_json_cannot_say_is_refused_and_not_raised(desk: Desk, how: str) -> None:
    run = odd_run(desk, how)
    assert (run.status, desk.calls(run)[0].status) == ("completed", "refused")


def test_an_agent_may_spoil_its_own_copy_of_the_state(desk: Desk) -> None:
    """DU-L26."""
    assert odd_run(desk, "changes its copy").status == "completed"


def test_a_failed_run_can_go_on_from_its_last_commit(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """AP-D7: a failed resume can be repeated."""
    run = odd_run(desk, "raises")
    monkeypatch.setitem(ODD, "raises", lambda state, results: Step(goto="after"))
    assert runs.resume(run, by="system") and desk.work(run).status == "completed"


def test_the_person_is_shown_the_conversation_and_the_agents_reason(desk: Desk) -> None:
    from approvals.approvals import context_of

    talk = Graph("talk", entry="only")

    def only(state: Any, results: Any) -> Step:
        said = [{"role": "customer", "text": f"Line {n}"} for n in range(30)]
        return Step(append={"messages": said}, calls=[ProposedCall("asked.pure", {"n": 1}, "She asks.")], goto="only")

    talk.node(only)
    agent = definitions.register_agent(desk.cast.northwind.pk, "talk", "graph", {"graph": "talk"}, by="system")
    desk.work(runs.start(desk.cast.northwind.pk, agent, input={}, title="Ticket 4471", by="system"))
    context = context_of(Approval.objects.get())
    assert (context["reason"], context["title"]) == ("She asks.", "Ticket 4471")
    assert [message["text"] for message in context["messages"]] == [f"Line {n}" for n in range(10, 30)]


def test_a_run_goes_on_under_the_version_it_began_with(desk: Desk) -> None:
    """DU-E12: the resume point, and what resumes, are data."""
    old = definitions.register_agent(
        desk.cast.northwind.pk, "player", "scripted", {"steps": [[call("asked.pure", 1)]]}, by="system"
    )
    run = desk.work(runs.start(desk.cast.northwind.pk, old, input={}, title="", by="system"))
    definitions.register_agent(desk.cast.northwind.pk, "player", "scripted", {"steps": []}, by="system")
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    assert desk.work(run).status == "completed" and len(desk.results(run)) == 1


def test_nobody_looks_at_a_run_that_does_not_exist_or_has_ended(desk: Desk) -> None:
    """DU-L9."""
    run = desk.begin([call("free.pure")])
    assert loop.advance(run.pk) is False
    assert loop.advance(desk.agent.pk, desk.cast.northwind.pk) is False
    assert loop.advance(run.pk, desk.cast.halden.pk) is False


def test_a_run_goes_on_from_its_id_alone(desk: Desk) -> None:
    """AP-D10, DU-L24: there is nothing to pass along, so nothing can be forgotten or passed wrongly."""
    taken = inspect.signature(loop.advance).parameters
    assert list(taken) == ["run_id", "workspace_id"]
    run = desk.begin([call("asked.keyed", 5)])
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    assert loop.advance(run.pk)
    run.refresh_from_db()
    assert run.status == "completed"


@pytest.mark.parametrize("kind", ["scripted", "graph"])
def test_every_kind_of_agent_stops_at_the_same_gate(desk: Desk, kind: str) -> None:
    """AP-V5: there is one loop and one dispatch, whatever proposes the call."""
    step = Step(calls=[ProposedCall("asked.keyed", {"n": 1})], goto="after")
    ODD["asks"] = lambda state, results: step
    run = odd_run(desk, "asks") if kind == "graph" else desk.begin([call("asked.keyed", 1)])
    assert run.status == "suspended_approval"
    assert tooling.happened("sent") == []
