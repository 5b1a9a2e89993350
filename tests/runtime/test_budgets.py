"""Budgets: nothing is spent that is not covered, every hold ends once, and at the cap a person is asked."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F, Sum

from approvals import people, rows
from approvals.approvals import Approval
from approvals.decisions import Decided, Refused
from approvals.ledger import entries
from runtime import budgets, definitions, invariants, retention, runs, sweeps, tools
from runtime.attempts import Attempt
from runtime.budgets import Budget, Hold
from runtime.invariants import offenders
from runtime.runs import Run
from tests import cast as casting
from tests.runtime import growing, tooling
from tests.runtime.conftest import Desk, call
from tests.runtime.crashing import work_and_die
from tests.runtime.test_leases import let_it_run_out
from tests.runtime.test_retries import NO_ANSWER, NOT_REACHED, Sends
from tests.tampering import Tamper


def costly(tokens: int, n: int = 1, tool: str = "free.pure") -> dict[str, Any]:
    """A call that may spend so many tokens."""
    return call(tool, n) | {"estimate": {"tokens": tokens}}


def spent(usage: dict[str, int] | None) -> tools.Answer:
    return tools.Answer(tools.EXECUTED, "done", usage=usage)


def money() -> tuple[int, int]:
    """Money used and held."""
    found = Budget.objects.get()
    return found.money_used, found.money_held


def tokens() -> tuple[int, int]:
    """Used and held."""
    budget = Budget.objects.get()
    return budget.tokens_used, budget.tokens_held


def asked() -> Approval:
    return Approval.objects.filter(kind="budget").latest("created_at")


def say(desk: Desk, verdict: str, **more: Any) -> Decided | Refused:
    return casting.say(asked(), desk.cast.omar, verdict, **more)


def adds_up() -> bool:
    """Used is what ended holds spent, and held what the open ones may spend."""
    budget = Budget.objects.get()
    ended = Hold.objects.exclude(status="held").aggregate(sum=Sum("tokens_spent"))["sum"] or 0
    open_ = Hold.objects.filter(status="held").aggregate(sum=Sum("tokens"))["sum"] or 0
    return (budget.tokens_used, budget.tokens_held) == (ended, open_)


def test_an_estimate_is_held_and_what_was_spent_is_settled(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []

    def send(*_: Any) -> tools.Answer:
        seen.append(tokens())
        return spent({"tokens": 70})

    monkeypatch.setattr(tools, "send", send)
    run = desk.begin([costly(100)], [costly(100)], budget={"tokens": 200})
    assert run.status == "completed" and seen == [(0, 100), (70, 100)] and tokens() == (140, 0) and adds_up()
    assert [each.usage for each in Attempt.objects.all()] == [{"tokens": 70}] * 2


@pytest.mark.parametrize(
    ("usage", "charged"),
    [
        ({"money": 3}, (100, 3)),
        ({"tokens": 7}, (7, 20)),
        ({"tokens": 0}, (0, 20)),
        ({"tokens": 0, "money": 0}, (0, 0)),
        ({}, (100, 20)),
    ],
)
def test_of_a_unit_that_an_answer_does_not_name_the_estimate_is_charged(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, usage: dict[str, int], charged: tuple[int, int]
) -> None:
    """No word on a unit is not the word that none was spent."""
    monkeypatch.setattr(tools, "send", lambda *_: spent(usage))
    both = call("free.pure") | {"estimate": {"tokens": 100, "money": 20}}
    run = desk.begin([both], budget={"tokens": 200, "money": 50, "currency": "EUR"})
    assert (tokens(), money()) == ((charged[0], 0), (charged[1], 0)) and run.status == "completed"
    assert invariants.offenders() == [] and Hold.objects.get().status == ("settled" if usage else "charged")


def test_without_a_word_on_what_it_spent_the_estimate_is_charged(desk: Desk) -> None:
    desk.begin([costly(100)], budget={"tokens": 200})
    assert tokens() == (100, 0) and Hold.objects.get().status == "charged"


def test_what_was_spent_is_recorded_also_over_the_cap(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "send", lambda *_: spent({"tokens": 900}))
    desk.begin([costly(100)], budget={"tokens": 200})
    assert tokens() == (900, 0)


def test_what_an_agent_says_it_spent_itself_counts_against_the_cap(desk: Desk) -> None:
    """The step that went over is kept; before the next one people are asked."""
    steps = [{"usage": {"tokens": 130}}, {"update": {"a": 1}}, {"update": {"b": 1}}]
    run = growing.grow(desk, *steps, budget={"tokens": 100})
    assert run.status == "suspended_approval" and tokens() == (130, 0) and run.head_seq == 2
    assert asked().kind == "budget" and isinstance(say(desk, "approve"), Decided)
    assert desk.work(run).status == "completed" and Budget.objects.get().tokens_cap == 200


def test_a_run_that_went_over_its_cap_may_still_end(desk: Desk) -> None:
    """Its last step spends nothing more."""
    run = growing.grow(desk, {"usage": {"tokens": 130}}, {}, budget={"tokens": 100})
    assert run.status == "completed" and tokens() == (130, 0)


def test_what_did_not_reach_the_tool_costs_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    Sends(monkeypatch, NOT_REACHED, spent({"tokens": 5}))
    desk.wait_out(desk.begin([costly(100)], budget={"tokens": 100}))
    assert tokens() == (5, 0) and [each.tokens_spent for each in Hold.objects.order_by("created_at")] == [0, 5]


def test_every_try_that_may_have_arrived_is_paid(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """All attempts and retries draw on one row."""
    Sends(monkeypatch, NO_ANSWER, spent({"tokens": 5}))
    desk.wait_out(desk.begin([costly(100)], budget={"tokens": 300}))
    assert tokens() == (105, 0) and adds_up()


@pytest.mark.parametrize("point", ["intent.before", "intent.after", "send.after", "result.before", "result.after"])
def test_a_crash_loses_no_hold_and_charges_none_twice(desk: Desk, point: str) -> None:
    """Take-over charges what the dead sender may have spent; what was committed is never paid for again."""
    run = desk.start([costly(100)], budget={"tokens": 250})
    assert work_and_die(run, point)
    if point not in {"intent.before", "result.after"}:
        assert tokens() == (0, 100)
    let_it_run_out(run)
    assert desk.wait_out(run).status == "completed" and adds_up()
    twice = point in {"intent.after", "send.after", "result.before"}
    assert tokens() == (200 if twice else 100, 0)
    assert {each.status for each in Hold.objects.all()} == {"charged"}


def test_at_the_cap_a_person_is_asked_and_nothing_was_sent(desk: Desk) -> None:
    run = desk.begin([costly(60)], [costly(60, 2)], budget={"tokens": 100})
    assert run.status == "suspended_approval" and len(tooling.happened("sent")) == 1 and tokens() == (60, 0)
    question = asked()
    assert question.tool_title == "Raise the cap on tokens?" and question.public_id == run.budget_question
    assert question.schema["properties"]["tokens"]["minimum"] == 120
    assert desk.work(run).status == "suspended_approval" and Approval.objects.count() == 1
    assert sweeps.repair() == 0


def test_raised_it_goes_on_under_the_new_cap(desk: Desk) -> None:
    run = desk.begin([costly(60)], [costly(60, 2)], budget={"tokens": 100})
    assert isinstance(say(desk, "edit", edited={"tokens": 130}), Decided)
    assert desk.work(run).status == "completed" and tokens() == (120, 0)
    assert Budget.objects.get().tokens_cap == 130
    [raised] = [each for each in entries.read(run.workspace_id, run.public_id) if each["kind"] == "budget.raised"]
    assert raised["caps"] == {"tokens": 130} and raised["approval"] == asked().public_id


@pytest.mark.parametrize(("cap", "usage"), [(2**52 + 1, 2**52 + 6), (100, budgets.MOST)])
def test_no_cap_is_offered_that_could_not_be_one(desk: Desk, cap: int, usage: int) -> None:
    """However much was used: it stops counting at the most that JSON can tell, and its worker goes on."""
    run = growing.grow(desk, {"usage": {"tokens": 60}}, {"usage": {"tokens": usage}}, {}, {}, budget={"tokens": cap})
    assert run.status == "suspended_approval" and isinstance(say(desk, "approve"), Decided)
    assert desk.work(run).status == "completed" and offenders() == []
    assert Budget.objects.get().tokens_cap == budgets.MOST >= tokens()[0]


def test_what_no_cap_could_cover_is_refused_and_nobody_is_asked(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found where it would have been asked: the question itself could not be written."""
    monkeypatch.setattr(tools, "send", lambda *_: spent({"tokens": budgets.MOST}))
    run = desk.begin([costly(60)], [costly(60, 2)], budget={"tokens": 100})
    assert run.status == "suspended_approval" and isinstance(say(desk, "approve"), Decided)
    assert desk.work(run).status == "completed" and Approval.objects.count() == 1
    told = desk.results(run)[-1]
    assert told["status"] == "refused" and "no cap could cover" in told["message"] and offenders() == []


