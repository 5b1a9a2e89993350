"""Fixtures of the approvals tests: the cast, and an ear in the machine's place that notes what it is told."""

from __future__ import annotations

import pytest
from django.test import override_settings

from approvals.approvals import Resolution
from tests import cast as casting

HEARD: list[Resolution] = []


def hear(resolution: Resolution) -> None:
    """Stands where the machine's `resolved` stands."""
    HEARD.append(resolution)


@pytest.fixture
def cast(request: pytest.FixtureRequest) -> casting.Cast:
    """Dana, Priya, Riley and Omar of Northwind, and Oskar of Halden."""
    if request.node.get_closest_marker("committed") is None:
        request.getfixturevalue("db")
    return casting.assemble()


@pytest.fixture
def heard() -> object:
    """The resolutions told to the machine."""
    HEARD.clear()
    with override_settings(PLACET_RESOLVED="tests.approvals.conftest.hear"):
        yield HEARD
