"""The buttons that stop an agent or everything, and what the pages say meanwhile."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from approvals import gate, halts
from approvals.approvals import Approval
from approvals.halts import Halt
from tests.approvals.pages.conftest import at, form_of
from tests.runtime.conftest import Desk, call
from tests.runtime.test_pages import RUNS, reads

__all__ = ["reads"]
pytestmark = pytest.mark.committed
BEGIN, END = "/w/northwind/halt", "/w/northwind/halt/end"

Reads = Callable[..., Client]


def words(client: Client, address: str) -> str:
    """The page as it is read, without its tags."""
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(re.sub("<[^>]*>", "", answer.content.decode()).split())


def test_one_press_stops_everything_and_one_lets_it_go_on(desk: Desk, reads: Reads) -> None:
    """HF-6."""
    omar = reads(desk.cast.omar)
    assert "Stop everything" in words(omar, RUNS) and "Stop scripted" in words(omar, RUNS)
    assert omar.post(BEGIN).headers["Location"] == RUNS
    page = words(omar, RUNS)
    assert "Omar Haddad stopped all agents." in page and "Let all go on" in page
    assert "Stop everything" not in page and "Stop an agent" not in page
    omar.post(BEGIN)
    assert Halt.objects.count() == 1
    omar.post(END, {"agent": ""})
    assert halts.on(desk.cast.northwind.pk) == [] and "Stop everything" in words(omar, RUNS)


def test_one_press_stops_an_agent(desk: Desk, reads: Reads) -> None:
    """HF-6."""
    omar = reads(desk.cast.omar)
    omar.post(BEGIN, {"agent": "scripted"})
    assert [one.agent for one in halts.on(desk.cast.northwind.pk)] == ["scripted"]
    page = words(omar, RUNS)
    assert "Let scripted go on" in page and "Stop scripted" not in page
    omar.post(END, {"agent": "scripted"})
    assert halts.on(desk.cast.northwind.pk) == []


def test_who_may_neither_operate_nor_administer_sees_no_button_and_is_refused(desk: Desk, reads: Reads) -> None:
    """HF-6, AZ-1."""
    dana = reads(desk.cast.dana)
    assert "Stop everything" not in words(dana, RUNS) and "Stop scripted" not in words(dana, RUNS)
    assert dana.post(BEGIN).status_code == 403 and dana.post(BEGIN, {"agent": "scripted"}).status_code == 403
    gate.halts.begin(desk.cast.northwind, by=None)
    assert "An operator stopped all agents." in words(dana, RUNS) and "go on" not in words(dana, RUNS)
    assert dana.post(END).status_code == 403 and len(halts.on(desk.cast.northwind.pk)) == 1


def test_an_agent_that_is_none_is_not_found(desk: Desk, reads: Reads) -> None:
    assert reads(desk.cast.omar).post(BEGIN, {"agent": "nobody"}).status_code == 404


def test_who_is_signed_out_comes_back_to_the_runs(desk: Desk) -> None:
    assert Client().post(END).headers["Location"].endswith("next=/w/northwind/runs")


def asked(desk: Desk) -> Approval:
    desk.begin([call("asked.unsafe", 7)])
    return Approval.objects.get()


def test_a_frozen_approval_says_so_and_offers_no_verdict(desk: Desk, reads: Reads) -> None:
    """HF-6: on its page and in the inbox."""
    approval, dana = asked(desk), reads(desk.cast.dana)
    gate.halts.begin(desk.cast.northwind, desk.agent, by=desk.cast.omar, reason="It loops.")
    page = words(dana, at(approval))
    assert "Omar Haddad stopped scripted." in page and "stands still" in page and "Approve" not in page
    inbox = words(dana, "/w/northwind/")
    assert "Frozen" in inbox and "“It loops.”" in inbox and "Nothing waits" not in inbox
    answer = dana.post(at(approval, "/decision"), form_of(approval, verdict="approve"))
    assert answer.status_code == 409 and "Nothing was decided." in answer.content.decode()


def test_what_was_approved_says_what_it_waits_for(desk: Desk, reads: Reads) -> None:
    approval = asked(desk)
    desk.say(desk.calls(approval_run(approval))[0], desk.cast.dana, "approve")
    gate.halts.begin(desk.cast.northwind, by=desk.cast.omar)
    page = words(reads(desk.cast.priya), at(approval))
    assert "Not sent yet" in page and "Its agent is stopped." in page and "Stop it" in page


def approval_run(approval: Approval) -> Any:
    from runtime import runs

    return runs.run_named(approval.workspace_id, approval.chain)


def test_the_api_says_that_it_is_frozen(desk: Desk, reads: Reads) -> None:
    approval = asked(desk)
    gate.halts.begin(desk.cast.northwind, by=desk.cast.omar)
    told = reads(desk.cast.dana).get(f"/api/v1/workspaces/northwind/approvals/{approval.public_id}").json()
    assert told["standing"]["code"] == "halted" and told["standing"]["may_approve"] is False
