"""Questions, and answers in a tool's place: asked among a step's calls, settled in any order, told in the model's."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import people, policies
from approvals.approvals import Approval
from approvals.decisions import Decided, Refused
from approvals.ledger import canonical
from runtime import definitions, invariants, runs
from runtime.agents.agent import BadStep, Question, Step, check
from runtime.calls import Call
from runtime.runs import Run
from tests import cast as casting
from tests.runtime import tooling
from tests.runtime.conftest import POLICY, Desk, call

AMOUNT = {"type": "object", "required": ["cents"], "properties": {"cents": {"type": "integer", "minimum": 1}}}
ANSWERABLE = POLICY.replace("deadline: 1h", "allowed_decisions: [approve, edit, reject, respond]\n    deadline: 1h")


def ask(text: str, **more: Any) -> dict[str, Any]:
    return {"ask": text, **more}


def of(run: Run, idx: int) -> Approval:
    """What people are asked about the call or question at this place of the first step."""
    found = Call.objects.filter(run=run, idx=idx).earliest("step")
    return Approval.objects.get(subject=found.subject)


def respond(desk: Desk, approval: Approval, value: Any, **more: Any) -> Any:
    return casting.say(approval, desk.cast.omar, "respond", response=canonical.encode(value), **more)


def test_an_answer_is_the_questions_result(desk: Desk) -> None:
    run = desk.begin([ask("How much?", response_schema=AMOUNT, about={"ticket": 4471})])
    approval = of(run, 0)
    assert (run.status, approval.kind) == ("suspended_approval", "question")
    assert approval.subject == f"{run.public_id}:question:2:0"
    assert isinstance(respond(desk, approval, {"cents": 5}, message="As agreed."), Decided)
    assert desk.work(run).status == "completed"
    told = desk.results(run)[0]
    assert (told["status"], told["value"], told["by"]) == ("answered", {"cents": 5}, "Omar Haddad")
    assert (told["tool"], told["message"], told["args"]["question"]) == ("", "As agreed.", "How much?")


def test_an_answer_that_does_not_fit_is_not_taken(desk: Desk) -> None:
    run = desk.begin([ask("How much?", response_schema=AMOUNT)])
    refused = respond(desk, of(run, 0), {"cents": 0})
    assert isinstance(refused, Refused) and (refused.code, refused.pointer) == ("invalid_response", "/cents")


def test_calls_and_questions_of_one_step_end_in_any_order_and_are_told_in_the_agents(desk: Desk) -> None:
    """DU-L13, DU-L16, DU-L20, AP-P1: each has its own decision, and the next step gets all of them at once."""
    run = desk.begin([call("asked.keyed", 1), ask("Second?"), call("asked.keyed", 3), ask("Fourth?")])
    assert Approval.objects.filter(status="pending").count() == 4
    respond(desk, of(run, 3), "four")
    assert desk.work(run).status == "suspended_approval"
    desk.say(desk.calls(run)[2], desk.cast.dana, "approve")
    desk.work(run)
    respond(desk, of(run, 1), "two")
    desk.say(desk.calls(run)[0], desk.cast.dana, "reject", message="No.")
    assert desk.work(run).status == "completed"
    assert [each["status"] for each in desk.results(run)] == ["refused", "answered", "executed", "answered"]
    assert [each["value"] for each in desk.results(run)][1::2] == ["two", "four"]


def test_somebody_who_will_not_answer_says_why(desk: Desk) -> None:
    run = desk.begin([ask("May I?")])
    casting.say(of(run, 0), desk.cast.omar, "reject", message="Ask Dana.")
    assert desk.work(run).status == "completed"
    assert (desk.results(run)[0]["status"], desk.results(run)[0]["message"]) == ("refused", "Ask Dana.")


def test_a_question_may_go_to_a_team(desk: Desk) -> None:
    run = desk.begin([ask("May I?", team="finance")])
    assert isinstance(respond(desk, of(run, 0), "no"), Refused)
    answer = casting.say(of(run, 0), desk.cast.dana, "respond", response=b'"yes"')
    assert isinstance(answer, Decided) and desk.work(run).status == "completed"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (ask("May I?", team="nobody"), "no team nobody"),
        (ask("May I?", response_schema={"type": "strong"}), "schema"),
        (ask("May I?", deadline="soon"), "deadline"),
    ],
)
def test_what_nobody_could_answer_is_refused_and_the_agent_told(desk: Desk, line: Any, why: str) -> None:
    run = desk.begin([line])
    assert run.status == "completed" and desk.results(run)[0]["status"] == "refused"
    assert why in desk.results(run)[0]["message"] and not Approval.objects.exists()


def test_a_person_may_answer_in_the_tools_place(desk: Desk) -> None:
    """AP: nothing is sent, and the agent is told who answered."""
    policies.load(desk.cast.northwind, ANSWERABLE, by="system")
    run = desk.begin([call("asked.unsafe", 7)])
    given = casting.say(of(run, 0), desk.cast.dana, "respond", response=b'{"done": "by hand"}')
    assert isinstance(given, Decided) and desk.work(run).status == "completed"
    told = desk.results(run)[0]
    assert (told["status"], told["value"], told["by"]) == ("answered", {"done": "by hand"}, "Dana Okafor")
    assert not tooling.happened("done") and desk.calls(run)[0].status == "answered"


def test_two_people_answer_a_call_that_needs_two(desk: Desk) -> None:
    policies.load(desk.cast.northwind, ANSWERABLE, by="system")
    run = desk.begin([call("pair.unsafe", 7)])
    casting.say(of(run, 0), desk.cast.dana, "respond", response=b'"by hand"')
    casting.say(of(run, 0), desk.cast.priya, "respond", response=b'"by post"')
    assert desk.work(run).status == "suspended_approval"
    casting.say(of(run, 0), desk.cast.priya, "respond", response=b'"by hand"')
    assert desk.work(run).status == "completed" and desk.results(run)[0]["value"] == "by hand"


def test_an_answer_is_held_to_what_the_tool_says_it_gives(desk: Desk) -> None:
    policies.load(desk.cast.northwind, ANSWERABLE, by="system")
    tool = definitions.tool_named(desk.cast.northwind.pk, "asked.unsafe")
    assert tool is not None
    run = desk.begin([call("asked.unsafe", 7)])
    assert of(run, 0).response_schema == definitions.facts(tool).response_schema


def test_an_answer_whose_giver_lost_the_right_is_none(desk: Desk) -> None:
    """DU-L31: proved again when it takes effect."""
    run = desk.begin([ask("May I?")])
    respond(desk, of(run, 0), "yes")
    people.revoke(desk.cast.omar, "operate", desk.agent, by="system")
    assert desk.work(run).status == "completed"
    assert (desk.results(run)[0]["status"], desk.results(run)[0]["value"]) == ("refused", None)


def test_what_waits_for_an_answer_breaks_no_invariant(desk: Desk) -> None:
    run = desk.begin([ask("May I?"), call("asked.keyed", 1)])
    assert [str(each) for each in invariants.offenders()] == []
    respond(desk, of(run, 0), "yes")
    desk.say(desk.calls(run)[1], desk.cast.dana, "approve")
    assert desk.work(run).status == "completed" and [str(each) for each in invariants.offenders()] == []


def test_a_cancelled_run_withdraws_its_questions(desk: Desk) -> None:
    run = desk.begin([ask("May I?")])
    runs.cancel(run, by=desk.cast.omar.public_id, reason="")
    assert desk.work(run).status == "cancelled" and Approval.objects.get().status == "cancelled"
    assert desk.calls(run)[0].status == "cancelled"


ANY: Any = Question
"""What an agent without types may ask."""


@pytest.mark.parametrize("question", [Question(""), ANY("x", response_schema=7), ANY("x", team=None)])
def test_a_question_that_is_none_is_no_step(question: Question) -> None:
    with pytest.raises(BadStep):
        check(Step(calls=[question]))
