"""Rows that were set back by somebody who writes the database: nothing is sent again, and verify says so."""

from __future__ import annotations

from typing import Any

import pytest

from runtime import evidence
from runtime.calls import Attempt, Call
from runtime.runs import Run
from tests.runtime import tooling
from tests.runtime.conftest import Desk, call

SET_BACK: dict[str, dict[str, Any]] = {
    "as if it had never been settled": {},
    "under another key": {"key": "f" * 64},
    "as if it had never been sent": {"attempt_id": None},
    "under another key, as if it had never been sent": {"key": "f" * 64, "attempt_id": None},
}


@pytest.mark.parametrize("how", SET_BACK)
def test_an_executed_call_that_was_set_back_is_not_sent_again(desk: Desk, how: str) -> None:
    """AU-2, SC-1: the ledger says that it was, and the run is parked."""
    run = desk.begin([call("asked.keyed")])
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    assert desk.work(run).status == "completed" and len(tooling.happened("done")) == 1
    back = {"status": "cleared", "consumed_seq": None, "ended_at": None, **SET_BACK[how]}
    Call.objects.filter(run=run).update(**back)
    Run.objects.filter(pk=run.pk).update(status="ready", ended_at=None)
    assert desk.work(run).status == "parked"
    assert len(tooling.happened("done")) == 1
    assert any(desk.calls(run)[0].public_id in line for line in evidence.unproven(run.workspace_id))


def test_calls_and_attempts_are_held_against_the_ledger(desk: Desk) -> None:
    """AU-5: as they were written, and then not."""
    run = desk.begin([call("free.keyed")])
    assert desk.work(run).status == "completed" and list(evidence.unproven(run.workspace_id)) == []
    Attempt.objects.filter(call__run=run).delete()
    Call.objects.filter(run=run).update(status="failed")
    (called,) = desk.calls(run)
    assert list(evidence.unproven(run.workspace_id)) == [
        f"{run.public_id}: The answer to {called.public_id} is not the one of its result.",
        f"{called.public_id} has 0 attempts, and by the ledger 1.",
        f"{called.public_id} is failed, and by the ledger executed.",
    ]
