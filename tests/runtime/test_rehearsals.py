"""Rehearsals: people decide as they always do, and nothing of it ever reaches the world."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import policies
from approvals.approvals import Approval
from approvals.clearance import REHEARSED, NotCleared, clearance
from approvals.decisions import Decided, Refused
from approvals.ledger import entries
from approvals.pages.cards import args_in, card_of
from runtime import calls
from runtime.calls import Call
from tests.runtime import tooling
from tests.runtime.conftest import POLICY, Desk, call
from tests.tampering import Tamper


def rehearse(desk: Desk, *tools: str) -> Any:
    return desk.begin([call(tool, n) for n, tool in enumerate(tools, 1)], rehearsal=True)


def asked(desk: Desk, run: Any) -> Approval:
    return Approval.objects.get(chain=run.public_id)


def test_what_was_approved_in_a_rehearsal_is_never_sent(desk: Desk) -> None:
    run = rehearse(desk, "asked.keyed")
    assert isinstance(desk.say(desk.calls(run)[0], desk.cast.dana, "approve"), Decided)
    run = desk.work(run)
    [told] = desk.results(run)
    assert (run.status, told["status"], told["message"]) == ("completed", "refused", REHEARSED)
    assert asked(desk, run).status == "approved" and tooling.happened("sent") == []


@pytest.mark.parametrize("effect", tooling.EFFECTS)
def test_what_policy_allows_outright_is_not_sent_in_a_rehearsal(desk: Desk, effect: str) -> None:
    run = rehearse(desk, f"free.{effect}")
    assert [each.status for each in desk.calls(run)] == ["refused"]
    assert calls.message_of(desk.calls(run)[0]) == REHEARSED
    assert tooling.happened("sent") == []


def test_clearance_itself_refuses_a_rehearsal_by_its_signed_header(desk: Desk) -> None:
    run = rehearse(desk, "asked.keyed")
    [held] = desk.calls(run)
    desk.say(held, desk.cast.dana, "approve")
    held.refresh_from_db()
    answer = clearance(run.workspace_id, held.public_id, held.digest)
    assert isinstance(answer, NotCleared) and answer.code == "rehearsal" and not answer.lapsed


def test_a_rehearsal_needs_what_the_real_thing_needs(desk: Desk) -> None:
    run = rehearse(desk, "pair.keyed")
    [held] = desk.calls(run)
    desk.say(held, desk.cast.dana, "approve")
    again = desk.say(held, desk.cast.dana, "approve")
    assert isinstance(again, Refused) and again.code == "already_voted"
    assert desk.work(run).status == "suspended_approval"


def test_an_edit_in_a_rehearsal_stays_one(desk: Desk) -> None:
    run = rehearse(desk, "asked.keyed")
    desk.say(desk.calls(run)[0], desk.cast.dana, "edit", edited={"n": 7})
    assert desk.work(run).status == "completed"
    assert asked(desk, run).revision == 2 and tooling.happened("sent") == []


def test_a_rehearsal_that_lapsed_is_asked_again_as_one(desk: Desk) -> None:
    run = rehearse(desk, "asked.keyed")
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    stricter = POLICY.replace("[{team: finance}]", "[{team: finance, count: 2}]")
    policies.load(desk.cast.northwind, stricter, by="system")
    desk.work(run)
    again = Approval.objects.get(chain=run.public_id, status="pending")
    assert again.rehearsal and again.asked_again is not None


def test_what_is_asked_beside_calls_is_marked_as_well(desk: Desk) -> None:
    run = desk.begin([{"ask": "Which way?"}], rehearsal=True)
    assert asked(desk, run).rehearsal and asked(desk, run).kind == "question"


def test_the_ledger_says_that_it_was_a_rehearsal(desk: Desk) -> None:
    run = rehearse(desk, "asked.keyed")
    marked = [each["kind"] for each in entries.read(run.workspace_id, run.public_id) if each.get("rehearsal")]
    assert marked == ["run.started", "approval.opened"]


def test_a_rehearsal_whose_row_says_otherwise_is_parked(desk: Desk, tamper: Tamper) -> None:
    """Before it takes a step; and once more where somebody approved it meanwhile."""
    run = desk.begin([call("asked.keyed")], rehearsal=True)
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    tamper("UPDATE runtime_run SET rehearsal = false WHERE id = %s", run.pk)
    run.refresh_from_db()
    assert desk.work(run).status == "parked" and "is a rehearsal" in run.reason
    assert tooling.happened("sent") == []


@pytest.mark.parametrize("marked", [True, False], ids=["made real", "made a rehearsal"])
def test_a_mark_that_is_not_the_signed_one_cannot_be_decided(desk: Desk, tamper: Tamper, marked: bool) -> None:
    run = desk.begin([call("asked.keyed")], rehearsal=marked)
    tamper("UPDATE approvals_approval SET rehearsal = NOT rehearsal WHERE chain = %s", run.public_id)
    refused = desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    assert isinstance(refused, Refused) and refused.code == "tampered"


def test_what_was_signed_before_there_were_rehearsals_still_holds(desk: Desk) -> None:
    run = desk.begin([call("asked.keyed")])
    approval = asked(desk, run)
    assert approval.holds() and "rehearsal" not in approval.revisions.get().ruling.header


def test_a_call_of_a_rehearsal_is_put_back_and_still_not_sent(desk: Desk, tamper: Tamper) -> None:
    run = rehearse(desk, "free.unsafe")
    tamper("UPDATE runtime_call SET status = 'cleared', ended_at = NULL, consumed_seq = NULL WHERE run_id = %s", run.pk)
    tamper("UPDATE runtime_run SET status = 'ready', wake_at = now(), ended_at = NULL WHERE id = %s", run.pk)
    desk.work(run)
    assert tooling.happened("sent") == [] and Call.objects.get(run=run).status in {"refused", "cleared"}


def test_the_title_says_first_that_it_is_a_rehearsal(desk: Desk) -> None:
    run = rehearse(desk, "asked.keyed")
    approval = asked(desk, run)
    title = card_of(approval, args_in(approval.revisions.get())).title
    assert title == "Rehearsal: Count 1"
