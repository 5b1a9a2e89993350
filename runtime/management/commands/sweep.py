"""``manage.py sweep``: the process that finds what is due. It needs no broker, and any number may run."""

from __future__ import annotations

import logging
import random
import signal
import threading
from typing import Any

from django.core.management.base import CommandParser
from django.db import DatabaseError, InterfaceError, connection

from approvals.ledger.printing import PlainCommand
from runtime import checks, processes, sweeps

log = logging.getLogger(__name__)


class Command(PlainCommand):
    help = "Every two seconds, look for runs that nobody came for and for deadlines that have passed."
    requires_system_checks = ("placet",)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="sweep and repair once, say what was found, and end")

    def handle(self, *_: Any, **options: Any) -> None:
        checks.refuse_wrong_keys()
        if options["once"]:
            found = sweeps.sweep()
            self.stdout.write(
                f"hinted {found.hinted}, expired {found.expired}, told {found.told}, repaired {sweeps.repair()}"
            )
            return
        enough = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: enough.set())
        _go_on(enough)


def _go_on(enough: threading.Event) -> None:
    clock = sweeps.Clock()
    while not enough.is_set():
        try:
            sweeps.sweep()
            if clock.due():
                sweeps.repair()
                sweeps.watch()
                sweeps.file()
                sweeps.anchor()
        except (DatabaseError, InterfaceError) as error:
            log.warning("The database cannot be asked (%s); the next sweep tries again.", type(error).__name__)
            connection.close()
        # Two sweeps that started together must not stay together.
        enough.wait(sweeps.EVERY * random.uniform(0.9, 1.1))
    _say_goodbye()


def _say_goodbye() -> None:
    try:
        processes.leave()
    except (DatabaseError, InterfaceError) as error:
        log.warning("The database was not told that this sweep ends (%s).", type(error).__name__)