def test_a_cap_that_would_not_do_is_refused(desk: Desk) -> None:
    desk.begin([costly(160)], budget={"tokens": 100})
    refused = say(desk, "edit", edited={"tokens": 120})
    assert isinstance(refused, Refused) and refused.pointer == "/tokens"


def test_only_those_who_operate_the_agent_raise_it(desk: Desk) -> None:
    desk.begin([costly(160)], budget={"tokens": 100})
    refused = casting.say(asked(), desk.cast.dana, "approve")
    assert isinstance(refused, Refused) and refused.code == "not_allowed"


def test_a_cap_that_nobody_raises_refuses_the_call_and_the_agent_is_told(desk: Desk) -> None:
    run = desk.begin([costly(160), costly(20, 2)], budget={"tokens": 100})
    assert [each.status for each in desk.calls(run)] == ["cleared", "executed"]
    say(desk, "reject", message="Too dear.")
    assert desk.work(run).status == "completed"
    result = desk.results(run)[0]
    assert result["status"] == "refused" and "Too dear." in result["message"]


def stopped_for_want_of_budget(desk: Desk, *more: list[dict[str, Any]]) -> Run:
    """A run whose first call people let run, whose budget does not cover it, and who then stop it."""
    run = desk.begin([costly(300, tool="asked.keyed")], *more, budget={"tokens": 200})
    held = desk.calls(run)[0]
    desk.say(held, desk.cast.dana, "approve")
    desk.work(run)
    assert asked().status == "pending"
    desk.say(held, desk.cast.priya, "stop", message="No.")
    return run


