"""An agent that asks faster than people can answer is told to wait."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import RequestFactory

from runtime import credentials
from runtime.api import limits
from runtime.runs import Run
from tests.runtime.api.conftest import Api, fault, machine
from tests.runtime.conftest import Desk

NOW = 1_800_000_050.0
BODY: dict[str, Any] = {"input": {"steps": []}}


@pytest.fixture(autouse=True)
def _one_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock stands at ten seconds before the next minute."""
    monkeypatch.setattr(limits, "now", lambda: NOW)


def test_who_asks_too_fast_is_told_when_to_go_on(desk: Desk, agent: Api, broker: Any, settings: Any) -> None:
    """AP-A7: by agent, whatever its credential; nothing is begun, and what was begun is still read."""
    settings.PLACET_RUNS_PER_MINUTE = 2
    assert [agent.post("/runs", BODY).status_code for _ in range(2)] == [201, 201]
    for one in (agent, machine(desk)):
        answer = one.post("/runs", BODY)
        assert fault(answer) == (429, "too_many", None) and answer["Retry-After"] == "10"
    assert Run.objects.count() == 2 and len(agent.get("/runs").json()["runs"]) == 2


def test_the_next_minute_is_another(desk: Desk, agent: Api, broker: Any, settings: Any, monkeypatch: Any) -> None:
    settings.PLACET_RUNS_PER_MINUTE = 1
    assert agent.post("/runs", BODY).status_code == 201
    monkeypatch.setattr(limits, "now", lambda: NOW + 60)
    assert agent.post("/runs", BODY).status_code == 201


def test_without_redis_nothing_is_refused(desk: Desk, agent: Api, settings: Any) -> None:
    """A run is a row; whoever counts may be away."""
    settings.PLACET_RUNS_PER_MINUTE, settings.REDIS_URL = 1, "redis://127.0.0.1:1/0"
    assert [agent.post("/runs", BODY).status_code for _ in range(3)] == [201] * 3


def test_a_credential_may_have_a_limit_of_its_own(desk: Desk, agent: Api, broker: Any, settings: Any) -> None:
    """AP-A7: what its own limit turns away is not counted against the agent, which goes on by another."""
    settings.PLACET_RUNS_PER_MINUTE = 3
    narrow = machine(desk, runs_per_minute=1)
    assert [narrow.post("/runs", BODY).status_code for _ in range(4)] == [201, 429, 429, 429]
    assert [agent.post("/runs", BODY).status_code for _ in range(3)] == [201, 201, 429]


def test_what_took_its_place_shares_a_credential_s_limit(desk: Desk, broker: Any) -> None:
    """HF-1: exchanging a secret three times makes no room for three runs more."""
    made, secret = credentials.create(desk.agent, runs_per_minute=1, by="system")
    secrets = [secret]
    for _ in range(3):
        made, secret = credentials.rotate(made, overlap=timedelta(hours=24), by="system")
        secrets.append(secret)
    asking = [RequestFactory().get("/", headers={"Authorization": f"Bearer {each}"}) for each in secrets]
    callers = [SimpleNamespace(auth=credentials.agent_of(request)) for request in asking]
    assert [limits.Starts().allow_request(caller) for caller in callers].count(True) == 1
