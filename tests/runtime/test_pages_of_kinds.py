"""The pages of what is asked beside calls: breakpoints, questions, and answers in a tool's place."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from approvals import policies
from approvals.approvals import Approval
from runtime.breakpoints import Breakpoint
from runtime.checkpoints import Checkpoint
from runtime.runs import Run
from tests.approvals.pages.conftest import at, form_of
from tests.runtime.conftest import Desk, call
from tests.runtime.test_breakpoints import OPEN, state_of, walker
from tests.runtime.test_questions import AMOUNT, ANSWERABLE, ask

Reads = Any


@pytest.fixture
def reads() -> Reads:
    """`reads(person)`: a browser of that person's, without its JavaScript."""

    def open_client(person: Any) -> Client:
        client = Client()
        client.force_login(person, backend=settings.AUTHENTICATION_BACKENDS[0])
        return client

    return open_client


def the(run: Run) -> Approval:
    return Approval.objects.get(chain=run.public_id, status="pending")


def shown(reads: Reads, desk: Desk, approval: Approval, person: Any = None) -> str:
    answer = reads(person or desk.cast.omar).get(at(approval))
    assert answer.status_code == 200
    return str(answer.content.decode())


def post(reads: Reads, desk: Desk, approval: Approval, **fields: Any) -> Any:
    return reads(desk.cast.omar).post(at(approval, "/decision"), form_of(approval, **fields))


def test_a_breakpoint_shows_the_variables_and_lets_the_run_go_on(desk: Desk, reads: Reads) -> None:
    run = walker(desk, interrupt_before=["pay"], **OPEN)
    html = shown(reads, desk, the(run))
    assert "walker has done “weigh” and stops before “pay”" in html and "Where the run stands" in html
    assert "Let it go on" in html and "End the run" in html and "Ruth" in html and "not shown" not in html
    assert post(reads, desk, the(run), verdict="approve").status_code == 302
    assert desk.work(run).status == "completed"


def test_the_variables_are_changed_in_the_form_of_every_edit(desk: Desk, reads: Reads) -> None:
    run = walker(desk, interrupt_before=["pay"], **OPEN)
    approval = the(run)
    page = reads(desk.cast.omar).get(at(approval, "/edit"))
    assert "Change the variables" in page.content.decode()
    text = '{"amount": 9, "customer": {"name": "Ruth", "vip": false}}'
    sent = form_of(approval, mode="json", text=text, do="save", message="Less.")
    assert reads(desk.cast.omar).post(at(approval, "/edit"), sent).status_code == 302
    assert desk.work(run).status == "completed" and state_of(run)["amount"] == 9


def test_words_typed_on_the_page_steer_the_run(desk: Desk, reads: Reads) -> None:
    run = walker(desk, human_input_mode="TERMINATE")
    html = shown(reads, desk, the(run))
    assert "Let it finish" in html and "Send it on with this" in html
    assert post(reads, desk, the(run), **{"verdict": "respond", "answer-0": ""}).status_code == 422
    assert post(reads, desk, the(run), **{"verdict": "respond", "answer-0": "Be\r\nkind."}).status_code == 302
    desk.work(run)
    assert state_of(run)["messages"][-1]["text"] == "Be\nkind."


def test_a_question_is_answered_in_a_form_of_its_schema(desk: Desk, reads: Reads) -> None:
    run = desk.begin([ask("How much shall I offer?", response_schema=AMOUNT, about={"ticket": 4471})])
    html = shown(reads, desk, the(run))
    assert "How much shall I offer?" in html and "4471" in html and 'name="answer-0"' in html and "Cents" in html
    wrong = post(reads, desk, the(run), **{"verdict": "respond", "answer-0": "much"})
    assert wrong.status_code == 422 and 'value="much"' in wrong.content.decode()
    approval = the(run)
    assert post(reads, desk, approval, **{"verdict": "respond", "answer-0": "500"}).status_code == 302
    assert desk.work(run).status == "completed" and desk.results(run)[0]["value"] == {"cents": 500}
    assert "The answer" in shown(reads, desk, approval) and "500" in shown(reads, desk, approval)


def test_whoever_may_not_answer_reads_why(desk: Desk, reads: Reads) -> None:
    run = desk.begin([ask("May I?")])
    html = shown(reads, desk, the(run), desk.cast.dana)
    assert "This is for scripted’s operators to decide. You are not one of them." in html
    assert 'name="verdict"' not in html


def test_declining_a_question_needs_a_reason(desk: Desk, reads: Reads) -> None:
    run = desk.begin([ask("May I?")])
    assert post(reads, desk, the(run), verdict="reject").status_code == 422
    assert post(reads, desk, the(run), verdict="reject", comment="Ask Dana.").status_code == 302
    desk.work(run)
    assert desk.results(run)[0]["message"] == "Ask Dana."


def test_a_call_may_be_answered_in_its_place(desk: Desk, reads: Reads) -> None:
    policies.load(desk.cast.northwind, ANSWERABLE, by="system")
    run = desk.begin([call("asked.unsafe", 7)])
    approval = the(run)
    assert "Answer in its place" in shown(reads, desk, approval, desk.cast.dana)
    sent = form_of(approval, **{"verdict": "respond", "answer-0": '{"n": 7}'})
    assert reads(desk.cast.dana).post(at(approval, "/decision"), sent).status_code == 302
    assert desk.work(run).status == "completed" and desk.results(run)[0]["by"] == "Dana Okafor"


def test_the_inbox_says_what_kind_of_question_it_is(desk: Desk, reads: Reads) -> None:
    desk.begin([ask("May I?")])
    walker(desk, interrupt_before=["pay"], **OPEN)
    html = reads(desk.cast.omar).get("/w/northwind/").content.decode()
    assert "Question" in html and "Breakpoint" in html and "May I?" in html
    assert "May I?" not in reads(desk.cast.dana).get("/w/northwind/").content.decode()


def test_the_runs_page_tells_where_it_stopped_and_how_it_went_on(desk: Desk, reads: Reads) -> None:
    run = walker(desk, interrupt_before=["pay"], **OPEN)
    address = f"/w/northwind/runs/{run.public_id}"
    approval = the(run)
    html = reads(desk.cast.omar).get(address).content.decode()
    assert "for people to look at it" in html and at(approval) in html
    text = '{"amount": 9, "customer": {"name": "Ruth", "vip": false}}'
    reads(desk.cast.omar).post(at(approval, "/edit"), form_of(approval, mode="json", text=text, do="save", message=""))
    desk.work(run)
    html = reads(desk.cast.omar).get(address).content.decode()
    assert "Went on, with 1 change to the state" in html and "What people changed" in html
    passed = Checkpoint.objects.get(run=run, kind="decision").seq
    html = reads(desk.cast.omar).get(f"{address}/checkpoints/{passed}").content.decode()
    assert "amount" in html and "What people changed" in html


@pytest.mark.parametrize("path", ["", "/ledger"])
def test_settled_kinds_are_listed(desk: Desk, reads: Reads, path: str) -> None:
    run = desk.begin([ask("May I?")])
    post(reads, desk, the(run), **{"verdict": "respond", "answer-0": "Yes."})
    html = reads(desk.cast.omar).get(f"/w/northwind{path}/?tab=settled".replace("ledger/", "ledger")).content.decode()
    assert "Answered" in html and "May I?" in html and not Breakpoint.objects.exists()
