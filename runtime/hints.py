"""Hints: messages that say "look at this run". They may be lost, repeated or late; the row they name is the truth."""

from __future__ import annotations

import logging
from functools import partial
from typing import Final
from uuid import UUID

from django.db import transaction
from kombu.exceptions import OperationalError

from runtime.celery import app

QUEUE: Final = "runs"
TASK: Final = "runtime.advance_run"

log = logging.getLogger(__name__)


def hint(workspace_id: UUID, run_id: UUID) -> bool:
    """Ask a worker to look at the run. False if the broker cannot be reached; the sweep will find the run then."""
    try:
        app.send_task(TASK, args=[run_id.hex, workspace_id.hex], queue=QUEUE, ignore_result=True, retry=False)
    except (OperationalError, OSError) as error:
        log.warning("The broker cannot be reached, so the sweep will find run_%s: %s", run_id.hex, type(error).__name__)
        return False
    return True


def hint_on_commit(workspace_id: UUID, run_id: UUID) -> None:
    """The same once the open transaction is committed; at once where there is none."""
    transaction.on_commit(partial(hint, workspace_id, run_id), robust=True)


def queued() -> int:
    """How many hints wait in the broker. Raises kombu's OperationalError or OSError when it cannot be reached."""
    with app.connection_for_read() as connection:
        connection.ensure_connection(max_retries=1, timeout=2)
        return int(connection.default_channel.client.llen(QUEUE))
