"""The API's tests: a machine with its credential, people with their sessions, and strangers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.test import Client

from approvals import rows
from approvals.approvals import Approval
from approvals.people import Person
from runtime import credentials, definitions
from tests.approvals.conftest import among_the_cast, prepared
from tests.runtime.conftest import Desk, call

AT = "/api/v1"


@dataclass
class Api:
    """Somebody at the API: what they send with every request."""

    client: Client
    headers: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(AT + path, query, headers=self.headers)

    def post(self, path: str, body: Any = None, *, raw: str | bytes | None = None, **headers: str) -> Any:
        """Send JSON, or `raw` as it is; header names have underscores for hyphens."""
        sent = self.headers | {name.replace("_", "-"): value for name, value in headers.items()}
        kind = sent.pop("Content-Type", "application/json")
        return self.client.post(AT + path, raw if raw is not None else json.dumps(body), kind, headers=sent)

    def put(self, path: str) -> Any:
        return self.client.put(AT + path, "{}", "application/json", headers=self.headers)


def machine(desk: Desk, **more: Any) -> Api:
    """The desk's agent, by a new credential."""
    secret = credentials.create(desk.agent, by="system", **more)[1]
    return Api(Client(), {"Authorization": f"Bearer {secret}"})


def person(who: Person) -> Api:
    """A person with a session and its token, checked as in a browser."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(who)
    client.cookies["csrftoken"] = "t" * 32
    return Api(client, {"X-CSRFToken": "t" * 32})


@pytest.fixture(autouse=True)
def _among_the_cast(request: pytest.FixtureRequest) -> Iterator[None]:
    rolls_back = "place" in request.fixturenames and "desk" not in request.fixturenames
    with among_the_cast(request) if rolls_back else nullcontext():
        yield


@pytest.fixture
def place(request: pytest.FixtureRequest) -> Desk:
    """The desk with its tools where a test asks for it, else one without, in a transaction that is rolled back."""
    if "desk" in request.fixturenames:
        desk: Desk = request.getfixturevalue("desk")
        return desk
    request.getfixturevalue("db")
    cast = deepcopy(prepared()[1])
    rows.enter(cast.northwind)
    agent = definitions.register_agent(cast.northwind.pk, "scripted", "scripted", {}, by="system")
    return Desk(cast, agent)


@pytest.fixture
def agent(place: Desk) -> Api:
    return machine(place, requester_id=place.cast.riley.pk)


@pytest.fixture
def dana(place: Desk) -> Api:
    return person(place.cast.dana)


@pytest.fixture
def held(desk: Desk) -> Callable[..., Approval]:
    """`held(tool="asked.keyed", n=1)`: an approval that waits, from a run of the desk's agent."""

    def ask(tool: str = "asked.keyed", n: int = 1, **more: Any) -> Approval:
        desk.begin([call(tool, n, **more)])
        return Approval.objects.latest("created_at")

    return ask


def path_of(approval: Approval, rest: str = "") -> str:
    return f"/workspaces/northwind/approvals/{approval.public_id}{rest}"


def verdict(approval: Approval, word: str = "approve", **more: Any) -> dict[str, Any]:
    """A decision on the approval as it stands."""
    now = Approval.objects.get(pk=approval.pk)
    digest = now.revisions.get(number=now.revision).digest
    return {"verdict": word, "revision": now.revision, "action_digest": digest, **more}


def fault(response: Any) -> tuple[int, str, str | None]:
    """Status, code and field of an error, which has the one shape."""
    error = response.json()["error"]
    assert {"code", "message", "field", "rule"} <= set(error)
    assert error["message"]
    return response.status_code, error["code"], error["field"]
