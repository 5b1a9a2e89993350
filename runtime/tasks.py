"""Tasks: shells around one verb each. A message carries ids only and may come twice, late or never."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from celery.signals import worker_init, worker_shutdown, worker_shutting_down
from django.db import connection

from runtime import hints, loop, processes
from runtime.celery import app


@app.task(name=hints.TASK, ignore_result=True, acks_late=False)
def advance_run(run_id: str, workspace_id: str = "") -> None:
    """Look at a run and work on it, if nobody else does. The ids are 32 hex digits."""
    loop.advance(UUID(hex=run_id), UUID(hex=workspace_id) if workspace_id else None)


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
