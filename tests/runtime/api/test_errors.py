"""Every error has one shape and names the field, also where Django or the server itself refuses."""

from typing import Any

import pytest
from django.test import Client

from tests.runtime.api.conftest import AT, Api, fault
from tests.runtime.conftest import Desk

LARGE = '{"input": {"x": "' + "y" * (1024 * 1024) + '"}}'
HUGE = '{"input": {"x": "' + "y" * (5 * 1024 * 1024) + '"}}'


@pytest.mark.parametrize(
    ("raw", "status", "field", "rule"),
    [
        ('{"input": {"a": 1, "a": 2}}', 400, "/input/a", "duplicate"),  # IN-E5
        ('{"input": {"a": 1, "\\u0061": 2}}', 400, "/input/a", "duplicate"),  # IN-E6
        ('{"input": {"a": NaN}}', 400, "/input/a", None),  # IN-E1
        ('{"input": {"a": 1e400}}', 400, "/input/a", None),  # IN-E2
        ('{"input": {"a": 9007199254740993}}', 400, "/input/a", None),  # IN-E4
        ('{"input": {"a": "\\ud800"}}', 400, "/input/a", None),
        ('{"input": {"a": "\\u0000"}}', 400, "/input/a", None),  # IN-E51
        ('{"input": ' + "[" * 2000 + "]" * 2000 + "}", 400, None, "depth"),  # IN-E13
        ('{"input": {}} x', 400, "", None),
        ("", 422, "", "missing"),
        ("[]", 422, "", None),  # IN-E54
        ("null", 422, "", None),
        ("{}", 422, "/input", "missing"),
        ('{"input": []}', 422, "/input", None),
        ('{"input": {}, "title": 5}', 422, "/title", None),
        ('{"input": {}, "agent": "other"}', 422, "/agent", None),  # IN-E58
        (LARGE, 413, "", "bytes"),  # IN-E15
        (HUGE, 413, None, None),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_at_its_place(
    agent: Api, raw: str, status: int, field: str | None, rule: str | None
) -> None:
    answer = agent.post("/runs", raw=raw)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert field is None or error["field"] == field
    assert rule is None or error["rule"] == rule
    assert "y" * 50 not in answer.content.decode()


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_another_type_of_body_is_refused(agent: Api, kind: str) -> None:
    answer = agent.post("/runs", raw='{"input": {}}', Content_Type=kind)
    assert fault(answer) == (415, "wrong_type", "Content-Type")


def test_a_body_in_another_encoding_is_refused(agent: Api) -> None:
    answer = agent.post("/runs", raw='{"input": {"a": "é"}}'.encode("latin-1"))
    assert fault(answer)[:2] == (400, "bad_json")


@pytest.mark.parametrize("path", ["/nothing", "/runs/a/b/c", "/", "", "/workspaces/northwind/approvals/x/y"])
def test_an_address_where_nothing_is(agent: Api, path: str) -> None:
    assert fault(agent.get(path))[:2] == (404, "not_found")


def test_nothing_under_api_is_a_page() -> None:
    answer = Client().get("/api/v9/x")
    assert fault(answer)[:2] == (404, "not_found")


@pytest.mark.parametrize("path", ["/runs", "/me", "/workspaces/northwind/approvals"])
def test_a_wrong_method_names_the_right_ones(agent: Api, path: str) -> None:
    answer = agent.put(path)
    assert fault(answer)[:2] == (405, "wrong_method")
    assert "GET" in answer["Allow"]


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer plk_wrong", "Bearer " + "x" * 10_000, "Basic YTpi", "plk_x", "Bearer plk_\u00e9"]
)
def test_a_credential_that_is_none_is_told_so(place: Desk, header: str) -> None:
    answer = Api(Client(), {"Authorization": header}).get("/me")
    assert fault(answer) == (401, "not_known", "Authorization")
    assert answer["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("path", ["/me", "/runs", "/workspaces/northwind/approvals"])
def test_nobody_is_told_to_sign_in(place: Desk, path: str) -> None:
    assert fault(Api(Client()).get(path))[:2] == (401, "not_known")


def test_a_fault_of_ours_is_logged_and_says_nothing_of_itself(
    agent: Api, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    """No traceback and no value reaches the caller."""
    monkeypatch.setattr("runtime.api.shapes.run_out", lambda run: 1 / 0)
    agent.post("/runs", {"input": {}})
    answer = agent.get("/runs")
    assert fault(answer)[:2] == (500, "internal")
    assert "Zero" not in answer.content.decode()


def test_a_database_that_is_away_is_said_to_be(agent: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db import OperationalError

    def away(*_: Any, **__: Any) -> None:
        raise OperationalError("server closed the connection: password=hunter2")

    monkeypatch.setattr("runtime.api.runs._own", away)
    answer = agent.get("/runs")
    assert fault(answer)[:2] == (503, "unavailable")
    assert answer["Retry-After"] == "2"
    assert "hunter2" not in answer.content.decode()


def test_a_refused_host_is_told_in_the_one_shape(place: Desk) -> None:
    answer = Client().get(AT + "/me", headers={"Host": "evil.example"})
    assert fault(answer)[:2] == (400, "bad_request")


def test_the_description_is_whole_and_has_the_error_everywhere(place: Desk) -> None:
    described = Client().get(AT + "/openapi.json").json()
    routes = [route for methods in described["paths"].values() for route in methods.values()]
    assert len(routes) >= 9
    for route in routes:
        refusals = [answer for code, answer in route["responses"].items() if int(code) >= 400]
        assert refusals
        for answer in refusals:
            name = answer["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            assert name == "Error"
