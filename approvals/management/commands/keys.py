"""`manage.py keys`: which keys there are, what depends on them, and the change to a new one."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from approvals.ledger import anchors, keys, rotation, sealing
from approvals.ledger.printing import PlainCommand
from approvals.management import who


class Command(PlainCommand):
    help = "Show the keys and what depends on them, or bring everything under the root key in use."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        verbs.add_parser("show", help="root keys, data keys, and which root key may leave PLACET_KEYS")
        rotate = verbs.add_parser("rotate", help="a new data key for each workspace, the old ones wrapped anew")
        rotate.add_argument("--by", metavar="EMAIL", help="who does it, for the ledger")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            keys.check_fits()
            if options["verb"] == "rotate":
                self._rotate(options["by"])
            self._show()
        except (keys.KeysDoNotFit, keys.UnknownKey, sealing.Tampered) as fault:
            raise CommandError(str(fault)) from fault

    def _rotate(self, email: str | None) -> None:
        done = rotation.rotate(by=_public_id(email), told=self.stderr.write)
        self.stdout.write(
            f"{done.made} data keys made, {done.rewrapped} wrapped anew, {done.retired} root keys retired."
        )

    def _show(self) -> None:
        for root in rotation.root_keys():
            self.stdout.write(f"root key {root.number}: {_standing(root)}")
        for key in rotation.data_keys():
            self.stdout.write(f"data key {key.workspace.slug}/{key.number}: wrapped by root key {key.root_number}")
        self.stdout.write(f"anchors are signed for {anchors.public_key(keys.current()).hex()} (Ed25519)")


def _standing(root: rotation.RootKey) -> str:
    parts = [f"wraps {root.data_keys} data keys", f"keeps {root.keeps} older root keys"]
    parts.insert(0, "in use" if root.in_use else "in PLACET_KEYS" if root.here else "not in PLACET_KEYS")
    if root.kept_by is not None:
        parts.append(f"kept by root key {root.kept_by}")
    if root.here and not root.in_use:
        parts.append("may leave PLACET_KEYS" if root.removable else "still needed in PLACET_KEYS")
    return ", ".join(parts)


def _public_id(email: str | None) -> str:
    person = who.person(email)
    return person.public_id if person else "system"
