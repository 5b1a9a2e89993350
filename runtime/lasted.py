"""How long a run worked, and how long it waited for people."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from approvals import rows
from runtime.runs import Run


@dataclass(frozen=True)
class Lasted:
    """``waited`` is the time that people took until now or the end; ``since`` is when a wait began that goes on."""

    worked: timedelta
    waited: timedelta
    since: datetime | None = None


def of(run: Run) -> Lasted:
    """By the database's clock, from the run's start until now, or its end."""
    now = rows.now()
    since = run.wake_at if run.status == Run.Status.SUSPENDED else None
    end = run.ended_at or now
    waited = run.waited + (max(end - since, timedelta()) if since else timedelta())
    return Lasted(max(end - run.created_at - waited, timedelta()), waited, since)
