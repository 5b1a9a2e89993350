"""Breakpoints and human input modes: where a run stops, what people may change there, and how it goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from approvals import gate, people, rows
from approvals.approvals import Approval
from approvals.decisions import Decided, Decision, Refused
from approvals.ledger import canonical, entries
from runtime import checkpoints, definitions, resolutions, runs, sweeps
from runtime.agents.agent import ProposedCall, Step
from runtime.agents.graph import Graph
from runtime.breakpoints import Breakpoint
from runtime.checkpoints import Checkpoint
from runtime.definitions.interrupts import BadInterrupts
from runtime.runs import Run
from tests import cast as casting
from tests.runtime import tooling
from tests.runtime.conftest import Desk

STATE: dict[str, Any] = {
    "type": "object",
    "required": ["outcome"],
    "properties": {
        "amount": {"type": "integer", "minimum": 1},
        "customer": {"type": "object", "properties": {"name": {"type": "string"}, "vip": {"type": "boolean"}}},
    },
}
OPEN = {"state_schema": STATE, "editable": ["/amount", "/customer/vip"]}

walk = Graph("walk", entry="weigh")


@walk.node
def weigh(state, results):
    update = {"amount": 40, "customer": {"name": "Ruth", "vip": False}, "hidden": "not shown"}
    return Step(update=update, append={"messages": [{"role": "agent", "text": "I weighed it."}]}, goto="pay")


@walk.node
def pay(state, results):
    return Step(calls=[ProposedCall("free.keyed", {"n": state["amount"]})], goto="close")


@walk.node
def close(state, results):
    said = [message["text"] for message in state["messages"] if message["role"] == "person"]
    return Step(update={"outcome": f"{results[0].args['n'] if results else 'again'} {said}"}, goto="close", done=True)


@pytest.fixture(autouse=True)
def _world() -> Iterator[None]:
    yield
    tooling.world().unlink(missing_ok=True)


def walker(desk: Desk, **definition: Any) -> Run:
    """A run of the walking agent, as far as it goes."""
    agent = definitions.register_agent(
        desk.cast.northwind.pk, "walker", "graph", {"graph": "walk", **definition}, by="system"
    )
    people.grant(desk.cast.omar, "operate", agent, by="system")
    return desk.work(runs.start(desk.cast.northwind.pk, agent, input={}, title="Walk", by="system"))


def asked(run: Run) -> Approval:
    return Approval.objects.get(chain=run.public_id, status="pending")


def say(desk: Desk, run: Run, verdict: str, **more: Any) -> Run:
    """Omar decides what the run stands at, and a worker goes on with it."""
    answer = casting.say(asked(run), desk.cast.omar, verdict, **more)
    assert isinstance(answer, Decided), answer
    return desk.work(run)


def words(text: str) -> bytes:
    return canonical.encode(text)


def state_of(run: Run) -> dict[str, Any]:
    return checkpoints.rehydrate(run.pk, head_seq=run.head_seq, head_mac=bytes(run.head_mac))[0]


def kinds(run: Run) -> list[str]:
    return list(Checkpoint.objects.filter(run=run).order_by("seq").values_list("kind", flat=True))


def shown(approval: Approval) -> Any:
    return canonical.parse(approval.revisions.get(number=approval.revision).ruling.clear_args())


def test_a_run_stops_before_a_named_node(desk: Desk) -> None:
    """Nothing of the node has happened, and people see the variables that the schema names."""
    run = walker(desk, interrupt_before=["pay"], **OPEN)
    assert run.status == "suspended_approval" and not tooling.happened("done")
    approval = asked(run)
    assert (approval.kind, approval.subject) == ("breakpoint", f"{run.public_id}:breakpoint:2")
    assert shown(approval) == {"amount": 40, "customer": {"name": "Ruth", "vip": False}}
    assert say(desk, run, "approve").status == "completed" and kinds(run).count("decision") == 1


def test_a_run_stops_after_a_named_node_when_its_calls_have_ended(desk: Desk) -> None:
    run = walker(desk, interrupt_after=["pay"], **OPEN)
    assert run.status == "suspended_approval" and len(tooling.happened("done")) == 1
    assert say(desk, run, "approve").status == "completed" and state_of(run)["outcome"] == "40 []"


def test_stopping_after_one_node_and_before_the_next_is_one_stop(desk: Desk) -> None:
    """DU-L18: one suspension for one place."""
    run = walker(desk, interrupt_after=["weigh"], interrupt_before=["pay"], **OPEN)
    assert say(desk, run, "approve").status == "completed" and Breakpoint.objects.count() == 1


def test_a_run_may_stop_several_times(desk: Desk) -> None:
    run = walker(desk, interrupt_before=["*"], **OPEN)
    for _ in range(3):
        assert run.status == "suspended_approval"
        say(desk, run, "approve")
    assert run.status == "completed" and Approval.objects.filter(status="approved").count() == 3


def test_an_edit_reaches_the_run_as_one_delta(desk: Desk) -> None:
    """DU-L15: committed once, in the chain, tied to the approval by its id and by the ledger."""
    run = walker(desk, interrupt_before=["pay"], **OPEN)
    approval = asked(run)
    say(desk, run, "edit", edited={"amount": 7, "customer": {"name": "Ruth", "vip": True}})
    assert [line["args"]["n"] for line in tooling.happened("done")] == [7]
    assert state_of(run)["customer"] == {"name": "Ruth", "vip": True} and state_of(run)["hidden"] == "not shown"
    made = checkpoints.body_of(Checkpoint.objects.get(run=run, kind="decision"))
    assert [(each["op"], each["path"]) for each in made["ops"]] == [("set", "/amount"), ("set", "/customer/vip")]
    assert made["approval"] == approval.public_id
    passed = [each for each in entries.read(run.workspace_id, run.public_id) if each["kind"] == "breakpoint.passed"]
    assert [(each["approval"], each["changes"]) for each in passed] == [(approval.public_id, 2)]


@pytest.mark.parametrize(
    ("edited", "pointer"),
    [
        ({"amount": 0, "customer": {"name": "Ruth", "vip": False}}, "/amount"),
        ({"amount": 40, "customer": {"name": "Eve", "vip": False}}, "/customer/name"),
        ({"amount": 40}, "/customer"),
        ({"amount": 40, "customer": {"name": "Ruth", "vip": False}, "hidden": "x"}, "/hidden"),
    ],
)
def test_only_what_the_schema_opens_can_be_changed(desk: Desk, edited: Any, pointer: str) -> None:
    run = walker(desk, interrupt_before=["pay"], **OPEN)
    refused = casting.say(asked(run), desk.cast.omar, "edit", edited=edited)
    assert isinstance(refused, Refused) and (refused.code, refused.pointer) == ("invalid_edit", pointer)


def test_a_rejection_ends_the_run(desk: Desk) -> None:
    run = walker(desk, interrupt_before=["pay"], **OPEN)
    say(desk, run, "reject", message="Not today.")
    assert (run.status, run.told, run.cancel_by) == ("cancelled", "Not today.", desk.cast.omar.public_id)
    assert not tooling.happened("done")


def test_a_breakpoint_that_nobody_looks_at_parks_the_run_and_is_asked_anew(desk: Desk) -> None:
    """No timeout lets a run go on, and DU-L19: what was said the first time says nothing of the second."""
    run = walker(desk, interrupt_before=["pay"], **OPEN)
    Approval.objects.update(expires_at=rows.now())
    assert gate.expire_due() == 1 and desk.work(run).reason_code == "breakpoint_expired"
    assert runs.resume(run, by=desk.cast.omar.public_id) and desk.work(run).status == "suspended_approval"
    assert say(desk, run, "approve").status == "completed"
    assert list(Breakpoint.objects.order_by("created_at").values_list("status", flat=True)) == ["expired", "passed"]


def test_cancelling_a_run_at_a_breakpoint_withdraws_the_question(desk: Desk) -> None:
    run = walker(desk, interrupt_before=["pay"], **OPEN)
    runs.cancel(run, by=desk.cast.omar.public_id, reason="Never mind.")
    assert desk.work(run).status == "cancelled" and Breakpoint.objects.get().status == "cancelled"
    assert Approval.objects.get().status == "cancelled"


def test_always_lets_people_steer_after_every_step(desk: Desk) -> None:
    """The words reach the next step as input."""
    run = walker(desk, human_input_mode="ALWAYS")
    say(desk, run, "respond", response=words("Be kind."))
    say(desk, run, "approve")
    assert run.status == "suspended_approval" and "finish" in asked(run).tool_title
    assert say(desk, run, "approve").status == "completed"
    assert state_of(run)["outcome"] == "40 ['Be kind.']"
    steered = [message for message in state_of(run)["messages"] if message["role"] == "person"]
    assert steered == [{"role": "person", "text": "Be kind.", "by": "Omar Haddad"}]


def test_terminate_asks_before_the_end_and_the_run_may_be_sent_on(desk: Desk) -> None:
    run = walker(desk, human_input_mode="TERMINATE")
    assert run.status == "suspended_approval" and len(tooling.happened("done")) == 1
    say(desk, run, "respond", response=words("Write to her first."))
    assert run.status == "suspended_approval" and state_of(run)["outcome"] == "again ['Write to her first.']"
    assert say(desk, run, "approve").status == "completed" and run.ended_at is not None
    assert len(tooling.happened("done")) == 1


def test_never_asks_nobody(desk: Desk) -> None:
    assert walker(desk, human_input_mode="NEVER").status == "completed" and not Approval.objects.exists()


def test_the_mode_of_one_run_is_not_that_of_another(desk: Desk) -> None:
    """AP-A10: each goes on as it began, also where both are of one agent."""
    steered = walker(desk, human_input_mode="ALWAYS")
    free = walker(desk, human_input_mode="NEVER")
    assert (steered.status, free.status) == ("suspended_approval", "completed")
    assert say(desk, steered, "approve").status == "suspended_approval"
    assert walker(desk, human_input_mode="NEVER").status == "completed"


def test_an_end_that_nobody_looked_at_is_asked_about_again(desk: Desk) -> None:
    run = walker(desk, human_input_mode="TERMINATE")
    Approval.objects.update(expires_at=rows.now())
    gate.expire_due()
    desk.work(run)
    runs.resume(run, by=desk.cast.omar.public_id)
    assert desk.work(run).status == "suspended_approval" and "finish" in asked(run).tool_title
    assert say(desk, run, "approve").status == "completed"


def test_a_right_that_was_lost_lets_nothing_pass(desk: Desk) -> None:
    """Rights are read again when the decision takes effect."""
    run = walker(desk, interrupt_before=["pay"], **OPEN)
    casting.say(asked(run), desk.cast.omar, "edit", edited={"amount": 1, "customer": {"name": "Ruth", "vip": False}})
    people.revoke(desk.cast.omar, "operate", run.agent, by="system")
    assert desk.work(run).reason_code == "not_cleared" and state_of(run)["amount"] == 40


def test_a_forged_yes_lets_nothing_pass(desk: Desk) -> None:
    """DU-L31: rows written past Placet."""
    run = walker(desk, interrupt_before=["pay"], **OPEN)
    digest = asked(run).revisions.get(number=1).digest
    Approval.objects.update(status="approved")
    Breakpoint.objects.update(status="passed", digest=digest)
    Run.objects.update(status="ready")
    assert desk.work(run).reason_code == "not_cleared" and not Decision.objects.exists()


def test_a_row_that_says_it_was_passed_lets_nothing_pass(desk: Desk) -> None:
    """AU-5, T31: that people passed it stands in the run's chain, and the row is an index of it."""
    run = walker(desk, interrupt_before=["pay"], **OPEN)
    Breakpoint.objects.filter(run=run).update(status="passed", consumed_seq=2)
    Run.objects.filter(pk=run.pk).update(status="ready")
    assert desk.work(run).status != "completed" and tooling.happened("sent") == []


