"""Somebody who writes the database past Placet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from tests.throwaway import SERVERS

Tamper = Callable[..., None]


@pytest.fixture
def tamper(committed_db: str) -> Tamper:
    """A statement by somebody with every power over the database and no key."""

    def run(statement: str, *values: Any) -> None:
        with SERVERS.postgres.connect(str(connection.settings_dict["NAME"])) as admin:
            admin.execute(b"SET session_replication_role = replica")
            admin.execute(statement.encode(), values)

    return run
