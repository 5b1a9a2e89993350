"""The operators' inbox: what wants a hand, whom it is told to, and the remedy at the end of its line."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from approvals import gate, people, policies, rows, rulings
from approvals.approvals import Approval
from approvals.glass import GlassReview
from approvals.ledger import about, followed
from approvals.verifications import Verification
from runtime import attention, credentials, definitions, health
from runtime.runs import Run
from tests.runtime import gallery
from tests.runtime.conftest import Desk, call
from tests.runtime.test_checkpoint_pages import words
from tests.runtime.test_pages import reads

__all__ = ["reads"]
pytestmark = pytest.mark.committed
PLACE = "/w/northwind/attention"
Reads = Callable[..., Client]


@pytest.fixture(autouse=True)
def well(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine answers, unless a test says otherwise."""
    monkeypatch.setattr(health, "look", lambda: {"database": "ok", "workers": "ok"})


def parked(desk: Desk, reason: str = "Checkpoint 2 is missing.") -> Run:
    run = desk.begin([call("asked.unsafe", 1)])
    Run.objects.filter(pk=run.pk).update(status="parked", reason_code="unreadable", reason=reason, ended_at=rows.now())
    Approval.objects.filter(chain=run.public_id).update(status="cancelled", decided_at=rows.now())
    return run


def page(desk: Desk, reads: Reads, person: Any = None) -> str:
    answer = reads(person or desk.cast.omar).get(PLACE)
    assert answer.status_code == 200
    return words(answer)


def test_an_empty_list_says_what_comes_here(desk: Desk, reads: Reads) -> None:
    assert "Nothing needs you" in page(desk, reads)


def test_a_parked_run_says_why_and_is_let_go_on_from_its_line(desk: Desk, reads: Reads) -> None:
    run = parked(desk)
    assert "Ticket 4471 Checkpoint 2 is missing. Nothing was lost by it. Put back what is missing" in page(desk, reads)
    answer = reads(desk.cast.omar).post(f"/w/northwind/runs/{run.public_id}/resume", {"back": "attention"})
    run.refresh_from_db()
    assert answer.headers["Location"] == PLACE and run.status == "ready"
    assert "Nothing needs you" in page(desk, reads)


def test_an_unknown_outcome_leads_to_the_question_about_it(desk: Desk, reads: Reads) -> None:
    gallery.furnish(desk)
    run = desk.wait_out(gallery.doubtful(desk))
    answer = reads(desk.cast.omar).get(PLACE)
    assert f'href="{gallery.path_of(gallery.last(run))}"' in answer.content.decode() and "Settle it" in words(answer)


def test_whoever_neither_operates_nor_administers_is_told_whom_it_is_for(desk: Desk, reads: Reads) -> None:
    """Neither the page nor its place in the bar."""
    parked(desk)
    answer = reads(desk.cast.dana).get(PLACE)
    assert answer.status_code == 403 and "for operators" in words(answer) and "Ticket" not in words(answer)
    for person, seen in ((desk.cast.dana, False), (desk.cast.omar, True)):
        html = reads(person).get("/w/northwind/runs").content.decode()
        assert (f'href="{PLACE}"' in html) == seen
    assert reads(desk.cast.oskar).get(PLACE).status_code == 404


def test_an_operator_is_told_nothing_of_the_agents_of_others(desk: Desk, reads: Reads) -> None:
    """Parked runs, stops, credentials and stuck approvals of another agent are not on their page."""
    other = definitions.register_agent(desk.cast.northwind.pk, "clerk", "scripted", {}, by="system")
    people.grant(desk.cast.dana, "operate", other, by="system")
    parked(desk)
    credentials.create(desk.agent, by="system", days=3)
    gate.halts.begin(desk.cast.northwind, desk.agent, by=desk.cast.omar)
    assert "Nothing needs you" in page(desk, reads, desk.cast.dana)
    seen = page(desk, reads)
    assert all(told in seen for told in ("Parked runs", "scripted stopped by Omar Haddad", "Credentials", "runs out"))


def test_a_stopped_agent_is_let_go_on_from_its_line(desk: Desk, reads: Reads) -> None:
    """HF-6."""
    gate.halts.begin(desk.cast.northwind, desk.agent, by=desk.cast.omar, reason="It loops.")
    assert "scripted stopped by Omar Haddad It loops." in page(desk, reads)
    client = reads(desk.cast.omar)
    answer = client.post("/w/northwind/halt/end", {"agent": "scripted", "back": "attention"})
    assert answer.headers["Location"] == PLACE and "Nothing needs you" in page(desk, reads)


