"""Every journey ends with the invariants: whatever happened in it, they are true of what it left behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runtime import invariants


@pytest.fixture(autouse=True)
def _invariants_hold(request: pytest.FixtureRequest) -> Iterator[None]:
    commits = "committed_db" in request.fixturenames or request.node.get_closest_marker("committed")
    if commits:
        request.getfixturevalue("committed_db")
    yield
    if commits:
        assert [str(each) for each in invariants.offenders()] == []
        assert [str(each) for each in invariants.unreadable()] == []
