"""Answers that come late, while people are asked something that they make needless."""

from __future__ import annotations

import pytest

from approvals.approvals import Approval
from approvals.ledger import entries
from runtime import evidence, invariants, retention, runs
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


@pytest.mark.parametrize("tool", ["free.keyed", "asked.unsafe"])
def test_what_comes_late_to_a_run_that_was_deleted_is_entered_in_its_chain(desk: Desk, tool: str) -> None:
    """DU-L9, DU-L10: that the tool answered is the truth, and nobody's worker dies of it. No row comes back."""
    run = desk.begin([call(tool, 7)]) if tool == "asked.unsafe" else desk.start([call(tool, 7)])
    if tool == "asked.unsafe":
        desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    child = work_and_stop(run, "send.after")
    retention.delete(run, by="system")
    wake(child)
    told = entries.read(run.workspace_id, run.public_id)[-1]
    assert (told["kind"], told["outcome"], told["counted"]) == ("call.answered_late", "executed", False)
    assert not Attempt.objects.exists() and invariants.offenders() == []
    assert not list(evidence.unproven(run.workspace_id))
