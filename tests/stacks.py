"""The whole of Placet as real processes, on the test's own database."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator

import pytest
import redis

from runtime.children import tail
from runtime.ports import free_port
from runtime.stack import Stack, of_the_demo
from tests.throwaway import SERVERS

_numbers = itertools.count(1)


@pytest.fixture
def stack(committed_db: str, broker: redis.Redis) -> Iterator[Stack]:
    """Web, runs, sweep and the demo's services, none of them started: `stack.start()`, `stack.wait_healthy()`.

    The test's own queries meet the same database. `stack.kill(name)` and `stack.start(name)` take database and broker
    too; at the end everything is up again for the next test. The processes' logs are shown if the test fails.
    """
    home = SERVERS.home / f"stack-{next(_numbers)}"
    home.mkdir()
    extra, allowed = of_the_demo(home)
    addresses = {**SERVERS.environment(committed_db), "PLACET_ALLOW_ADDRESSES": allowed, "PLACET_LOG_LEVEL": "INFO"}
    whole = Stack(home, {**os.environ, **addresses}, port=free_port(), extra=extra, servers=SERVERS)
    try:
        yield whole
    finally:
        whole.stop()
        SERVERS.start()
        for log in sorted(whole.log.glob("*.log")):
            print(f"--- {log.name}\n{tail(log, lines=40)}")
