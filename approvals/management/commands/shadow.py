"""``manage.py shadow``: until when a workspace stands in shadow, and what would have been held."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError

from approvals import rows, shadows
from approvals.ledger.printing import PlainCommand
from approvals.management import who
from approvals.people import Workspace


class Command(PlainCommand):
    help = "Say until when the policy asks nobody, and what its rules would have asked people about."

    def add_arguments(self, parser: ArgumentParser) -> None:
        who.add_workspace(parser)
        parser.add_argument("--days", type=int, default=30, help="how far back, from 1 to 365")

    def handle(self, *_: Any, **options: Any) -> None:
        if not 1 <= options["days"] <= 365:
            raise CommandError("--days is a whole number from 1 to 365.")
        workspace = who.workspace(options["workspace"])
        with rows.reading(workspace):
            self._tell(workspace, options["days"])

    def _tell(self, workspace: Workspace, days: int) -> None:
        end = shadows.stands_until(workspace.pk)
        stands = (
            f"stands in shadow until {end:%Y-%m-%d %H:%M} UTC" if end else "asks people: it does not stand in shadow"
        )
        self.stdout.write(f"{workspace.name} {stands}.")
        found = shadows.would_have_held(workspace.pk, timedelta(days=days))
        for each in found:
            calls, agents = _counted(each.calls, "call"), _counted(each.agents, "agent")
            last = f"{each.last:%Y-%m-%d %H:%M}"
            self.stdout.write(f"{each.rule_id}  {each.tool}  {calls} of {agents}, the last at {last} UTC")
        total = sum(each.calls for each in found)
        least = "At least " if total == shadows.MOST else ""
        self.stdout.write(f"{least}{_counted(total, 'call')} would have been held in {_counted(days, 'day')}.")


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
