"""The payments service as a real process, with a client that signs as Placet does."""

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx

from runtime.demo import services
from runtime.demo.payments import secret_bytes, signature

ROOT = Path(__file__).resolve().parents[3]


class Payments:
    """Start, kill and ask the service; its data lie under `home`."""

    def __init__(self, home: Path) -> None:
        self.service = services.payments(home)
        self.secret = self.service.env["PAYMENTS_SECRET"]
        self.url = f"http://127.0.0.1:{self.service.port}"
        self.client = httpx.Client(base_url=self.url, timeout=10, trust_env=False)
        self.start()

    def start(self) -> None:
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PAYMENTS_KNOBS": "1", **self.service.env}
        self.process = subprocess.Popen([sys.executable, *self.service.argv[1:]], env=env, cwd=ROOT)
        deadline = time.monotonic() + 15
        while not self._answers():
            assert self.process.poll() is None and time.monotonic() < deadline, "the payments service did not start"

    def _answers(self) -> bool:
        try:
            return self.client.get("/healthz", timeout=0.2).status_code == 200
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        self.kill()
        self.client.close()

    def call(self, tool: str, args: dict[str, Any], *, key: str | None = None, **changes: str) -> httpx.Response:
        """One signed call; `changes` replace headers after signing."""
        body = json.dumps(args).encode()
        sent_at, message_id = str(int(time.time())), f"msg_{secrets.token_hex(8)}"
        headers = {
            "webhook-id": message_id,
            "webhook-timestamp": sent_at,
            "webhook-signature": signature(secret_bytes(self.secret), message_id, sent_at, body),
            **({"Idempotency-Key": key} if key else {}),
            **{name.replace("_", "-"): value for name, value in changes.items()},
        }
        raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        return self.client.post(f"/tools/{tool}", content=body, headers=raw)

    def knobs(self, **wanted: float) -> None:
        self.client.post("/knobs", json=wanted).raise_for_status()

    def counts(self) -> dict[str, Any]:
        counts: dict[str, Any] = self.client.get("/counts").json()
        return counts
