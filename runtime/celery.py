"""The Celery application. Messages are hints that carry an id, may be lost or repeated: PostgreSQL is the queue."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging, task_prerun, worker_init
from django.core.checks import run_checks
from django.db import close_old_connections

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "runtime.settings")

app = Celery("placet")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["runtime"])


@setup_logging.connect(weak=False)
def _keep_our_logging(**_: Any) -> None:
    """Celery configures no logging of its own: Django's setup already did."""


@worker_init.connect(weak=False)
def _check(**_: Any) -> None:
    """Our own checks. Celery would make all of Django's, which import every page (CELERY_SKIP_CHECKS, Procfile)."""
    if faults := run_checks(tags=["placet"]):
        raise SystemExit("\n".join(map(str, faults)))
    from runtime.checks import refuse_wrong_keys

    refuse_wrong_keys()


@task_prerun.connect(weak=False)
def _drop_dead_connections(**_: Any) -> None:
    # Connections live on between tasks. Without this every task of a thread fails after the database was restarted.
    close_old_connections()
