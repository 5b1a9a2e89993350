"""One HTTP request to an address that a row names: guarded, bounded in time and size, never redirected, never repeated.

Names are resolved once and the connection goes to the address that was checked, so a name that changes its answer
between check and connection gains nothing. The library below (httpcore) is used directly because it tells "never
sent" from "no answer".
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

import httpcore
from django.conf import settings

MAX_ANSWER: Final = 1024 * 1024
"""The longest answer that is read, in bytes."""

NAT64: Final = ipaddress.ip_network("64:ff9b::/96")


@dataclass(frozen=True)
class Reply:
    """What the other side answered. ``whole`` is False when the body was longer than MAX_ANSWER and was not read to
    its end; ``usage`` is the header in which an endpoint says what it spent."""

    status: int
    content_type: str
    body: bytes
    whole: bool
    usage: str = ""


class NeverSent(Exception):
    """The request did not leave: nothing can have happened on the other side."""


class NoAnswer(Exception):
    """The request left, all of it or a part, and no whole answer came back: nobody here knows what happened."""


def check_url(url: str) -> str:
    """The URL, if a request may be sent to it. Raises ValueError: https is needed unless host and port are expressly
    allowed."""
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.fragment:
        raise ValueError(f"{url} is no plain http or https address.")
    if parts.scheme == "http" and not _allowed(parts.hostname, port):
        raise ValueError(f"{url} is not https, and PLACET_ALLOW_ADDRESSES does not name {parts.hostname}:{port}.")
    return url


def post(url: str, body: bytes, headers: Mapping[str, str], *, seconds: float) -> Reply:
    """Send the body and read the answer within so many seconds in all. Raises NeverSent or NoAnswer."""
    return _request("POST", url, body, {"Content-Length": str(len(body)), **headers}, seconds)


def get(url: str, headers: Mapping[str, str], *, seconds: float) -> Reply:
    """Read an address within so many seconds in all. Raises NeverSent or NoAnswer."""
    return _request("GET", url, b"", headers, seconds)


def _request(method: str, url: str, body: bytes, headers: Mapping[str, str], seconds: float) -> Reply:
    try:
        target = httpcore.URL(check_url(url))
    except ValueError as error:
        raise NeverSent(str(error)) from error
    wire = _Wire(time.monotonic() + seconds)
    sent = {"Host": urlsplit(url).netloc, "Connection": "close", **headers}
    request = httpcore.Request(method, target, headers=list(sent.items()), content=body)
    try:
        with httpcore.HTTPConnection(target.origin, ssl_context=_trust(), network_backend=wire) as connection:
            return _read(connection.handle_request(request))
    except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, OSError) as error:
        told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise (NoAnswer if wire.sent else NeverSent)(told) from error


def _read(response: httpcore.Response) -> Reply:
    headers = {name.lower(): value for name, value in response.headers}
    body, whole = b"", True
    for chunk in response.iter_stream():
        body += chunk
        if len(body) > MAX_ANSWER:
            body, whole = b"", False
            break
    kind, usage = (headers.get(name, b"").decode("latin-1") for name in (b"content-type", b"placet-usage"))
    return Reply(response.status, kind, body, whole, usage)


@cache
def _trust() -> ssl.SSLContext:
    return ssl.create_default_context()


# The guard


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, all of them checked. Raises NeverSent if one of them lies in a private or special
    network."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise NeverSent(f"{host} has no address: {error}") from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for address in addresses:
        if not (_allowed(host, port) or _allowed(address, port) or is_public(address)):
            raise NeverSent(f"{host} lies at {address}, and requests to private networks are refused.")
    return addresses


def is_public(address: str) -> bool:
    """Whether an address, and every address wrapped inside it, is on the public internet."""
    return all(ip.is_global and not ip.is_multicast for ip in _meant(ipaddress.ip_address(address.partition("%")[0])))


def _meant(ip: Any) -> Iterable[Any]:
    yield ip
    if ip.version == 6:
        yield from filter(None, (ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())))
        if ip in NAT64:
            yield ipaddress.ip_address(int(ip) & 0xFFFFFFFF)


def _allowed(host: str, port: int) -> bool:
    shown = f"[{host}]" if ":" in host else host
    return f"{shown}:{port}" in settings.PLACET_ALLOW_ADDRESSES


class _Wire(httpcore.NetworkBackend):
    """Connections to checked addresses only, whose every wait ends at one deadline, and which know if anything was
    sent."""

    def __init__(self, deadline: float) -> None:
        self.sent = False
        self._deadline = deadline
        self._inner = httpcore.SyncBackend()

    def left(self) -> float:
        """The seconds that are left. Raises httpcore.ReadTimeout when there are none."""
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise httpcore.ReadTimeout("the time for this call is over")
        return seconds

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        problem: Exception = NeverSent(f"{host} has no address.")
        for address in resolve(host, port):
            try:
                return _Stream(self._inner.connect_tcp(address, port, min(self.left(), 5.0)), self)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                problem = error
        raise problem

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.NetworkStream:
        raise NeverSent("Requests go to network addresses only.")

    def sleep(self, seconds: float) -> None:
        raise NeverSent("A request is never repeated here.")


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream, wire: _Wire) -> None:
        self._inner = inner
        self._wire = wire

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._wire.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), 65536):
            self._wire.left()
            self._wire.sent = True
            self._inner.write(buffer[start : start + 65536], self._wire.left())

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, self._wire.left()), self._wire)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