def test_a_rule_nobody_can_satisfy_is_told_and_so_is_what_waits_for_it(desk: Desk, reads: Reads) -> None:
    desk.begin([call("pair.unsafe", 1)])
    for person in people.deciders(desk.cast.finance)[1:]:
        people.revoke(person, "decide", desk.cast.finance, by="system")
    seen = page(desk, reads)
    assert "Too few people are left to decide Rule pair wants 2 yeses, and 1" in seen
    assert "Nobody can satisfy rule pair It wants 2 people, and fewer may decide." in seen


def test_a_policy_that_cannot_be_proved_is_told(desk: Desk, reads: Reads, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(workspace_id: Any) -> None:
        raise rulings.Forged("Version 2 of the policy was in force and is gone.")

    monkeypatch.setattr(policies, "check_newest", gone)
    seen = page(desk, reads)
    assert "The policy in force cannot be proved Version 2 of the policy was in force and is gone." in seen


def test_glass_that_nobody_reviewed_in_time_leads_to_its_page(desk: Desk, reads: Reads) -> None:
    desk.begin([call("asked.unsafe", 1)])
    approval, dana = Approval.objects.get(), desk.cast.dana
    late = rows.now() - timedelta(hours=1)
    GlassReview.objects.create(
        workspace=desk.cast.northwind, approval=approval, broken_by=dana, team="finance", due_at=late
    )
    answer = reads(desk.cast.omar).get(PLACE)
    assert "Nobody has looked at the glass that Dana Okafor broke" in words(answer)
    assert f'href="{gallery.path_of(approval)}"' in answer.content.decode()


def test_a_ledger_that_was_changed_is_told_first(desk: Desk, reads: Reads, monkeypatch: pytest.MonkeyPatch) -> None:
    parked(desk)

    def broken(self: Any, workspace_id: Any) -> Any:
        raise about.Broken("Entry 3 is not as it was written.")

    monkeypatch.setattr(followed.Followed, "of", broken)
    names = [group.key for group in attention.groups(attention.Operator(desk.cast.northwind, desk.cast.omar))]
    assert names == ["ledger", "parked"]


def test_a_verification_that_found_something_leads_to_what_it_found(desk: Desk, reads: Reads) -> None:
    """Told until a later one finds nothing."""
    told = {"workspace": desk.cast.northwind, "status": "done", "ended_at": rows.now()}
    Verification.objects.create(faults=2, findings=[["run_1", "entry 3 is not as it was written."]], **told)
    answer = reads(desk.cast.omar).get(PLACE)
    assert "failed its verification, with 2 findings run_1: entry 3" in words(answer)
    assert 'href="/w/northwind/ledger/verification"' in answer.content.decode()
    Verification.objects.create(**told)
    assert "Nothing needs you" in page(desk, reads)


def test_a_worker_that_is_away_is_told(desk: Desk, reads: Reads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "look", lambda: {"workers": "not seen lately", "broker": "does not answer"})
    seen = page(desk, reads)
    assert "No worker was seen lately" in seen and "The broker does not answer" in seen


def test_the_bar_counts_what_the_page_lists(desk: Desk, reads: Reads) -> None:
    parked(desk)
    parked(desk)
    client = reads(desk.cast.omar)
    html = client.get(PLACE).content.decode()
    assert re.search(r'id="attention-count">2<', html)
    assert re.search(r'id="attention-count">2<', client.get("/w/northwind/runs").content.decode())


def test_many_of_a_kind_are_counted_and_lead_to_all_of_them(desk: Desk, reads: Reads) -> None:
    run = parked(desk)
    fields = {field.attname: getattr(run, field.attname) for field in Run._meta.fields if field.attname != "id"}
    fields |= {"status": "parked", "start_key": None}
    Run.objects.bulk_create([Run(**fields) for _ in range(29)])
    answer = reads(desk.cast.omar).get(PLACE)
    assert "25 of 30 are listed." in words(answer) and "?state=parked" in answer.content.decode()


def test_more_matters_cost_no_more_queries(desk: Desk, reads: Reads) -> None:
    costs, client = [], reads(desk.cast.omar)
    for count in (1, 5):
        for _ in range(count):
            parked(desk)
            desk.begin([call("pair.unsafe", 1)])
        client.get(PLACE)
        with CaptureQueriesContext(connection) as queries:
            client.get(PLACE)
        costs.append(len(queries))
    assert costs[0] == costs[1] < 40
