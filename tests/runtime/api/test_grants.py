"""Standing grants over the API: people read and give them; an agent does not know of them."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import granting, policies
from approvals.approvals import Approval
from tests.runtime.api.conftest import Api, fault, path_of, verdict
from tests.runtime.conftest import POLICY, Desk

STANDING = POLICY.replace("deadline: 1h", "deadline: 1h\n    standing: {for: 1h, uses: 2}")


@pytest.fixture
def asked(desk: Desk, held: Any) -> Approval:
    """The grant that Dana asked for after she saw the call that is held."""
    policies.load(desk.cast.northwind, STANDING, by="system")
    seen = held()
    found = granting.ask(desk.cast.northwind.pk, seen, granting.Wish(), by=desk.cast.dana)
    assert isinstance(found, Approval)
    return found


def test_a_person_reads_and_gives_a_grant(dana: Api, asked: Approval) -> None:
    told = dana.get(path_of(asked)).json()
    assert (told["kind"], told["run_id"], told["status"]) == ("grant", "", "pending")
    answer = dana.post(path_of(asked, "/decisions"), verdict(asked, "approve"))
    assert (answer.status_code, answer.json()["status"]) == (200, "approved")


def test_an_agent_knows_nothing_of_what_it_is_allowed(agent: Api, asked: Approval) -> None:
    """AZ-13, AZ-15: neither reads nor gives it."""
    assert agent.get(path_of(asked)).status_code == 404
    assert asked.public_id not in agent.get("/workspaces/northwind/approvals").content.decode()
    assert fault(agent.post(path_of(asked, "/decisions"), verdict(asked, "approve")))[0] == 403
