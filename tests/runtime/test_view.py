"""What a checkpoint shows, each part apart: to programs, on the page, and after it was erased."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from approvals.approvals import Approval
from runtime import retention, view
from runtime.checkpoints import Checkpoint
from tests.runtime import growing
from tests.runtime.api.conftest import Api, agent, fault, machine, path_of, person, place
from tests.runtime.conftest import Desk, call
from tests.runtime.test_pages import html_of, reads

__all__ = ["agent", "place", "reads"]

APART = ["checkpoint_id", "thread_id", "run_id", "step", "variables", "plan", "results", "usage"]
APART += ["pending_actions", "schema_version"]


def test_a_checkpoint_shows_its_parts_apart() -> None:
    assert [each.name for each in fields(view.View)] == APART


def test_an_agent_reads_a_checkpoint_with_what_was_still_to_happen(desk: Desk, place: Desk, agent: Api) -> None:
    """DU-L33: open requests are told from the store, at the checkpoint that made them and at no later one."""
    run = place.begin([call("free.pure", 1)], [call("asked.keyed", 2)])
    at = f"/runs/{run.public_id}/checkpoints"
    held = agent.get(f"{at}/{run.head_seq}").json()
    assert set(held) == {*APART, "number"} and (held["step"], held["number"]) == (2, run.head_seq)
    assert held["variables"]["input"]["steps"] and held["plan"] is None and len(held["results"]) == 1
    (pending,) = held["pending_actions"]
    assert (pending["name"], pending["args"], pending["status"]) == ("asked.keyed", {"n": 2}, "held")
    place.say(place.calls(run)[1], place.cast.dana, "approve")
    place.work(run)
    assert agent.get(f"{at}/{run.head_seq}").json()["pending_actions"] == []
    assert len(agent.get(f"{at}/{run.head_seq}").json()["results"]) == 2
    assert agent.get(f"{at}/{held['number']}").json()["pending_actions"][0]["status"] == "executed"


@pytest.mark.parametrize("number", ["0", "99", "x", "-1", str(2**70)])
def test_a_number_that_no_checkpoint_has_is_an_answer_and_no_fault(
    desk: Desk, place: Desk, agent: Api, number: str
) -> None:
    run = place.begin([call("free.pure", 1)])
    assert agent.get(f"/runs/{run.public_id}/checkpoints/{number}").status_code in {404, 422}


def test_what_was_erased_is_told_everywhere_and_breaks_nothing(desk: Desk, place: Desk, agent: Api, reads: Any) -> None:
    """DU-S7: pages and API say so and go on."""
    run = place.begin([call("asked.keyed", 2, note="gone soon")], title="Gone soon")
    place.say(place.calls(run)[0], place.cast.dana, "approve", message="gone soon")
    place.work(run)
    retention.erase(run, by="system")
    run.refresh_from_db()
    at = f"/runs/{run.public_id}"
    assert fault(agent.get(f"{at}/checkpoints/2"))[:2] == (410, "erased")
    told = agent.get(f"{at}/checkpoints").json()["checkpoints"]
    assert len(told) == run.head_seq and all(each["erased"] and not each["changes"] for each in told)
    assert agent.get(at).json()["calls"][0]["args"] is None and agent.get(f"{at}/timeline").status_code == 200
    assert agent.get("/runs").status_code == 200
    approval = Approval.objects.get()
    asked = person(place.cast.dana).get(path_of(approval))
    assert asked.status_code == 410 and asked.json()["error"]["code"] == "erased"
    html = html_of(reads(place.cast.omar), run)
    assert "Erased" in html and "gone soon" not in html.lower()
    made = place.calls(run)[0]
    for path in ("", "runs", f"calls/{made.public_id}", f"approvals/{approval.public_id}", "ledger"):
        answer = reads(place.cast.dana).get(f"/w/northwind/{path}")
        assert answer.status_code < 500, path
        assert b"gone soon" not in answer.content.lower() and b"tampered" not in answer.content.lower(), path


def test_pruned_checkpoints_are_listed_without_what_they_held(desk: Desk, place: Desk, agent: Api) -> None:
    run = place.begin([call("free.pure", 1)])
    retention.prune(run, by="system")
    told = agent.get(f"/runs/{run.public_id}/checkpoints").json()["checkpoints"]
    assert [each["erased"] for each in told] == [True] * run.head_seq
    assert Checkpoint.objects.filter(run=run, body=b"").count() == run.head_seq
    assert growing.NAME and machine(place).get(f"/runs/{run.public_id}/checkpoints/1").status_code == 410


def test_the_page_of_a_checkpoint_shows_what_the_run_keeps(desk: Desk, reads: Any) -> None:
    run = growing.grow(desk, {"update": {"plan": ["look", "pay"], "colour": "green"}})
    html = reads(desk.cast.omar).get(f"/w/northwind/runs/{run.public_id}/checkpoints/{run.head_seq}?show=all")
    for words in ("plan", "look", "colour", "green"):
        assert words in html.content.decode()
