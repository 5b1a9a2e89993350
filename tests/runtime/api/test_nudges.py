"""Nudges by the API, and by those who operate the agent."""

from __future__ import annotations

from collections.abc import Callable

from approvals import people
from approvals.approvals import Approval
from approvals.due_steps import DueStep
from tests.runtime.api.conftest import Api, fault, path_of
from tests.runtime.conftest import Desk

Held = Callable[..., Approval]


def test_who_operates_the_agent_nudges(desk: Desk, dana: Api, held: Held) -> None:
    """AZ-2, RL-5: by the right on this agent; the second press comes too soon, and is told until when."""
    path = path_of(held(), "/nudges")
    assert fault(dana.post(path))[:2] == (403, "not_allowed")
    people.grant(desk.cast.dana, "operate", desk.agent, by="system")
    told = dana.post(path)
    assert told.status_code == 200 and [one["name"] for one in told.json()["told"]] == ["Priya Nair"]
    assert told.json()["later"] == 0 and told.json()["again_at"].endswith("Z")
    assert fault(dana.post(path))[:2] == (429, "too_soon")


def test_an_agent_nudges_nobody(agent: Api, held: Held, desk: Desk) -> None:
    """AZ-13: nor is it told whether there is such an approval."""
    approval = held()
    assert agent.post(path_of(approval, "/nudges")).status_code == 403
    assert not DueStep.objects.filter(approval=approval, step="nudge").exists()


def test_what_was_decided_is_a_conflict(dana: Api, held: Held, desk: Desk) -> None:
    """RL-5."""
    approval = held()
    people.grant(desk.cast.dana, "operate", desk.agent, by="system")
    body = {
        "verdict": "reject",
        "revision": 1,
        "message": "No.",
        "action_digest": dana.get(path_of(approval)).json()["action_digest"],
    }
    assert dana.post(path_of(approval, "/decisions"), body).status_code == 200
    assert fault(dana.post(path_of(approval, "/nudges")))[:2] == (409, "too_late")
