"""Tasks: shells around one verb each. A message carries ids only and may come twice, late or never."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from celery.signals import worker_init, worker_shutdown, worker_shutting_down
from django.db import connection

from approvals import gate, rows
from runtime import hints, loop, previews, processes
from runtime.celery import app


@app.task(name=hints.TASK, ignore_result=True, acks_late=False)
def advance_run(run_id: str, workspace_id: str = "") -> None:
    """Look at a run and work on it, if nobody else does. The ids are 32 hex digits."""
    loop.advance(UUID(hex=run_id), UUID(hex=workspace_id) if workspace_id else None)


@app.task(name=hints.VERIFY, ignore_result=True, acks_late=False)
def verify_ledger(verification: str, workspace_id: str) -> None:
    """Do the next part of a verification, if nobody else does, and leave the one after it to whoever is free."""
    key, workspace = UUID(hex=verification), UUID(hex=workspace_id)
    if gate.verify_on(workspace, key):
        hints.verify(workspace, key)


@app.task(name=previews.TASK, ignore_result=True, acks_late=False)
def preview_call(approval_id: str, workspace_id: str) -> None:
    """Look up once more what a call that waits for people would change. The ids are 32 hex digits."""
    previews.make(UUID(hex=workspace_id), rows.public_id(previews.APPROVAL, UUID(hex=approval_id)))


@worker_init.connect(weak=False)
def _come(**_: Any) -> None:
    processes.stopping.clear()
    processes.keep_up(processes.beat)


@worker_shutting_down.connect(weak=False)
def _stop(**_: Any) -> None:
    """Asked to stop: runs are given back at their next commit, so that nobody waits for a lease to run out."""
    processes.stopping.set()


@worker_shutdown.connect(weak=False)
def _leave(**_: Any) -> None:
    """The worker listens no more: what it gave back, and what it was still told, is told to the others."""
    hints.send_postponed()
    processes.leave()
    connection.close()
