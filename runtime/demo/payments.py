"""A small payments service in a process of its own: `python -m runtime.demo.payments`.

It is what a careful provider would be. A request must be signed in the manner of Standard Webhooks; the same
`Idempotency-Key` with the same body gets the same answer again, with another body 409; every call is counted before it
is looked at. Killed at any moment it goes on from its SQLite file.

    POST /tools/<name>   do it (payments.create_refund, preview_refund, get_charge, close_account)
    GET  /counts         what was seen and done, as a whole and by key       GET /calls   every call in order
    GET  /healthz        200 when the books can be read
    POST /knobs          with PAYMENTS_KNOBS=1 only: make it slow or unreliable, for tests

Environment: PAYMENTS_PORT, PAYMENTS_SECRET (`whsec_` and base64), PLACET_HOME; for tests also PAYMENTS_KNOBS.
"""

import base64
import binascii
import hashlib
import hmac
import json
import os
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from runtime.demo.books import EFFECTS, Answer, Books, refusal

TOLERANCE: Final = 300  # seconds a signature's timestamp may be away from our clock
LARGEST_BODY: Final = 1024 * 1024


@dataclass
class Knobs:
    """Seconds to wait before and after the effect; how many of the next calls fail before it or lose their answer."""

    delay_before: float = 0.0
    delay_after: float = 0.0
    fail_before: int = 0
    drop_after: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def turn(self, wanted: dict[str, Any]) -> None:
        with self.lock:
            for name in ("delay_before", "delay_after"):
                setattr(self, name, float(wanted.get(name, getattr(self, name))))
            for name in ("fail_before", "drop_after"):
                setattr(self, name, int(wanted.get(name, getattr(self, name))))

    def take(self, name: str) -> bool:
        """Use up one of a count; False when none is left."""
        with self.lock:
            left: int = getattr(self, name)
            setattr(self, name, max(left - 1, 0))
            return left > 0


class Service(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, secret: bytes, home: Path, *, with_knobs: bool = False) -> None:
        self.books = Books(home)
        self.secret = secret
        self.knobs = Knobs()
        self.with_knobs = with_knobs
        super().__init__(("127.0.0.1", port), Handler)


class Handler(BaseHTTPRequestHandler):
    server: Service
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body leave together: two small writes would wait 40 ms for an acknowledgement
    timeout = 60

    def do_GET(self) -> None:
        pages = {"/counts": self.server.books.counts, "/calls": self._calls, "/healthz": self._health}
        page = pages.get(self.path)
        self._say(Answer(200, page()) if page else refusal(404, "no_such_page", "There is nothing here."))

    def do_POST(self) -> None:
        try:
            body = self._body()
        except ConnectionError:
            self.close_connection = True
            return
        if body is None:
            self.close_connection = True
            self._say(refusal(413, "too_large", f"A body of 0 to {LARGEST_BODY} bytes with its length is needed."))
        elif self.path == "/knobs" and self.server.with_knobs:
            self.server.knobs.turn(json.loads(body))
            self._say(Answer(200, {}))
        elif self.path.startswith("/tools/") and self.path.removeprefix("/tools/") in EFFECTS:
            self._call(self.path.removeprefix("/tools/"), body)
        else:
            self._say(refusal(404, "no_such_tool", "There is no such tool."))

    def _call(self, tool: str, body: bytes) -> None:
        key, books, knobs = self.headers.get("Idempotency-Key"), self.server.books, self.server.knobs
        number = books.receive(tool, key, body)
        refused = self._unsigned(body)
        if refused is None and knobs.take("fail_before"):
            refused = refusal(503, "unavailable", "Nothing was done. Try again.")
        if refused is not None:
            books.settle(number, refused)
            self._say(refused)
            return
        time.sleep(knobs.delay_before)
        answer = books.perform(number, tool, key, body)
        time.sleep(knobs.delay_after)
        if knobs.take("drop_after"):
            self.close_connection = True  # the effect is done and the caller will never hear of it
            return
        self._say(answer)

    def _unsigned(self, body: bytes) -> Answer | None:
        sent_at, given = self.headers.get("webhook-timestamp", ""), self.headers.get("webhook-signature", "")
        if not _is_count(sent_at) or abs(time.time() - int(sent_at)) > TOLERANCE:
            return refusal(401, "bad_timestamp", "The signature's timestamp is missing or too far from now.")
        right = signature(self.server.secret, self.headers.get("webhook-id", ""), sent_at, body)
        if not any(hmac.compare_digest(right.encode(), one.encode()) for one in given.split()):
            return refusal(401, "bad_signature", "The signature does not fit the body.")
        return None

    def _body(self) -> bytes | None:
        """The whole body, None when its length is not given or too large. Half a request is none: whoever is killed
        while they send has called nothing, and no bytes of theirs are kept. Raises ConnectionError then."""
        length = self.headers.get("Content-Length", "")
        if not _is_count(length) or int(length) > LARGEST_BODY:
            return None
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise ConnectionError("The caller went away in the middle of a request.")
        return body

    def _calls(self) -> dict[str, Any]:
        return {"calls": self.server.books.calls()}

    def _health(self) -> dict[str, Any]:
        return {"ok": True, "calls": self.server.books.counts()["calls"]}

    def _say(self, answer: Answer) -> None:
        text = json.dumps(answer.body, ensure_ascii=False).encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        if answer.replayed:
            self.send_header("Idempotent-Replayed", "true")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the books are the log."""


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 12


def signature(secret: bytes, message_id: str, sent_at: str, body: bytes) -> str:
    """`v1,` and the base64 of HMAC-SHA256 over id, timestamp and body, joined by full stops (Standard Webhooks)."""
    signed = b".".join([message_id.encode("latin-1"), sent_at.encode(), body])
    return "v1," + base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()


def secret_bytes(secret: str) -> bytes:
    """The key inside a `whsec_…` secret; raises ValueError when it is not one or is too short to be safe."""
    if not secret.startswith("whsec_"):
        raise ValueError("A signing secret starts with whsec_.")
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error as error:
        raise ValueError("A signing secret is whsec_ and base64.") from error
    if len(key) < 24:
        raise ValueError("A signing secret has at least 24 bytes.")
    return key


def main() -> None:
    try:
        port, secret = int(os.environ["PAYMENTS_PORT"]), secret_bytes(os.environ["PAYMENTS_SECRET"])
        home = Path(os.environ["PLACET_HOME"]) / "demo"
    except (KeyError, ValueError) as wrong:
        sys.exit(f"The payments service cannot start: {wrong}")
    with Service(port, secret, home, with_knobs=os.environ.get("PAYMENTS_KNOBS") == "1") as service:
        try:
            service.serve_forever()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
