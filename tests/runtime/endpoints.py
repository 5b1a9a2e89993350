"""An HTTP endpoint for tests: it records what it is sent and answers as it is told."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Endpoint:
    """What arrived (path, headers, body), and how it answers: ``behave`` is one of the words of `_Handler`."""

    url: str = ""
    behave: str = "ok"
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    body: bytes = b'{"ok": true}'
    got: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return self.url.removeprefix("http://")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    endpoint: Endpoint

    def do_POST(self) -> None:
        told = self.endpoint
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        told.got.append((self.path, dict(self.headers.items()), body))
        if told.behave == "hang up":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if told.behave == "say nothing":
            threading.Event().wait(3)
            return
        self.send_response(told.status)
        for name, value in told.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(told.body)))
        self.end_headers()
        if told.behave == "drip":
            self._drip()
        else:
            self.wfile.write(told.body)

    def do_GET(self) -> None:
        self.do_POST()

    def _drip(self) -> None:
        for letter in told_letters(self.endpoint.body):
            try:
                self.wfile.write(letter)
            except OSError:
                return
            threading.Event().wait(0.2)

    def log_message(self, *_: Any) -> None:
        """Tests are quiet."""


def told_letters(body: bytes) -> Iterator[bytes]:
    return (body[index : index + 1] for index in range(len(body)))


@contextmanager
def serving() -> Iterator[Endpoint]:
    """An endpoint on a free port of this machine."""
    endpoint = Endpoint()
    handler = type("Handler", (_Handler,), {"endpoint": endpoint})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
