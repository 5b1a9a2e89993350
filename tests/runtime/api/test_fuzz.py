"""Whatever is sent to whichever route, the answer is one that its description promises, in the one shape of errors."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.runtime.api.conftest import AT, Api, fault
from tests.runtime.conftest import Desk

TEXTS = st.text(max_size=40) | st.sampled_from(
    ["", "\x00", "run_" + "0" * 32, "apr_" + "0" * 32, "northwind", "../..", "%"]
)
NUMBERS = st.integers() | st.sampled_from([-1, 0, 2**31, 2**63, 10**40]) | st.floats()
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from(
    ["input", "title", "thread_id", "reason", "verdict", "revision", "action_digest", "message", "edited_action", "x"]
)
BODIES = st.dictionaries(NAMES, VALUES, max_size=6).map(json.dumps) | VALUES.map(json.dumps) | st.text(max_size=60)
QUERIES = st.dictionaries(
    st.sampled_from(["limit", "cursor", "status", "run_id", "after", "order_by"]), TEXTS | NUMBERS.map(str), max_size=4
)
KEYS = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_categories=["Cc"]), max_size=130)


def _routes() -> list[tuple[str, str, dict[str, Any]]]:
    described = Client().get(AT + "/openapi.json").json()["paths"].items()
    return [(path, method, route) for path, methods in described for method, route in methods.items()]


@pytest.mark.parametrize("caller", ["agent", "dana", "nobody"])
def test_every_route_answers_as_it_is_described(place: Desk, request: pytest.FixtureRequest, caller: str) -> None:
    """IN-M18, IN-E51: never a 500, whatever the path, the query, the body and the key."""
    api: Api = Api(Client()) if caller == "nobody" else request.getfixturevalue(caller)
    routes = _routes()

    @seed(4471)
    @settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(routes), TEXTS, TEXTS, QUERIES, BODIES, KEYS)
    def ask(route: Any, first: str, second: str, query: dict[str, str], body: str, key: str) -> None:
        parts = iter((first if caller == "nobody" else "northwind", second))
        path = re.sub(r"\{\w+\}", lambda _: quote(next(parts), safe=""), route[0]).removeprefix(AT)
        headers = {"Idempotency-Key": key} if key else {}
        sent = api.headers | headers
        if route[1] == "get":
            answer = api.client.get(AT + path, query, headers=sent)
        else:
            answer = api.client.post(AT + path, body.encode("utf-8", "surrogatepass"), "application/json", headers=sent)
        promised = {int(code) for code in route[2]["responses"]} | {404}
        assert answer.status_code in promised, (route[:2], path, query, body, answer.content)
        if answer.status_code >= 400:
            fault(answer)

    ask()
