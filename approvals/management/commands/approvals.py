"""`manage.py approvals nudge`: what an operator does about an approval that waits, from the command line."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from approvals import nudges, rows
from approvals.approvals import Approval
from approvals.ledger.printing import PlainCommand
from approvals.management import who
from approvals.votes import Refused


class Command(PlainCommand):
    help = "Tell those who can still decide an open approval that it waits for them. It decides nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        nudge = verbs.add_parser("nudge", help="within their working hours, and at most once in a quarter of an hour")
        nudge.add_argument("approval", metavar="apr_…")
        nudge.add_argument("--as", dest="person", metavar="EMAIL", help="who presses; nobody, for an operator")
        who.add_workspace(nudge, required=True)

    def handle(self, *, approval: str, person: str | None, workspace: str, **_: Any) -> None:
        home, key = who.workspace(workspace), rows.parse_id(Approval.PREFIX, approval)
        by = who.anybody(person) if person else None
        answer = nudges.nudge(home.pk, key, by=by) if key else nudges.NOWHERE
        if isinstance(answer, Refused):
            raise CommandError(answer.message)
        self.stdout.write(str(answer))
