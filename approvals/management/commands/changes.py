"""``manage.py changes list | withdraw``: the changes of policy, team or tool that wait for people."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from approvals import changes, rows
from approvals.approvals import Approval
from approvals.edits import marks
from approvals.ledger.printing import PlainCommand
from approvals.management import who
from approvals.votes import Refused


class Command(PlainCommand):
    help = "List the changes that people are asked to approve, or take one back."

    def add_arguments(self, parser: CommandParser) -> None:
        words = parser.add_subparsers(dest="word", required=True)
        listed = words.add_parser("list", help="the changes that wait: since when, until when, and who wants them")
        back = words.add_parser("withdraw", help="take one back")
        back.add_argument("approval", help="its id")
        back.add_argument("--as", dest="person", metavar="EMAIL", help="who says so; nobody, for an operator")
        who.add_workspace(listed, back, required=True)

    def handle(self, *_: Any, **options: Any) -> None:
        workspace = who.workspace(options["workspace"])
        with rows.reading(workspace):
            found = changes.waiting(workspace.pk)
            if options["word"] == "list":
                for each in found:
                    self.stdout.write(_line(each))
                return
            wanted = next((each for each in found if each.public_id == options["approval"]), None)
            if wanted is None:
                raise CommandError(f"{workspace.name} has no such change that waits.")
            refused = changes.withdraw(workspace, wanted, by=who.person(options["person"]))
            if isinstance(refused, Refused):
                raise CommandError(refused.message)


def _line(approval: Approval) -> str:
    who = approval.requester.name if approval.requester else "nobody"
    since, until = (f"{at:%Y-%m-%d %H:%M}" for at in (approval.created_at, approval.expires_at))
    return f"{approval.public_id}  {since}  until {until}  {who}  {marks.escaped(approval.tool_title)}"
