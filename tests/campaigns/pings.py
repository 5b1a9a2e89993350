"""A Celery application of its own with one task that answers at once: what a bare round trip takes."""

from __future__ import annotations

import os
import sys
import time
from typing import Final

import redis
from celery import Celery

from runtime.stack import Child, Stack

QUEUE: Final = "campaign-ping"
ANSWERS: Final = "campaign-pong"
MODULE: Final = "tests.campaigns.pings"

app = Celery("pings", broker=os.environ["REDIS_URL"])
app.conf.update(task_ignore_result=True, task_default_queue=QUEUE, worker_prefetch_multiplier=1)
broker = redis.Redis.from_url(os.environ["REDIS_URL"], socket_timeout=150)


@app.task(name="campaign.ping")
def ping(number: int) -> None:
    """Put the number where its sender waits for it."""
    broker.rpush(ANSWERS, number)


def round_trips(stack: Stack, count: int) -> list[float]:
    """Seconds from sending a task to having its answer, for so many tasks, one after the other."""
    options = ("-Q", QUEUE, "--pool", "threads", "--concurrency", "8", "--without-gossip", "--without-mingle")
    argv = (
        sys.executable,
        "-m",
        "celery",
        "-A",
        MODULE,
        "worker",
        *options,
        "--without-heartbeat",
        "--loglevel",
        "error",
    )
    stack.children["ping"] = Child("ping", argv)
    stack.start("ping")
    try:
        once(seconds=120)  # the worker is still starting
        return [once() for _ in range(count)]
    finally:
        stack.stop("ping")
        del stack.children["ping"]


def once(seconds: int = 10) -> float:
    began = time.perf_counter()
    ping.delay(1)
    answer = broker.blpop([ANSWERS], timeout=seconds)
    assert answer is not None, "no answer through the broker"
    return time.perf_counter() - began
