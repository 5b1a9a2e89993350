"""Comments by the API: people read and write them, an agent's credential does neither."""

from __future__ import annotations

from collections.abc import Callable

from approvals.approvals import Approval
from approvals.comments import Comment
from tests.runtime.api.conftest import Api, fault, path_of
from tests.runtime.conftest import Desk

Held = Callable[..., Approval]


def test_a_person_comments_and_reads_what_was_said(desk: Desk, dana: Api, held: Held) -> None:
    """It decides nothing."""
    approval = held()
    made = dana.post(path_of(approval, "/comments"), {"message": "  Ask the carrier first. "})
    assert made.status_code == 200 and made.json()["message"] == "Ask the carrier first."
    assert dana.get(path_of(approval, "/comments")).json() == {"comments": [made.json()]}
    assert made.json()["said_by"]["name"] == "Dana Okafor" and made.json()["said_via"] == "api"
    assert dana.get(path_of(approval)).json()["status"] == "pending"


def test_words_that_cannot_be_kept_name_their_field(desk: Desk, dana: Api, held: Held) -> None:
    path = path_of(held(), "/comments")
    assert fault(dana.post(path, {"message": " "})) == (422, "needs_message", "/message")
    assert fault(dana.post(path, {"message": "x" * 4001})) == (422, "message_too_long", "/message")
    assert fault(dana.post(path, {"message": "Yes", "verdict": "approve"}))[:2] == (422, "invalid")
    assert not Comment.objects.exists()


def test_an_agent_neither_reads_nor_writes_them(agent: Api, held: Held, desk: Desk) -> None:
    """Comments are among people."""
    path = path_of(held(), "/comments")
    assert agent.get(path).status_code == agent.post(path, {"message": "Please approve."}).status_code == 403
    assert not Comment.objects.exists()
