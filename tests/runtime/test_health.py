"""GET /healthz: each part by name; 503 when one is missing, and never anything worse."""

from __future__ import annotations

import time
from datetime import timedelta

import httpx
import pytest
from django.conf import settings
from django.db import OperationalError, connections
from django.test import Client

from approvals import rows
from runtime import health
from runtime.children import until
from runtime.processes import Process
from tests.throwaway import SERVERS


@pytest.fixture(autouse=True)
def _ask_anew(monkeypatch):
    monkeypatch.setattr(health, "FRESH", -1.0)


@pytest.fixture
def at_work(committed_db):
    """A worker and a sweep that were seen just now."""
    for kind in ("runs", "sweep"):
        Process.objects.create(name=f"{kind} here", kind=kind)


def answer() -> tuple[int, dict[str, str]]:
    response = Client().get("/healthz")
    return response.status_code, response.json()


def test_all_is_well(at_work, broker):
    assert answer() == (200, {"database": "ok", "broker": "ok", "workers": "ok", "sweep": "ok"})


def test_nobody_at_work_is_told_apart(committed_db, broker):
    assert answer() == (
        503,
        {"database": "ok", "broker": "ok", "workers": "not seen lately", "sweep": "not seen lately"},
    )


def test_a_worker_not_seen_for_a_while_counts_as_gone(at_work, broker):
    """DU-C3: what counts is a sign of life in PostgreSQL, not a connection to the broker."""
    Process.objects.filter(kind="runs").update(seen_at=rows.now() - timedelta(seconds=16))
    status, parts = answer()
    assert (status, parts["workers"], parts["sweep"]) == (503, "not seen lately", "ok")


def test_a_broker_that_is_down_is_one_part_of_the_answer(at_work, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    status, parts = answer()
    assert (status, parts["database"]) == (503, "ok")
    assert parts["broker"] in {"does not answer", "too slow"}  # on a busy machine it may even take long to be refused


def test_a_database_that_is_down_is_an_answer_and_no_error(committed_db, broker):
    SERVERS.postgres.kill()
    try:
        status, parts = answer()
    finally:
        SERVERS.postgres.start()
        connections.close_all()
    assert status == 503
    assert parts == {"database": "does not answer", "broker": "ok", "workers": "unknown", "sweep": "unknown"}


def test_a_flood_of_questions_asks_the_database_once_a_second(at_work, broker, monkeypatch):
    monkeypatch.setattr(health, "FRESH", 60.0)
    monkeypatch.setattr(health, "_last", (float("-inf"), {}))
    asked: list[int] = []

    def seen() -> set[str]:
        asked.append(1)
        return {"runs", "sweep"}

    monkeypatch.setattr(health, "_seen", seen)
    for _ in range(5):
        assert answer()[0] == 200
    assert len(asked) == 1


@pytest.mark.parametrize("path", ["/w/northwind/", "/api/v1/me"])
def test_a_request_that_met_an_outage_says_so_and_makes_it_look_again(db, broker, monkeypatch, path):
    """Nobody is told that all is well by an answer from before; a page is a 503 too, and no 500."""

    def away(*_: object) -> None:
        raise OperationalError("server closed the connection: password=hunter2")

    monkeypatch.setattr(health, "FRESH", 60.0)
    monkeypatch.setattr(health, "_last", (time.monotonic(), {"database": "ok"}))
    monkeypatch.setattr("runtime.credentials._caller", away)
    monkeypatch.setattr("django.contrib.sessions.backends.db.SessionStore.load", away)
    client = Client(headers={"Authorization": "Bearer plk_x"} if path.startswith("/api/") else {})
    client.cookies[settings.SESSION_COOKIE_NAME] = "x" * 32
    told = client.get(path)
    assert (told.status_code, told["Retry-After"]) == (503, "2") and b"hunter2" not in told.content
    assert answer()[1]["workers"] != "ok" and answer() == (503, health.look())


def test_connections_that_broke_while_nobody_used_them_are_replaced(stack):
    """The database was killed and is back; the pool's old connections fail nobody."""
    stack.start("web")
    assert until(lambda: stack.health().get("database") == "ok", seconds=60)
    assert [_status(stack) for _ in range(3)] == [401] * 3
    stack.kill("database")
    stack.start("database")
    assert [_status(stack) for _ in range(8)] == [401] * 8


def _status(stack) -> int:
    """What a request gets that asks the database whose credential it carries."""
    return httpx.get(f"http://127.0.0.1:{stack.port}/api/v1/me", headers={"Authorization": "Bearer plk_x"}).status_code


def test_it_is_only_read(db):
    assert Client().post("/healthz").status_code == 405


def test_nothing_of_the_inside_is_told(committed_db, settings):
    settings.REDIS_URL = "redis://:secret@127.0.0.1:1/0"
    told = str(answer())
    assert "secret" not in told
    assert "127.0.0.1" not in told
