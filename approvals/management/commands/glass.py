"""``manage.py glass list | review``: what let go in an emergency nobody has looked at yet, and saying how it was."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from approvals import glass, rows
from approvals.approvals import Approval
from approvals.ledger.printing import PlainCommand
from approvals.management import who
from approvals.people import Workspace


class Command(PlainCommand):
    help = "List where somebody broke the glass and nobody has looked at it, or say whether it was right."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        listing = verbs.add_parser("list", help="what is to be reviewed, the first deadline first")
        review = verbs.add_parser("review", help="say whether it was right, for somebody of the reviewing team")
        review.add_argument("approval", help="its id, apr_…")
        review.add_argument("finding", choices=["right", "wrong"])
        review.add_argument("--note", default="", metavar="TEXT", help="what was found; needed")
        review.add_argument("--as", dest="person", metavar="EMAIL", help="who found it; needed")
        who.add_workspace(listing, review)

    def handle(self, *_: Any, **options: Any) -> None:
        workspace = who.workspace(options["workspace"])
        with rows.reading(workspace):
            getattr(self, f"_{options['verb']}")(workspace, options)

    def _list(self, workspace: Workspace, _: dict[str, Any]) -> None:
        found, now = glass.unreviewed(workspace.pk), rows.now()
        for one in found:
            state = "overdue" if one.due_at <= now else "due"
            approval = one.approval
            told = f"{approval.public_id}  {state} {one.due_at:%Y-%m-%d %H:%M} UTC  by {one.team}"
            self.stdout.write(f"{told}  {one.broken_by.name}  {approval.tool} of {approval.agent}")
        if not found:
            self.stdout.write(f"Nothing is to be reviewed in {workspace.name}.")

    def _review(self, workspace: Workspace, options: dict[str, Any]) -> None:
        key = rows.parse_id(Approval.PREFIX, options["approval"])
        found = Approval.objects.filter(workspace=workspace, pk=key).first() if key else None
        if found is None:
            raise CommandError("There is no such approval here.")
        by = who.person(options["person"])
        if by is None:
            raise CommandError("Say who looked at it: --as EMAIL.")
        refused = glass.review(workspace, found, by=by, finding=options["finding"], note=options["note"])
        if refused is not None:
            raise CommandError(refused.message)
        self.stdout.write(f"Reviewed: it was {options['finding']}.")
