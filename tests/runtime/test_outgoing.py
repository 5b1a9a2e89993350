"""Outgoing requests: where they may go, how long they may take, and what is known when they fail."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from runtime import outgoing
from runtime.outgoing import NeverSent, NoAnswer
from runtime.ports import free_port
from tests.runtime.endpoints import Endpoint, serving


@pytest.fixture
def endpoint(settings: Any) -> Iterator[Endpoint]:
    with serving() as made:
        settings.PLACET_ALLOW_ADDRESSES = {made.address}
        yield made


def post(url: str, *, seconds: float = 5.0, body: bytes = b"{}") -> outgoing.Reply:
    return outgoing.post(url, body, {"X-Test": "1"}, seconds=seconds)


def test_the_body_arrives_byte_for_byte(endpoint: Endpoint) -> None:
    body = '{"name":"Żółć \u2028 \U0001f9fe"}'.encode()
    assert post(endpoint.url + "/a%2Fb", body=body).status == 200
    [(path, headers, got)] = endpoint.got
    assert (path, got, headers["Host"], headers["X-Test"]) == ("/a%2Fb", body, endpoint.address, "1")


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "::1",
        "0.0.0.0",
        "10.0.0.8",
        "172.16.3.4",
        "192.168.1.1",
        "169.254.169.254",  # the metadata of a cloud
        "fd00:ec2::254",
        "100.64.0.1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",  # 10.0.0.1 behind a translator
        "2002:7f00:1::",  # 127.0.0.1 in 6to4
        "fe80::1%lo",
        "224.0.0.1",
        "255.255.255.255",
        "::",
    ],
)
def test_private_and_special_addresses_are_refused(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """SC-4: whatever name leads there."""
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", (address, 443))])
    with pytest.raises(NeverSent, match="private networks"):
        post("https://innocent.example/hook")


def test_public_addresses_are_not() -> None:
    assert outgoing.is_public("93.184.215.14") and outgoing.is_public("2606:2800:21f:cb07:6820:80da:af6b:8b2c")


def test_one_bad_address_among_good_ones_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(0, 0, 0, "", (address, 443)) for address in ("93.184.215.14", "127.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(NeverSent, match="private networks"):
        outgoing.resolve("innocent.example", 443)


def test_a_name_is_resolved_once_and_the_checked_address_is_used(
    endpoint: Endpoint, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SC-4: a name that changes its answer after the check gains nothing."""
    port = int(endpoint.address.partition(":")[2])
    asked: list[str] = []

    def resolve(host: str, port: int, *_: Any, **__: Any) -> Any:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    settings.PLACET_ALLOW_ADDRESSES = {f"shop.example:{port}"}
    assert post(f"http://shop.example:{port}/").status == 200 and asked.count("shop.example") == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://shop.example/",  # not https, and not allowed by name
        "ftp://shop.example/",
        "https://user:word@shop.example/",
        "https:///path",
        "https://shop.example/#part",
        "file:///etc/passwd",
    ],
)
def test_an_address_that_is_no_plain_one_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"address|https"):
        outgoing.check_url(url)
    with pytest.raises(NeverSent):
        post(url)


def test_a_redirect_is_not_followed(endpoint: Endpoint) -> None:
    """SC-4."""
    endpoint.status, endpoint.headers = 307, {"Location": endpoint.url + "/elsewhere"}
    assert post(endpoint.url).status == 307 and len(endpoint.got) == 1


def test_a_port_that_nobody_listens_on_means_that_nothing_was_sent(settings: Any) -> None:
    port = free_port()
    settings.PLACET_ALLOW_ADDRESSES = {f"127.0.0.1:{port}"}
    with pytest.raises(NeverSent, match="ConnectError"):
        post(f"http://127.0.0.1:{port}/")


@pytest.mark.parametrize("behave", ["hang up", "say nothing"])
def test_a_connection_that_ends_without_an_answer_leaves_it_open(endpoint: Endpoint, behave: str) -> None:
    endpoint.behave = behave
    with pytest.raises(NoAnswer):
        post(endpoint.url, seconds=0.5)
    assert len(endpoint.got) == 1


def test_the_time_is_for_everything_together(endpoint: Endpoint) -> None:
    """DU-E15: an answer that drips in cannot hold a worker."""
    endpoint.behave, endpoint.body = "drip", b"x" * 100
    began = time.monotonic()
    with pytest.raises(NoAnswer):
        post(endpoint.url, seconds=0.7)
    assert time.monotonic() - began < 2


def test_an_answer_is_read_up_to_a_limit(endpoint: Endpoint) -> None:
    endpoint.body = b"x" * (outgoing.MAX_ANSWER + 1)
    reply = post(endpoint.url)
    assert (reply.whole, reply.body) == (False, b"")
    endpoint.body = b"x" * outgoing.MAX_ANSWER
    assert post(endpoint.url).whole
