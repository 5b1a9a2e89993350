"""`manage.py ledger verify`: is every chain as it was written?"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from approvals.ledger import canonical
from approvals.ledger.verify import Verdict, verify_workspace
from approvals.people import Workspace

_PROGRESS = 1_000


class Command(BaseCommand):
    help = "Verify the ledger's chains: one line for every fault, then a total. Exit status 1 if there is a fault."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        verify = verbs.add_parser("verify", help=self.help)
        verify.add_argument("--workspace", metavar="SLUG", help="only this workspace")
        verify.add_argument("--chain", metavar="NAME", help='only this chain: a run\'s id, or "workspace"')

    def handle(self, *args: Any, **options: Any) -> None:
        workspaces = Workspace.objects.order_by("slug")
        if options["workspace"]:
            workspaces = workspaces.filter(slug=options["workspace"])
            if not workspaces:
                raise CommandError("There is no such workspace.")
        totals = _Totals()
        for workspace in workspaces:
            for verdict in verify_workspace(workspace.pk, chain=options["chain"]):
                self._tell(workspace, verdict)
                totals.add(verdict)
                if totals.chains % _PROGRESS == 0:
                    self.stderr.write(f"{totals.chains} chains …")
        if options["chain"] and not totals.chains:
            raise CommandError("There is no such chain.")
        self.stdout.write(str(totals))
        if totals.faults:
            sys.exit(1)

    def _tell(self, workspace: Workspace, verdict: Verdict) -> None:
        for finding in verdict.findings:
            self.stdout.write(canonical.plain(f"{workspace.slug} {verdict.chain or '-'} {finding}"))


class _Totals:
    def __init__(self) -> None:
        self.chains = self.entries = self.faults = self.faulty = 0

    def add(self, verdict: Verdict) -> None:
        self.chains += bool(verdict.chain)
        self.entries += verdict.entries
        self.faults += len(verdict.findings)
        self.faulty += bool(verdict.findings and verdict.chain)

    def __str__(self) -> str:
        if self.faults:
            return f"{self.faults} faults, {self.faulty} of {self.chains} chains are not as they were written."
        return f"{self.chains} chains with {self.entries} entries are as they were written."
