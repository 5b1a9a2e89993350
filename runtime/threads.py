"""Threads: a conversation, which is one run after another."""

from __future__ import annotations

from uuid import UUID

from approvals import rows


class Thread(rows.Row):
    """What several runs belong to. It holds no text: that is sealed in its runs."""

    PREFIX = "thr"


def open_thread(workspace_id: UUID) -> Thread:
    """Begin a conversation, inside an open `rows.within`."""
    thread: Thread = Thread.objects.create(workspace_id=workspace_id)
    return thread
