"""Fixtures of the approvals tests: the cast, and an ear in the machine's place that notes what it is told.

Writing the cast takes ten times as long as copying a database. So it is written once for each test process, and tests
that take it work in copies of that database: in one of their own where they commit, else in one that all of them share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from functools import cache
from typing import Any

import pytest
from django.test import override_settings

from approvals import rows
from approvals.approvals import Resolution
from approvals.ledger import sealing
from runtime.embedded import DATABASE
from tests import cast as casting
from tests import databases
from tests.clock import set_forward

HEARD: list[Resolution] = []


def hear(resolution: Resolution) -> None:
    """Stands where the machine's `resolved` stands."""
    HEARD.append(resolution)


@cache
def prepared() -> tuple[str, casting.Cast]:
    """The database that is copied, to which nobody is connected, and who stands in it."""
    name = databases.copy("cast")
    with databases.pointed(NAME=name):
        return name, casting.assemble()


@cache
def shared() -> str:
    """The copy for all tests that take the cast and roll back."""
    return databases.copy("cast_shared", of=prepared()[0])


@pytest.fixture
def committed_db(django_db_blocker: Any, request: pytest.FixtureRequest) -> Iterator[str]:
    """A database of this test's own; where the test takes the cast, a copy of one in which it stands already."""
    with django_db_blocker.unblock():
        template = prepared()[0] if "cast" in request.fixturenames else DATABASE
        with databases.cloned(of=template) as name:
            yield name


@contextmanager
def among_the_cast(request: pytest.FixtureRequest) -> Iterator[None]:
    """Point a test that rolls back to the database in which the cast stands, before `db` begins."""
    request.getfixturevalue("django_db_setup")
    with request.getfixturevalue("django_db_blocker").unblock():
        name = shared()
    with databases.pointed(NAME=name):
        with request.getfixturevalue("django_db_blocker").unblock():
            keep_the_data_key(prepared()[1])
        yield


def keep_the_data_key(cast: casting.Cast) -> None:
    """Have this process hold Northwind's data key, as every process does after its first commit: a test that rolls back
    would ask the database for it whenever something is sealed."""
    with rows.within(cast.northwind):
        sealing.seal(cast.northwind.pk, b"", place="kept")


@pytest.fixture(autouse=True)
def _among_the_cast(request: pytest.FixtureRequest) -> Iterator[None]:
    commits = "committed_db" in request.fixturenames or request.node.get_closest_marker("committed")
    with among_the_cast(request) if "cast" in request.fixturenames and not commits else nullcontext():
        yield


@pytest.fixture
def cast(request: pytest.FixtureRequest) -> casting.Cast:
    """Dana, Priya, Riley and Omar of Northwind, and Oskar of Halden."""
    if request.node.get_closest_marker("committed") is None:
        request.getfixturevalue("db")
    found = deepcopy(prepared()[1])
    rows.enter(found.northwind)
    return found


@pytest.fixture
def heard() -> object:
    """The resolutions told to the machine."""
    HEARD.clear()
    with override_settings(PLACET_RESOLVED="tests.approvals.conftest.hear"):
        yield HEARD


@pytest.fixture
def later() -> Iterator[Callable[[float], None]]:
    """Set the database's clock forward, by hours."""
    yield lambda hours: set_forward(hours * 3600)
    set_forward(0)
