"""`manage.py ledger`: is every chain as it was written, and as it was anchored? And an anchor by hand."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from approvals import rows, workspaces
from approvals.ledger import anchors, canonical, keys
from approvals.ledger.printing import PlainCommand
from approvals.ledger.verify import Verdict, verify_workspace
from approvals.people import Workspace

_PROGRESS = 1_000


class Command(PlainCommand):
    help = "Verify the chains and the rows that they explain: one line for every fault, then a total; or anchor them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        verify = verbs.add_parser("verify", help="one line for every fault, then a total; exit status 1 if any")
        verify.add_argument("--workspace", metavar="SLUG", help="only this workspace")
        verify.add_argument("--chain", metavar="NAME", help='only this chain: a run\'s id, or "workspace"')

        verbs.add_parser("anchor", help="sign all heads now and add them to the file that PLACET_ANCHORS names")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["verb"] == "anchor":
            self._anchor()
        else:
            self._verify(options)

    def _anchor(self) -> None:
        try:
            number = anchors.anchor()
        except OSError as error:
            raise CommandError(f"The anchors cannot be written: {error}") from error
        known = anchors.book()
        made = f"Anchor {number} is written" if number else f"No head has moved since anchor {known.number}"
        self.stdout.write(f"{made}: {known.path}")
        self.stdout.write(f"It is signed for {anchors.public_key(keys.current()).hex()} (Ed25519).")

    def _verify(self, options: dict[str, Any]) -> None:
        named = workspaces.named(options["workspace"]) if options["workspace"] else None
        if options["workspace"] and named is None:
            raise CommandError("There is no such workspace.")
        wanted = [named] if named else filter(None, map(workspaces.keyed, rows.every_workspace()))
        totals = _Totals()
        anchors.book(anew=True)
        for workspace in wanted:
            for verdict in verify_workspace(workspace.pk, chain=options["chain"]):
                self._tell(workspace, verdict)
                totals.add(verdict)
                if totals.chains % _PROGRESS == 0:
                    self.stderr.write(f"{totals.chains} chains …")
        if options["chain"] and not totals.chains:
            raise CommandError("There is no such chain.")
        if not options["chain"]:
            self._tell_of_anchors(totals, whole=not options["workspace"])
        self.stdout.write(str(totals))
        if totals.faults:
            sys.exit(1)

    def _tell(self, workspace: Workspace, verdict: Verdict) -> None:
        for finding in verdict.findings:
            self.stdout.write(canonical.plain(f"{workspace.slug} {verdict.chain or '-'} {finding}"))

    def _tell_of_anchors(self, totals: _Totals, *, whole: bool) -> None:
        """What is wrong with the anchors themselves, and how many there are to compare with."""
        known = anchors.book()
        faults = anchors.doubts() if whole else list(known.faults)
        for fault in faults:
            self.stdout.write(canonical.plain(f"- - {fault}"))
        totals.faults += len(faults)
        if known.torn or known.unfinished:
            self.stdout.write(f"{known.torn + known.unfinished} lines of {known.path} were cut short by a crash.")
        last = f"the last of {known.at}" if known.number else f"{known.path} has none"
        self.stdout.write(f"Compared with {known.number} anchors, {last}.")


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
