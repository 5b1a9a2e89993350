"""A run that is deleted while a worker has it: the worker leaves it, wherever it was, and does not die of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from approvals import rows
from runtime import dispatch, loop, retention, retries, spending
from runtime.attempts import Attempt
from runtime.budgets import Budget
from runtime.calls import Call
from runtime.runs import Run
from tests.runtime.conftest import Desk, call
from tests.runtime.test_budgets import costly, say
from tests.runtime.test_retries import NOT_REACHED, Sends


def left(monkeypatch: pytest.MonkeyPatch, run: Run, module: Any, name: str) -> None:
    """The run is deleted right before its worker does this; the worker leaves it, and nothing of it comes back."""
    real, met = getattr(module, name), []

    def deleted(*given: Any, **more: Any) -> Any:
        met.append(name)
        retention.delete(run, by="system")
        return real(*given, **more)

    monkeypatch.setattr(module, name, deleted)
    Run.objects.filter(pk=run.pk).update(status="ready", wake_at=rows.now())
    assert loop.advance(run.pk, run.workspace_id) is True and met == [name]
    assert not Run.objects.exists() and not Attempt.objects.exists()
    assert loop.advance(run.pk, run.workspace_id) is False


@pytest.mark.parametrize("unit", ["steps", "tokens"])
def test_it_is_left_where_its_budget_is_attended_to(desk: Desk, monkeypatch: pytest.MonkeyPatch, unit: str) -> None:
    """DU-L9: before its next step, and before a call."""
    left(monkeypatch, desk.start([costly(100)], budget={unit: 0}), spending, "attend")
    assert not Call.objects.exists() and not Budget.objects.exists()


def test_it_is_left_where_a_call_is_to_be_sent_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """DU-L9."""
    sends, run = Sends(monkeypatch, NOT_REACHED), desk.begin([call("free.unsafe")])
    Call.objects.update(due_at=rows.now() - timedelta(days=1))
    left(monkeypatch, run, retries, "why_now")
    assert len(sends.keys) == 1


def test_it_is_left_where_a_call_is_refused_that_was_sent_before(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """DU-L9: its budget covers no second sending."""
    sends, run = Sends(monkeypatch, NOT_REACHED), desk.begin([costly(100)], budget={"tokens": 200})
    Budget.objects.update(tokens_cap=1)
    desk.wait_out(run)
    say(desk, "reject", message="Not twice.")
    left(monkeypatch, run, dispatch, "refuse")
    assert len(sends.keys) == 1


def test_a_row_that_is_missing_of_a_run_that_is_there_is_a_fault(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """DU-L9: what nobody deleted is not passed over as if a lease were lost."""
    run = desk.start([costly(100)], budget={"steps": 0})

    def attend(*_: Any) -> bool:
        raise Budget.DoesNotExist

    monkeypatch.setattr(spending, "attend", attend)
    with pytest.raises(Budget.DoesNotExist):
        loop.advance(run.pk, run.workspace_id)
