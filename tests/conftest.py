"""The fixtures every room shares.

`db` (pytest-django's) gives a transaction that is rolled back, as the application role. A test that commits is marked
`@pytest.mark.committed` or takes `committed_db`: a database of its own. `transactional_db` is refused.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import redis
from django.conf import settings as configured

from approvals.ledger import followed
from tests import databases, threads
from tests.throwaway import SERVERS, clean

pytest_plugins = [
    "tests.sites",
    "tests.browsers",
    "tests.mailboxes",
    "tests.oidc",
    "tests.stacks",
    "tests.cases",
    "tests.tampering",
    "tests.order",
    "tests.standing",
]

# Generated examples are the same in every run, and a busy machine makes none of them fail.
hypothesis.settings.register_profile(
    "placet", deadline=None, derandomize=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("placet")


@pytest.fixture(scope="session")
def django_db_setup(django_db_blocker: Any) -> Iterator[None]:
    """One clone for all tests that roll back."""
    with django_db_blocker.unblock(), databases.cloned("shared"):
        yield


@pytest.fixture
def committed_db(django_db_blocker: Any, request: pytest.FixtureRequest) -> Iterator[str]:
    """A database of this test's own, in which everything really commits; yields its name."""
    if "db" in request.fixturenames or request.node.get_closest_marker("django_db"):
        pytest.fail("A test either rolls back (db) or commits (committed_db).")
    with django_db_blocker.unblock(), databases.cloned() as name:
        yield name


@pytest.fixture(autouse=True)
def _committed_by_mark(request: pytest.FixtureRequest) -> None:
    """Set up the database before any other fixture that needs one."""
    if request.node.get_closest_marker("committed"):
        request.getfixturevalue("committed_db")


@pytest.fixture
def transactional_db() -> None:
    pytest.fail("Django's flush is refused by the ledger: mark the test `committed`.")


@pytest.fixture(autouse=True)
def _new_to_the_ledger() -> None:
    """What one test's ledger said, and rolled back, is not held against the next one's."""
    followed.KNOWN.clear()


@pytest.fixture(autouse=True)
def _no_deadlock() -> Iterator[None]:
    """A deadlock fails the test, also when the code under test recovered from it."""
    before = SERVERS.postgres.log.stat().st_size if SERVERS.postgres.log.exists() else 0
    yield
    if found := databases.logged("deadlock detected", before):
        pytest.fail(f"PostgreSQL reports: {found[0]}")


@pytest.fixture(autouse=True)
def _no_outside_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only this machine is reached; anything else is an error that no code under test catches by accident."""

    def guard(original: Callable[..., Any]) -> Callable[..., Any]:
        def connect(self: socket.socket, address: Any) -> Any:
            if self.family != socket.AF_UNIX and address[0] not in {"127.0.0.1", "::1", "localhost"}:
                raise AssertionError(f"A test tried to reach {address[0]}.")
            return original(self, address)

        return connect

    monkeypatch.setattr(socket.socket, "connect", guard(socket.socket.connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guard(socket.socket.connect_ex))


@pytest.fixture(autouse=True)
def _anchors_of_its_own(settings: Any, tmp_path: Path) -> None:
    """Each test has its own database, and so its own file of anchors."""
    settings.PLACET_ANCHORS = tmp_path / "anchors.jsonl"


@pytest.fixture(autouse=True, scope="session")
def _fast_passwords() -> None:
    configured.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def broker(committed_db: str) -> Iterator[redis.Redis]:
    """The real broker, empty; a client of it."""
    client = redis.Redis.from_url(configured.REDIS_URL)
    client.flushall()
    yield client
    client.flushall()
    client.close()


@pytest.fixture
def together(committed_db: str) -> Callable[..., list[Any]]:
    """`together(*functions, seconds=30)`: run them at the same instant, each in a thread with a connection of its own;
    returns their results in order, exceptions included as values."""
    return threads.together


def pytest_unconfigure() -> None:
    clean()
