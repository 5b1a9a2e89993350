"""An endpoint that stands behind tools: it notes when each call came, with which bytes, and answers after a while."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType


@dataclass(frozen=True)
class Arrival:
    """One call: when it came (seconds since the epoch), its path, idempotency key and body."""

    at: float
    path: str
    key: str
    body: bytes


class Recorder(ThreadingHTTPServer):
    """Listens while the block runs. A call of `/slow` is answered after `slow` seconds, or once `let_go` is set; others
    at once."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, slow: float = 3.0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.slow = slow
        self.let_go = threading.Event()
        self.waiting = 0
        self.arrivals: list[Arrival] = []
        self.changed = threading.Condition()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    def of(self, path: str) -> list[Arrival]:
        """The calls of a path so far, in order."""
        with self.changed:
            return [arrival for arrival in self.arrivals if arrival.path == path]

    def everything(self) -> list[Arrival]:
        """All calls so far, in order."""
        with self.changed:
            return list(self.arrivals)

    def wait_for(self, path: str, count: int = 1, seconds: float = 30) -> list[Arrival]:
        """The calls of a path, once there are so many. Raises TimeoutError."""
        with self.changed:
            if self.changed.wait_for(lambda: len(self.of(path)) >= count, seconds):
                return self.of(path)
        raise TimeoutError(f"{path} was not called {count} times in {seconds:g} s.")

    def note(self, arrival: Arrival) -> None:
        with self.changed:
            self.arrivals.append(arrival)
            self.changed.notify_all()

    def linger(self) -> None:
        with self.changed:
            self.waiting += 1
        self.let_go.wait(self.slow)
        with self.changed:
            self.waiting -= 1

    def __enter__(self) -> Recorder:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.let_go.set()
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Recorder
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body leave together: two small writes would wait 40 ms for an acknowledgement

    def do_GET(self) -> None:
        """Whether a call with this key came: `/find/KEY` is how the tools of the effect lookup are asked."""
        known = any(arrival.key == self.path.removeprefix("/find/") for arrival in self.server.everything())
        self.answer(b'{"found": true, "value": {"noted": true}}' if known else b'{"found": false}')

    def do_POST(self) -> None:
        at = time.time()
        length = int(self.headers.get("Content-Length", "0"))
        body = self.rfile.read(length)
        if len(body) < length:  # whoever was killed while they sent has called nothing
            self.close_connection = True
            return
        self.server.note(Arrival(at, self.path, self.headers.get("Idempotency-Key", ""), body))
        if self.path == "/slow":
            self.server.linger()
        self.answer(b'{"noted": true}')

    def answer(self, answer: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
