"""``manage.py watchers create | list | revoke``: the secrets by which programs read a workspace's figures."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from approvals import rows, watchers
from approvals.ledger.printing import PlainCommand
from approvals.management import who
from approvals.people import Workspace
from approvals.watchers import Watcher


class Command(PlainCommand):
    help = "Give a program a secret for /metrics, list those of a workspace, or end one."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="make one and print its secret, once")
        create.add_argument("--label", default="", help="what it is for, in a few words")
        listing = verbs.add_parser("list", help="all of them, without their secrets")
        revoke = verbs.add_parser("revoke", help="end one at once")
        revoke.add_argument("watcher", help="its id, wat_…")
        who.add_workspace(create, listing, revoke, required=True)

    def handle(self, *_: Any, **options: Any) -> None:
        workspace = who.workspace(options["workspace"])
        with rows.reading(workspace):
            getattr(self, f"_{options['verb']}")(workspace, options)

    def _create(self, workspace: Workspace, options: dict[str, Any]) -> None:
        made, secret = watchers.create(workspace, label=options["label"][:80], by="system")
        self.stdout.write(secret)
        self.stderr.write(f"{made.public_id}. The secret above is shown this once and kept nowhere.")

    def _list(self, workspace: Workspace, options: dict[str, Any]) -> None:
        for one in watchers.of(workspace):
            state = "revoked" if one.revoked_at else "in use" if one.holds() else "forged"
            self.stdout.write(f"{one.public_id}  {one}  {state}  {one.label}".rstrip())

    def _revoke(self, workspace: Workspace, options: dict[str, Any]) -> None:
        key = rows.parse_id(Watcher.PREFIX, options["watcher"])
        found = Watcher.objects.filter(workspace=workspace, pk=key).first() if key else None
        if found is None:
            raise CommandError("There is no such watcher here.")
        self.stdout.write("Revoked." if watchers.revoke(found, by="system") else "It was revoked before.")
