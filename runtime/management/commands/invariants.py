"""``manage.py invariants``: whether what must be true of every run, call and approval is, and what offends."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from approvals.ledger.printing import PlainCommand
from runtime import invariants


class Command(PlainCommand):
    help = "Ask every invariant of one moment of the database; exit status 1, with the offenders, if one is not true."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--state", action="store_true", help="also verify and fold every run's history: slow")

    def handle(self, *_: Any, **options: Any) -> None:
        found = invariants.offenders()
        if options["state"]:
            found += invariants.unreadable()
        for each in found:
            self.stdout.write(str(each))
        if found:
            raise CommandError(f"{len(found)} offend against {len({each.invariant for each in found})} invariants.")
        self.stdout.write(f"{len(invariants.INVARIANTS)} invariants hold.")
