"""Answers that come late, while people are asked something that they make needless."""

from __future__ import annotations

from approvals.approvals import Approval
from runtime import invariants
from tests.runtime import tooling
from tests.runtime.conftest import Desk, call
from tests.runtime.crashing import wake, work_and_stop


def test_a_late_answer_withdraws_the_question_whether_it_may_be_sent_again(desk: Desk) -> None:
    """Found by the model (tests/model, NOBODY_IS_ASKED): the cap was too low for a second sending alone, and the run
    would have ended with people still asked to raise it."""
    run = desk.start([call("free.keyed", 7) | {"estimate": {"tokens": 1000}}], budget={"tokens": 1500})
    child = work_and_stop(run, "send.after")
    assert desk.work(run).status == "suspended_approval" and Approval.objects.get().kind == "budget"
    wake(child)
    assert desk.work(run).status == "completed" and len(tooling.happened("done")) == 1
    assert Approval.objects.get().status == "cancelled" and run.budget_question == ""
    assert invariants.offenders() == []
