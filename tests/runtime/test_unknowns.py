"""Calls of unknown outcome: who is asked, when, what each choice leads to, and what comes in between."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import gate, people, policies, rows
from approvals.approvals import Approval
from approvals.decisions import Decided, Refused
from approvals.ledger import entries
from runtime import outcomes, runs, sweeps, timeline, tools, unknowns
from runtime.calls import Attempt, Call
from runtime.runs import Run
from tests import cast as casting
from tests.runtime import tooling
from tests.runtime.conftest import POLICY, Desk, call
from tests.runtime.crashing import wake, work_and_die, work_and_stop
from tests.runtime.test_leases import claimed, let_it_run_out


def unknown(desk: Desk, tool: str = "free.unsafe", at: str = "send.after") -> Run:
    """A run whose call was sent by a worker that died, and about which people are asked."""
    run = desk.start([call(tool, 7)])
    assert work_and_die(run, at)
    let_it_run_out(run)
    assert desk.wait_out(run).status == "suspended_approval"
    return run


def asked() -> Approval:
    return Approval.objects.filter(kind="outcome").latest("created_at")


def choose(desk: Desk, choice: str, message: str = "") -> Decided | Refused:
    return casting.say(asked(), desk.cast.omar, "choose", choice=choice, message=message)


def done() -> int:
    return len(tooling.happened("done"))


def test_people_are_asked_when_nothing_can_arrive_any_more(desk: Desk) -> None:
    """The quiet period: until then "send it again" could be a second effect."""
    run = desk.start([call("free.unsafe", 7)])
    assert work_and_die(run, "send.before")
    let_it_run_out(run)
    assert desk.work(run).status == "sleeping" and not Approval.objects.exists()
    assert run.wake_at is not None and run.wake_at > Attempt.objects.get().send_deadline
    assert desk.wait_out(run).status == "suspended_approval" and asked().status == "pending"
    assert desk.work(run).status == "suspended_approval" and Approval.objects.count() == 1


def test_what_it_is_about_is_shown_as_it_was_sent(desk: Desk) -> None:
    run = unknown(desk)
    found, sent = asked(), desk.calls(run)[0]
    assert (found.subject, found.tool) == (f"{sent.public_id}:outcome:1", "free.unsafe")
    assert found.rule["options"] == ["it_happened", "send_again", "abandon"] and sent.question == found.public_id
    assert found.summary == "Did “Count {/n}” happen?" and desk.results(run) == []


def test_only_those_who_operate_the_agent_may_say(desk: Desk) -> None:
    unknown(desk)
    refused = casting.say(asked(), desk.cast.dana, "choose", choice="send_again")
    assert isinstance(refused, Refused) and refused.code == "not_allowed"


def test_policy_may_name_a_team(desk: Desk) -> None:
    rule = "  - {id: doubts, match: {kind: outcome}, verdict: require_approval, approvals: [{team: finance}]}\n"
    policies.load(desk.cast.northwind, POLICY + rule, by="system")
    run = unknown(desk)
    assert isinstance(choose(desk, "abandon"), Refused)
    assert isinstance(casting.say(asked(), desk.cast.dana, "choose", choice="abandon"), Decided)
    assert desk.work(run).status == "completed"


def test_it_happened_goes_on_with_what_the_person_entered(desk: Desk) -> None:
    run = unknown(desk)
    assert isinstance(choose(desk, "it_happened", "Its id there: re_8Kd02mQvTz"), Decided)
    assert desk.work(run).status == "completed" and done() == 1
    result = desk.results(run)[0]
    assert result["status"] == "executed" and "Omar Haddad" in result["message"] and "re_8Kd02" in result["message"]
    assert Attempt.objects.get().outcome == "executed" and timeline.doubts(run) == []


def test_abandoned_it_is_told_as_not_known(desk: Desk) -> None:
    """DU-S9: neither success nor a failure that nobody has seen."""
    run = unknown(desk)
    choose(desk, "abandon")
    assert desk.work(run).status == "completed" and done() == 1
    result = desk.results(run)[0]
    assert result["status"] == "failed" and "not known" in result["message"]


def test_send_again_sends_it_once_more_under_the_same_key(desk: Desk) -> None:
    run = unknown(desk, at="send.before")
    choose(desk, "send_again")
    assert desk.work(run).status == "completed" and done() == 1
    first, second = Attempt.objects.order_by("number")
    assert (first.outcome, second.outcome, second.number) == ("lost", "executed", 2)
    assert tooling.happened("done")[0]["key"] == desk.calls(run)[0].key and timeline.doubts(run) == []


def test_the_choice_is_on_record_with_a_name(desk: Desk) -> None:
    run = unknown(desk)
    choose(desk, "send_again")
    desk.work(run)
    [settled] = [each for each in entries.read(run.workspace_id, run.public_id) if each["kind"] == "call.settled"]
    assert (settled["choice"], settled["by"]) == ("send_again", desk.cast.omar.public_id)
    assert settled["approval"] == asked().public_id
    intended = [each for each in entries.read(run.workspace_id, run.public_id) if each["kind"] == "call.intended"]
    assert [each["why"] for each in intended] == ["unsent", "chosen"]


@pytest.mark.parametrize("choice", unknowns.OPTIONS)
@pytest.mark.parametrize("point", ["claim.after", "result.before", "result.after", "intent.after", "send.before"])
def test_what_was_chosen_survives_the_death_of_whoever_carries_it_out(desk: Desk, choice: str, point: str) -> None:
    """DU-L1, DU-C4."""
    run = unknown(desk, at="send.before")
    choose(desk, choice)
    if work_and_die(run, point):
        let_it_run_out(run)
    desk.wait_out(run)
    unsent = point in {"intent.after", "send.before"}
    again = choice == "send_again" and (unsent or point == "result.before")
    assert run.status == ("suspended_approval" if again else "completed")
    assert done() == (choice == "send_again" and not unsent)


def test_sent_again_and_lost_again_it_is_asked_again(desk: Desk) -> None:
    """DU-L15, DU-L19: the first answer settles the first question and no other."""
    run = unknown(desk, at="send.before")
    choose(desk, "send_again")
    assert work_and_die(run, "send.after")
    let_it_run_out(run)
    assert desk.wait_out(run).status == "suspended_approval"
    assert asked().subject.endswith(":outcome:2") and asked().status == "pending"
    choose(desk, "it_happened")
    assert desk.work(run).status == "completed" and done() == 1


def test_a_late_answer_withdraws_the_question(desk: Desk) -> None:
    """What the tool said is the truth; nobody has to guess any more."""
    run = desk.start([call("free.unsafe", 7)])
    child = work_and_stop(run, "send.after")
    assert desk.wait_out(run).status == "suspended_approval"
    question = asked()
    wake(child)
    question.refresh_from_db()
    assert question.status == "cancelled" and desk.calls(run)[0].status == "executed"
    assert desk.work(run).status == "completed" and done() == 1 and desk.results(run)[0]["value"]["n"] == 7
    late = choose(desk, "send_again")
    assert isinstance(late, Refused) and late.code == "too_late"


def test_a_late_answer_that_comes_just_as_people_are_asked_withdraws_it_too(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The question opens after it was looked for, and before the run is locked."""
    run = unknown(desk)
    Run.objects.filter(pk=run.pk).update(status="ready")
    attempt, lease = Attempt.objects.get(), claimed(run)
    looks = iter([False])
    look = outcomes._withdraw_question
    monkeypatch.setattr(outcomes, "_withdraw_question", lambda *given: next(looks, None) is None and look(*given))
    outcomes._keep_evidence(lease, desk.calls(run)[0], attempt, tools.Answer("executed", 1))
    assert asked().status == "cancelled" and desk.calls(run)[0].status == "executed"


