"""Where a test stands: in the first workspace that it makes or takes, as if a door had let it in.

Row-level security shows a test the rows of one workspace, as it does all code. What it calls is begun as it is in a
process of its own: a request, a command and a worker stand nowhere until they find their workspace themselves. For rows
of another workspace a test says `rows.reading(workspace)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management.base import BaseCommand

from approvals import rows, workspaces
from approvals.people import Workspace

_execute = BaseCommand.execute


def founded(slug: str, name: str) -> Workspace:
    """A new workspace. The first one of a test is where it stands from now on."""
    workspace = Workspace(slug=slug, name=name)
    with rows.within(workspace):
        workspace.save(force_insert=True)
    if rows.where() is None:
        rows.enter(workspace)
    return workspace


def come_to(slug: str) -> Workspace:
    """The workspace of this slug, in which the test stands from now on."""
    workspace = workspaces.named(slug)
    assert workspace is not None, slug
    rows.enter(workspace)
    return workspace


@pytest.fixture(autouse=True)
def _begin_nowhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(BaseCommand, "execute", _execute_from_nowhere)
    with rows.nowhere():
        yield


def _execute_from_nowhere(command: BaseCommand, *args: Any, **options: Any) -> Any:
    with rows.nowhere():
        return _execute(command, *args, **options)