def test_a_question_about_the_budget_goes_with_its_call(desk: Desk) -> None:
    run = stopped_for_want_of_budget(desk)
    assert desk.work(run).status == "completed" and run.budget_question == ""
    assert asked().status == "cancelled" and invariants.offenders() == [] and sweeps.repair() == 0


def test_a_no_to_one_call_is_none_to_another(desk: Desk) -> None:
    run = stopped_for_want_of_budget(desk, [costly(900, 2)])
    first = asked()
    desk.work(run)
    assert isinstance(casting.say(first, desk.cast.omar, "reject", message="Not that."), Refused)
    assert desk.work(run).status == "suspended_approval" and desk.calls(run)[-1].status == "cleared"
    assert asked().subject.endswith(":2") and asked().status == "pending"


def test_a_no_that_comes_as_its_call_is_stopped_is_none_to_a_sibling(desk: Desk) -> None:
    """No worker looked in between."""
    run = desk.begin([costly(300, tool="asked.keyed"), costly(900, 2, "asked.keyed")], budget={"tokens": 200})
    one, other = desk.calls(run)
    desk.say(one, desk.cast.dana, "approve")
    desk.work(run)
    assert isinstance(say(desk, "reject", message="Not that."), Decided)
    desk.say(one, desk.cast.priya, "stop", message="No.")
    desk.say(other, desk.cast.dana, "approve")
    assert desk.work(run).status == "suspended_approval"
    assert [each.status for each in desk.calls(run)] == ["refused", "cleared"] and asked().subject.endswith(":2")


def test_what_is_short_besides_is_asked_for_with_it(desk: Desk) -> None:
    """One question is open, and it is about all that waits."""
    run = desk.begin([costly(300), costly(900, 2, "asked.keyed")], budget={"tokens": 200})
    desk.say(desk.calls(run)[1], desk.cast.dana, "approve")
    desk.work(run)
    assert [each.status for each in Approval.objects.filter(kind="budget").order_by("created_at")] == [
        "cancelled",
        "pending",
    ]
    assert asked().schema["properties"]["tokens"]["minimum"] == 1200
    assert isinstance(say(desk, "approve"), Decided) and desk.work(run).status == "completed"


