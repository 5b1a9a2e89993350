"""A worker in a process of its own, which ends, or stands still, at a named point of the protocol."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from uuid import UUID

from django.db import connections

from runtime import crashpoints, leases, loop
from runtime.runs import Run
from tests.runtime.test_leases import let_it_run_out


def fork(function: Callable[[], object], at: str) -> int:
    """Run the function in a forked process with ``PLACET_CRASH_AT``; returns its process id."""
    # A child must not share a connection's socket: neither has one at the moment of the fork.
    connections.close_all()
    child = os.fork()
    if child:
        return child
    os.environ["PLACET_CRASH_AT"] = at
    crashpoints._visits.clear()
    try:
        function()
    except BaseException:  # noqa: BLE001 - nothing of a child may run on into pytest
        os._exit(1)
    os._exit(0)


def work_and_die(run: Run, at: str) -> bool:
    """Let another process work on the run until it comes to the point; True if it did, and died there."""
    child = fork(lambda: _work(run.pk, run.workspace_id), at)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def work_and_stop(run: Run, at: str) -> int:
    """Let another process work on the run until it stands still at the point, for longer than its lease lasts: by its
    own clock, and by the database's. Returns its id."""

    def stand_still(name: str, way: str) -> None:
        for lease in leases._kept.values():
            lease.until = 0.0
        end(name, way)

    def work() -> None:
        crashpoints._end = stand_still
        _work(run.pk, run.workspace_id)

    end = crashpoints._end
    child = fork(work, f"{at}:stop")
    _, status = os.waitpid(child, os.WUNTRACED)
    assert os.WIFSTOPPED(status), f"the process never came to {at}"
    let_it_run_out(run)
    return child


def wake(child: int) -> None:
    """Let a process that stands still go on, and wait for its end."""
    os.kill(child, signal.SIGCONT)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def _work(run_id: UUID, workspace_id: UUID) -> None:
    while loop.advance(run_id, workspace_id):
        if not Run.objects.filter(pk=run_id, status="ready").exists():
            return
