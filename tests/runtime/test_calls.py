"""Calls: how a decision reaches one, and what the machine makes of an answer that fits nothing."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from approvals import gate, rows
from approvals.ledger import sealing
from runtime import calls, resolutions
from runtime.calls import Call
from runtime.runs import Run
from tests.runtime import tooling
from tests.runtime.conftest import Desk, call


@pytest.fixture
def held(desk: Desk) -> Call:
    """A call that people are asked about."""
    return desk.calls(desk.begin([call("asked.unsafe")]))[0]


def resolution(held: Call, status: str, **more: Any) -> gate.Resolution:
    facts: dict[str, Any] = {
        "approval_id": held.approval,
        "status": status,
        "revision": 1,
        "digest": None,
        "args_digest": None,
    }
    if status == "approved":
        facts |= {"digest": "d" * 64, "args_digest": held.args_digest}
    chain = rows.public_id("run", held.run_id)
    return gate.Resolution(held.workspace_id, held.public_id, chain, **(facts | more))


def resolve(told: gate.Resolution) -> None:
    with rows.within(told.workspace_id):
        resolutions.resolved(told)


@pytest.mark.parametrize(
    ("status", "becomes"),
    [
        ("approved", "cleared"),
        ("answered", "answered"),
        ("rejected", "refused"),
        ("expired", "expired"),
        ("cancelled", "cancelled"),
        ("superseded", "held"),
    ],
)
def test_every_end_of_an_approval_moves_its_call(held: Call, status: str, becomes: str) -> None:
    """AP-R9, AP-V1, AP-V6: only the literal approval clears."""
    resolve(resolution(held, status))
    held.refresh_from_db()
    assert held.status == becomes
    assert Run.objects.get(pk=held.run_id).status == ("suspended_approval" if becomes == "held" else "ready")


def test_an_end_that_is_none_moves_nothing(held: Call) -> None:
    """AP-V1, AP-V11."""
    with pytest.raises(KeyError):
        resolve(resolution(held, ""))
    held.refresh_from_db()
    assert held.status == "held" and Run.objects.get(pk=held.run_id).status == "suspended_approval"


@pytest.mark.parametrize("wrong", ["subject", "chain", "workspace"])
def test_an_answer_that_fits_nothing_is_an_error_and_no_silence(desk: Desk, held: Call, wrong: str) -> None:
    """AP-D9, AP-P2, AP-V4: never the nearest call, never nothing."""
    told = resolution(held, "approved")
    if wrong == "workspace":
        told = dataclasses.replace(told, workspace_id=desk.cast.halden.pk)
    else:
        other: dict[str, Any] = {wrong: rows.public_id("apr", rows.uuid7())}
        told = dataclasses.replace(told, **other)
    with pytest.raises(LookupError):
        resolve(told)
    held.refresh_from_db()
    assert held.status == "held"


def test_the_answer_to_another_run_moves_no_call_of_this_one(desk: Desk, held: Call) -> None:
    """AP-P10, AP-P9."""
    other = desk.begin([call("asked.unsafe", 2)])
    resolve(dataclasses.replace(resolution(held, "approved"), chain=other.public_id))
    held.refresh_from_db()
    assert held.status == "held" and desk.calls(other)[0].status == "held"
    desk.work(other)
    assert tooling.happened("sent") == []


def test_an_answer_counts_once(desk: Desk, held: Call) -> None:
    """DU-L15, DU-L19."""
    resolve(resolution(held, "rejected", message="No."))
    resolve(resolution(held, "approved"))
    held.refresh_from_db()
    assert (held.status, calls.message_of(held)) == ("refused", "No.")


def test_a_run_in_progress_is_poked_and_left_to_its_worker(desk: Desk, held: Call) -> None:
    Run.objects.filter(pk=held.run_id).update(status="in_progress", fence=9)
    resolve(resolution(held, "approved"))
    run = Run.objects.get(pk=held.run_id)
    assert (run.status, run.fence, run.pokes) == ("in_progress", 9, 1)


def test_a_call_never_makes_a_move_that_is_not_listed(held: Call) -> None:
    """AP-R1: from refused there is no way to a tool."""
    for source in ("refused", "expired", "cancelled", "executed"):
        with pytest.raises(ValueError, match="never moves"):
            rows.move(Call, held.pk, frm=source, to="executing")


def test_the_key_is_the_same_for_ever_and_another_for_every_call(desk: Desk) -> None:
    """AP-D3, DU-T5: made of the run, the step and the place alone."""
    run = desk.begin([call("asked.keyed"), call("asked.keyed")])
    one, two = desk.calls(run)
    assert (
        one.key == calls.idempotency_key(run.pk, one.step, 0) != two.key == calls.idempotency_key(run.pk, two.step, 1)
    )
    assert len(one.key) == 64


def test_no_two_calls_can_have_one_key(held: Call) -> None:
    twin = Call.objects.get(pk=held.pk)
    twin.pk, twin.idx = rows.uuid7(), 9
    with pytest.raises(DatabaseError), transaction.atomic():
        twin.save(force_insert=True)


def test_what_was_sealed_for_one_call_opens_in_no_other(desk: Desk, held: Call) -> None:
    """DU-S6."""
    other = desk.calls(desk.begin([call("asked.unsafe", 2)]))[0]
    Call.objects.filter(pk=other.pk).update(args=held.args)
    other.refresh_from_db()
    with pytest.raises(sealing.Tampered):
        calls.args_of(other)