def test_a_question_about_a_step_that_fits_meanwhile_is_withdrawn(desk: Desk) -> None:
    run = desk.begin([call("free.pure", 1)], budget={"steps": 1})
    assert asked().status == "pending"
    Budget.objects.update(steps_cap=9)
    Run.objects.filter(pk=run.pk).update(status="ready")
    assert desk.work(run).status == "completed" and asked().status == "cancelled" and invariants.offenders() == []


@pytest.mark.parametrize(
    ("point", "budget", "ends"),
    [
        ("refuse.before", {"tokens": 200}, "completed"),
        ("refuse.after", {"tokens": 200}, "completed"),
        ("refuse.before", {"steps": 1}, "failed"),
    ],
)
def test_a_no_survives_a_crash(desk: Desk, point: str, budget: dict[str, int], ends: str) -> None:
    """DU-L31: until what it forbids was refused it stands, and nobody is asked again."""
    run = desk.begin([costly(300), costly(400, 2)], budget=budget)
    say(desk, "reject", message="No.")
    assert work_and_die(run, point)
    let_it_run_out(run)
    assert desk.work(run).status == ends and Approval.objects.filter(kind="budget").count() == 1
    assert run.budget_question == ""


def test_a_forged_yes_raises_nothing(desk: Desk) -> None:
    """DU-L31."""
    run = desk.begin([costly(160)], budget={"tokens": 100})
    Approval.objects.filter(kind="budget").update(status="approved", decided_at=rows.Now())
    Run.objects.filter(pk=run.pk).update(status="ready")
    desk.work(run)
    assert Budget.objects.get().tokens_cap == 100 and tooling.happened("sent") == []


@pytest.mark.parametrize(
    "statement", ["UPDATE runtime_run SET budget_id = NULL", "UPDATE runtime_call SET estimate = '{}'"]
)
def test_a_cap_lifted_past_placet_lets_nothing_be_sent(desk: Desk, tamper: Tamper, statement: str) -> None:
    """DU-L31, T31: the ledger and the step say what was there."""
    run = desk.begin([costly(160)], budget={"tokens": 100})
    tamper(statement)
    tamper("UPDATE runtime_run SET status = 'ready', wake_at = placet_now()")
    assert desk.work(run).reason_code == "unreadable" and tooling.happened("sent") == []


@pytest.mark.parametrize("value", ["NULL", "(SELECT id FROM runtime_budget WHERE steps_cap = 9)"])
def test_a_run_whose_budget_was_taken_or_exchanged_takes_no_step(desk: Desk, tamper: Tamper, value: str) -> None:
    """DU-L31, T31: also where it proposes no call."""
    growing.start(desk, {}, budget={"steps": 9})
    run = growing.start(desk, {}, {}, {}, budget={"steps": 1})
    tamper(f"UPDATE runtime_run SET budget_id = {value} WHERE id = %s", run.pk)
    head = run.head_seq
    assert (desk.work(run).reason_code, run.head_seq) == ("unreadable", head)


def test_somebody_who_may_no_longer_raise_it_is_not_heard(desk: Desk) -> None:
    run = desk.begin([costly(160)], budget={"tokens": 100})
    say(desk, "approve")
    people.revoke(desk.cast.omar, "operate", desk.agent, by="system")
    assert desk.work(run).status == "suspended_approval" and asked().subject.endswith(":2")


def test_steps_are_counted_and_at_the_cap_it_is_asked(desk: Desk) -> None:
    run = desk.begin([call("free.pure", 1)], [call("free.pure", 2)], budget={"steps": 2})
    assert run.status == "suspended_approval" and Budget.objects.get().steps_used == 2
    say(desk, "approve")
    assert desk.work(run).status == "completed" and Budget.objects.get().steps_used == 3


def test_steps_that_nobody_allows_fail_the_run_and_an_operator_may_let_it_go_on(desk: Desk) -> None:
    run = desk.begin([call("free.pure", 1)], budget={"steps": 1})
    say(desk, "reject", message="Enough.")
    assert (desk.work(run).status, run.reason_code) == ("failed", "budget") and "Enough." not in run.reason
    assert runs.resume(run, by="system")
    assert desk.work(run).status == "suspended_approval" and asked().subject.endswith(":2")


def test_time_is_counted_without_that_which_people_took(desk: Desk) -> None:
    run = desk.begin([call("asked.pure", 1)], budget={"seconds": 600})
    Run.objects.filter(pk=run.pk).update(
        created_at=F("created_at") - timedelta(days=2), wake_at=F("wake_at") - timedelta(days=2)
    )
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    assert desk.work(run).status == "completed" and budgets.seconds_of(run.pk) < 600