def test_an_answer_and_a_choice_at_once_settle_it_once(desk: Desk, together: Any) -> None:
    """DU-L15: whichever comes first; nothing locks the other out, and nothing happens twice."""
    run = desk.start([call("free.unsafe", 7)])
    child = work_and_stop(run, "send.after")
    assert desk.wait_out(run).status == "suspended_approval"
    together(lambda: choose(desk, "it_happened"), lambda: wake(child))
    assert desk.wait_out(run).status == "completed" and done() == 1
    assert len(desk.results(run)) == 1 and desk.results(run)[0]["status"] == "executed"


def test_a_question_that_runs_out_is_asked_anew(desk: Desk) -> None:
    """No time-out ever says what happened."""
    run = unknown(desk)
    Approval.objects.filter(kind="outcome").update(expires_at="2020-01-01T00:00:00Z")
    gate.expire_due()
    assert desk.work(run).status == "suspended_approval"
    assert [each.status for each in Approval.objects.order_by("created_at")] == ["expired", "pending"]


def test_a_choice_by_somebody_who_may_no_longer_make_it_is_asked_anew(desk: Desk) -> None:
    run = unknown(desk)
    choose(desk, "send_again")
    people.revoke(desk.cast.omar, "operate", desk.agent, by="system")
    people.grant(desk.cast.priya, "operate", desk.agent, by="system")
    assert desk.work(run).status == "suspended_approval" and asked().subject.endswith(":2") and done() == 1


def test_a_forged_choice_carries_nothing_out(desk: Desk) -> None:
    """DU-L31: whoever writes to the database past Placet has nothing sent."""
    run = unknown(desk, at="send.before")
    Approval.objects.filter(kind="outcome").update(status="answered", choice="send_again", decided_at=rows.Now())
    Run.objects.filter(pk=run.pk).update(status="ready")
    desk.work(run)
    assert done() == 0 and desk.calls(run)[0].status == "unknown"


def test_a_run_that_is_cancelled_withdraws_the_question(desk: Desk) -> None:
    run = unknown(desk)
    assert runs.cancel(run, by="system", reason="Not needed.")
    assert desk.work(run).status == "cancelled" and asked().status == "cancelled"


def test_others_of_the_step_do_not_wait_for_it(desk: Desk) -> None:
    """DU-L20, DU-L21."""
    run = desk.start([call("free.unsafe", 7), call("asked.keyed", 8)])
    assert work_and_die(run, "send.after")
    let_it_run_out(run)
    assert desk.wait_out(run).status == "suspended_approval"
    desk.say(desk.calls(run)[1], desk.cast.dana, "approve")
    assert desk.work(run).status == "suspended_approval" and desk.calls(run)[1].status == "executed"
    choose(desk, "it_happened")
    assert desk.work(run).status == "completed" and [each["args"]["n"] for each in desk.results(run)] == [7, 8]


def test_the_sweep_leaves_a_run_alone_that_waits_for_a_choice(desk: Desk) -> None:
    unknown(desk)
    assert sweeps.repair() == 0 and Call.objects.get().status == "unknown"