def test_a_state_too_large_to_be_shown_parks_the_run(desk: Desk) -> None:
    schema = {"type": "object", "properties": {"input": {"type": "object"}}}
    definition = {"graph": "walk", "interrupt_before": ["pay"], "state_schema": schema}
    agent = definitions.register_agent(desk.cast.northwind.pk, "walker", "graph", definition, by="system")
    large = {"text": "x" * 300_000}
    run = desk.work(runs.start(desk.cast.northwind.pk, agent, input=large, title="Walk", by="system"))
    assert run.reason_code == "unusable" and "state_schema" in run.reason and not Approval.objects.exists()


@pytest.mark.parametrize(
    "definition",
    [
        {"human_input_mode": "SOMETIMES"},
        {"interrupt_before": "pay"},
        {"interrupt_after": [1]},
        {"editable": ["/amount"]},
        {"editable": ["amount"], "state_schema": STATE},
        {"state_schema": {"type": "strong"}},
    ],
)
def test_a_definition_that_cannot_be_understood_is_refused(desk: Desk, definition: dict[str, Any]) -> None:
    with pytest.raises(BadInterrupts):
        definitions.register_agent(desk.cast.northwind.pk, "walker", "scripted", definition, by="system")


def test_a_node_that_there_is_not_is_no_place_to_stop(desk: Desk) -> None:
    """A misspelt breakpoint never stops anything, so the run is not begun."""
    run = walker(desk, interrupt_before=["pai"])
    assert run.status == "parked" and "pai" in run.reason


def test_a_decision_whose_word_was_lost_is_heard_by_the_sweep(desk: Desk, settings: Any) -> None:
    run = walker(desk, interrupt_before=["pay"], **OPEN)
    settings.PLACET_RESOLVED = "tests.runtime.test_sweeps.hear_nothing"
    casting.say(asked(run), desk.cast.omar, "approve")
    settings.PLACET_RESOLVED = "runtime.resolutions.resolved"
    assert sweeps.repair() >= 1 and desk.work(run).status == "completed"
    assert not resolutions.waits(f"{run.public_id}:breakpoint:2")