def test_time_in_which_a_run_was_stopped_is_not_counted(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until an operator lets it go on, nobody works on it."""
    monkeypatch.setitem(growing.poison, "lock", object())
    run = growing.grow(desk, {"goto": "poisoned"}, {}, {}, budget={"seconds": 600})
    assert run.status == "failed"
    Run.objects.filter(pk=run.pk).update(
        created_at=F("created_at") - timedelta(days=2), ended_at=F("ended_at") - timedelta(days=2)
    )
    assert runs.resume(run, by="system") and budgets.seconds_of(run.pk) < 600


def test_time_that_is_over_is_asked_for(desk: Desk) -> None:
    run = desk.start([call("free.pure", 1)], budget={"seconds": 600})
    Run.objects.filter(pk=run.pk).update(created_at=F("created_at") - timedelta(hours=1))
    assert desk.work(run).status == "suspended_approval" and asked().tool_title == "Raise the cap on seconds?"
    assert isinstance(say(desk, "approve"), Decided)
    assert desk.work(run).status == "completed"


def test_the_caps_of_the_agent_and_of_the_start_both_hold(desk: Desk) -> None:
    agent = definitions.register_agent(
        desk.cast.northwind.pk, "thrifty", "scripted", {"budget": {"tokens": 100, "steps": 9}}, by="system"
    )
    run = runs.start(
        agent.workspace_id, agent, input={"steps": []}, title="", by="system", budget={"tokens": 500, "steps": 3}
    )
    assert run.budget is not None and (run.budget.tokens_cap, run.budget.steps_cap) == (100, 3)


@pytest.mark.parametrize(
    "given",
    [
        {"tokens": -1},
        {"tokens": True},
        {"money": 5},
        {"money": 5, "currency": "euro"},
        {"cups": 3},
        [],
        {"steps": 2**60},
    ],
)
def test_a_budget_that_is_none_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match="udget"):
        budgets.caps(given)


def test_an_agent_that_estimates_nonsense_fails_its_step(desk: Desk) -> None:
    run = desk.begin([call("free.pure") | {"estimate": {"tokens": -5}}], budget={"tokens": 100})
    assert (run.status, run.reason_code) == ("failed", "bad_step")


def test_many_at_once_hold_no_more_than_there_is(desk: Desk, together: Callable[..., list[Any]]) -> None:
    """Granted only if used, held and estimate fit under the cap together: the database says so, not the reader."""
    run = desk.start([costly(30)], budget={"tokens": 100})
    budget_id = Run.objects.get(pk=run.pk).budget_id
    assert budget_id is not None

    def cover() -> bool:
        try:
            budgets._cover(budget_id, {"tokens": 30})
        except budgets.Exhausted:
            return False
        return True

    assert sum(bool(granted) for granted in together(*[cover] * 6)) == 3 and tokens() == (0, 90)


def test_a_function_and_an_endpoint_say_what_they_spent(settings: Any) -> None:
    from tests.runtime.endpoints import serving
    from tests.runtime.tools_contract import USE

    with serving() as endpoint:
        settings.PLACET_ALLOW_ADDRESSES = {endpoint.address}
        for header, usage in (
            ("tokens=812, money=3", {"tokens": 812, "money": 3}),
            ("tokens=0", {"tokens": 0}),
            ("tokens=x", None),
            ("", None),
        ):
            endpoint.headers["Placet-Usage"] = header
            assert tools.send("http", {"url": endpoint.url}, b"s", b"{}", USE).usage == usage


def test_cancelled_in_the_middle_its_holds_are_charged(desk: Desk) -> None:
    run = desk.start([costly(100)], budget={"tokens": 250})
    assert work_and_die(run, "send.after")
    let_it_run_out(run)
    runs.cancel(run, by="system", reason="Not needed.")
    assert desk.work(run).status == "cancelled" and tokens() == (100, 0) and adds_up()


def test_a_run_that_is_deleted_takes_its_budget_with_it(desk: Desk) -> None:
    """DU-L9."""
    run = desk.begin([costly(100)], budget={"tokens": 250})
    retention.delete(run, by="system")
    assert not Budget.objects.exists() and not Hold.objects.exists()
