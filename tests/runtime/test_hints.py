"""Hints: messages that carry an id, sent after COMMIT, with nothing in them that could be lost, late or secret."""

from __future__ import annotations

import re
from pathlib import Path

import redis

from approvals import rows
from runtime import hints
from runtime.celery import app
from tests.runtime.conftest import Desk, call


def test_the_application_hints_and_never_schedules() -> None:
    """CH-B162, RL-4, RL-11, DU-C2, SC-8: early acknowledgement, JSON alone, no later delivery that could run twice."""
    code = "\n".join(path.read_text() for path in Path("runtime").rglob("*.py"))
    assert not re.search(r"countdown=|\beta=|self\.retry|acks_late=True", code)
    assert (app.conf.task_acks_late, app.conf.accept_content, app.conf.task_ignore_result) == (False, ["json"], True)


def test_nothing_is_hinted_before_its_commit(desk: Desk, broker: redis.Redis) -> None:
    """CH-B161, RL-1: a worker never looks for a row that is not there yet."""
    with rows.within(desk.cast.northwind):
        desk.start([call("asked.keyed", 1)])
        assert hints.queued() == 0
    assert hints.queued() == 1
