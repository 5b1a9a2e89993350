"""`manage.py prepare`: roles, tables, checks and the demo in one process, for bin/up.

One start of Python takes longer than all three together. It begins as the owner of the tables, as `migrate` does, and
goes on as the application. Each line it writes is JSON: `{"did": STEP}`, at the end `{"text": what the demo shows}`.
"""

from __future__ import annotations

import io
import json
from typing import Any

from django.conf import settings
from django.core.checks import run_checks
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections

from runtime.embedded import Servers
from runtime.environment import from_process


class Command(BaseCommand):
    help = "For bin/up: migrate, check, set the demo up."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--roles", action="store_true", help="make the embedded server's database and roles first")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["roles"]:
            embedded = Servers(settings.PLACET_HOME).postgres
            if not embedded.attach():
                raise CommandError("The embedded database has ended.")
            embedded.prepare()
        call_command("migrate", interactive=False, verbosity=0)
        self._did("Tables")
        become_the_application()
        if faults := [fault for fault in run_checks(databases=["default"]) if fault.is_serious()]:
            raise CommandError("\n".join(f"{fault.msg} {fault.hint or ''}".rstrip() for fault in faults))
        self._did("Checks")
        call_command("demo", stdout=io.StringIO())
        self._did("Demo")
        shown = io.StringIO()
        call_command("demo", "--show", stdout=shown)
        self.stdout.write(json.dumps({"text": shown.getvalue()}))

    def _did(self, step: str) -> None:
        self.stdout.write(json.dumps({"did": step}))
        self.stdout.flush()


def become_the_application() -> None:
    """Leave the owner's connection and go on as the role that may only work on rows."""
    environment, _ = from_process(settings.BASE_DIR)
    connections.close_all()
    where = environment.postgres("DATABASE_URL")
    connections.settings["default"].update(USER=where["USER"], PASSWORD=where["PASSWORD"])
    settings.PLACET_PROCESS = "command"
