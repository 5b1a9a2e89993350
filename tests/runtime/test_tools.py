"""Tools of both kinds."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from typing import Any

import pytest

from approvals.ledger import canonical
from runtime import tools
from runtime.ports import free_port
from runtime.tools import Answer, Refused, Use
from tests.runtime.endpoints import Endpoint, serving
from tests.runtime.tools_contract import USE, ToolContract

SECRET = b"s" * 32
_told: dict[str, Any] = {}


@tools.tool("test.contract", schema={"type": "object"})
def contract(args: dict[str, Any], use: Use) -> Any:
    """Behaves as the contract's tests say."""
    _told["uses"].append((args, use.key))
    if _told["how"] == "refuses":
        raise Refused(str(_told["value"]))
    if _told["how"] == "fails":
        raise ValueError(_told["value"])
    return {1, 2} if _told["how"] == "returns nonsense" else _told["value"]


class TestFunction(ToolContract):
    @pytest.fixture(autouse=True)
    def _fresh(self) -> None:
        _told.update(uses=[], how="returns", value=None)

    def behave(self, how: str, value: Any = None) -> None:
        _told.update(how=how, value=value)

    def send(self, args: bytes, use: Use = USE) -> Answer:
        path = tools.described(contract).path
        return tools.send("function", {"function": path}, b"", args, use)

    def uses(self) -> list[tuple[Any, str]]:
        return list(_told["uses"])

    def test_only_registered_code_can_be_named(self) -> None:
        """DU-S8: a row never makes code be imported or called."""
        answer = tools.send("function", {"function": "os.system"}, b"", b'"true"', USE)
        assert answer.outcome == tools.FAILED_BEFORE and "No module" in answer.message


class TestHttp(ToolContract):
    @pytest.fixture(autouse=True)
    def _serve(self, settings: Any) -> Iterator[None]:
        with serving() as self.endpoint:
            settings.PLACET_ALLOW_ADDRESSES = {self.endpoint.address}
            yield

    endpoint: Endpoint

    def behave(self, how: str, value: Any = None) -> None:
        told = self.endpoint
        told.body = json.dumps(value).encode()
        told.status = {"refuses": 422, "fails": 500}.get(how, 200)
        if how == "returns nonsense":
            told.body = b'{"a": 1, "a": 2}'

    def send(self, args: bytes, use: Use = USE) -> Answer:
        return tools.send("http", {"url": self.endpoint.url + "/do"}, SECRET, args, use)

    def uses(self) -> list[tuple[Any, str]]:
        return [(json.loads(body), headers["Idempotency-Key"]) for _, headers, body in self.endpoint.got]

    def test_the_body_is_exactly_the_bytes_and_the_rest_is_headers(self) -> None:
        args = canonical.encode({"b": 1.5, "a": "é", "list": [None, True]})
        self.send(args)
        [(path, headers, body)] = self.endpoint.got
        assert (path, body, headers["Content-Type"]) == ("/do", args, "application/json")

    def test_the_endpoint_can_tell_that_the_call_is_ours(self) -> None:
        """Standard Webhooks: id, time and body under a secret of the tool's own."""
        self.send(b'{"a":1}')
        [(_, headers, body)] = self.endpoint.got
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        expected = base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest()).decode()
        assert headers["webhook-signature"] == f"v1,{expected}" and headers["webhook-id"] == USE.call_id

    @pytest.mark.parametrize(
        ("status", "attempt", "outcome"),
        [
            (204, 1, tools.EXECUTED),
            (400, 1, tools.FAILED_BEFORE),
            (409, 1, tools.FAILED_BEFORE),
            (409, 2, tools.LOST),  # the first attempt still holds the key
            (408, 1, tools.LOST),
            (429, 1, tools.FAILED_BEFORE),
            (302, 1, tools.FAILED_AFTER),
            (503, 1, tools.FAILED_AFTER),
        ],
    )
    def test_what_a_status_says_about_what_happened(self, status: int, attempt: int, outcome: str) -> None:
        self.endpoint.status, self.endpoint.body = status, b""
        assert self.send(b"{}", Use(USE.call_id, USE.key, 5.0, attempt)).outcome == outcome

    def test_no_answer_is_lost_and_no_failure(self) -> None:
        self.endpoint.behave = "hang up"
        assert self.send(b"{}").outcome == tools.LOST

    def test_a_text_is_kept_as_a_text(self) -> None:
        self.endpoint.headers, self.endpoint.body = {"Content-Type": "text/plain; charset=utf-8"}, "Grüße".encode()
        assert self.send(b"{}") == Answer(tools.EXECUTED, "Grüße")

    def test_an_endpoint_that_is_not_there_means_that_nothing_happened(self, settings: Any) -> None:
        port = free_port()
        settings.PLACET_ALLOW_ADDRESSES = {f"127.0.0.1:{port}"}
        answer = tools.send("http", {"url": f"http://127.0.0.1:{port}/"}, SECRET, b"{}", USE)
        assert answer.outcome == tools.FAILED_BEFORE and "nothing was sent" in answer.note

    def test_a_tool_without_an_endpoint_says_so(self) -> None:
        assert "No endpoint" in tools.send("http", {}, SECRET, b"{}", USE).message
