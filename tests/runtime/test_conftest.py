"""The ground the other tests stand on."""

from __future__ import annotations

import socket

import pytest
from django.db import connection


def role() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        return cursor.fetchone()[0]


def test_a_test_that_rolls_back_works_as_the_application_role(db):
    assert role() == "placet"


def test_a_test_that_commits_has_a_database_of_its_own(committed_db):
    assert connection.settings_dict["NAME"] == committed_db
    assert role() == "placet"


def test_threads_have_connections_of_their_own(together):
    def backend() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            return cursor.fetchone()[0]

    assert len(set(together(*[backend] * 4))) == 4


def test_nothing_outside_this_machine_is_reached():
    with pytest.raises(AssertionError, match="tried to reach"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)


def test_the_broker_is_real(broker):
    assert broker.ping()


def test_a_browser_meets_a_real_web_server(page_as):
    response = page_as().goto("/healthz")
    assert response is not None
    assert response.status in {200, 503}
