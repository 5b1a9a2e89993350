"""Answers that come late, while people are asked something that they make needless."""

from __future__ import annotations

from approvals.approvals import Approval
from runtime import invariants, retention, runs
from runtime.attempts import Attempt
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


def test_what_comes_late_to_a_run_that_was_erased_stays_out_of_it(desk: Desk) -> None:
    """DU-L10, DU-S9: what became of the attempt is kept, and nothing of what the tool said."""
    run = desk.start([call("free.keyed", 7)])
    child = work_and_stop(run, "send.after")
    runs.cancel(run, by="system", reason="Stop.")
    assert desk.work(run).status == "cancelled"
    retention.erase(run, by="system")
    wake(child)
    attempt = Attempt.objects.get()
    assert (attempt.outcome, attempt.late, bytes(attempt.answer), attempt.note) == ("executed", True, b"", "")
