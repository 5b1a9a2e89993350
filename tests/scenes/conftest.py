"""A desk on which agents work, or the cast alone: each test has a copy of the database in which they stand already."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests import databases
from tests.approvals.conftest import cast, heard
from tests.approvals.conftest import prepared as prepared_cast
from tests.approvals.pages.conftest import reads
from tests.runtime.conftest import desk
from tests.runtime.conftest import prepared as prepared_desk

__all__ = ["cast", "desk", "heard", "reads"]


@pytest.fixture
def committed_db(django_db_blocker: Any, request: pytest.FixtureRequest) -> Iterator[str]:
    """A database of the test's own."""
    prepared = prepared_desk if "desk" in request.fixturenames else prepared_cast
    with django_db_blocker.unblock(), databases.cloned(of=prepared()[0]) as name:
        yield name
