"""``manage.py rescue list | announce | withdraw | carry-out``: somebody is to decide for a team although nobody is left
who could approve that."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from approvals import rescues, rows, vouched
from approvals.edits import marks
from approvals.ledger import about
from approvals.ledger.printing import PlainCommand
from approvals.management import who
from approvals.people import Person, Team, Workspace
from approvals.policies import PolicyFault
from approvals.votes import Refused


class Command(PlainCommand):
    help = "Let somebody decide for a team where nobody is left who could approve it: announced, a day later done."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        listing = verbs.add_parser("list", help="what was announced and waits")
        announce = verbs.add_parser("announce", help="say so, and tell every member")
        announce.add_argument("--reason", required=True, metavar="TEXT", help="why; it stays in the ledger")
        withdraw = verbs.add_parser("withdraw", help="take one back, for each administrator")
        carry_out = verbs.add_parser("carry-out", help="give the right, once everybody had a day")
        for one in (announce, withdraw, carry_out):
            one.add_argument("team", help="its slug")
            one.add_argument("email", help="who is to decide for it")
            one.add_argument("--as", dest="person", required=True, metavar="EMAIL", help="who administers and says so")
        who.add_workspace(listing, announce, withdraw, carry_out, required=True)

    def handle(self, *_: Any, **options: Any) -> None:
        workspace = who.workspace(options["workspace"])
        try:
            with rows.reading(workspace):
                getattr(self, f"_{options['verb'].replace('-', '_')}")(workspace, options)
        except (about.Broken, PolicyFault) as fault:
            raise CommandError(str(fault)) from fault

    def _list(self, workspace: Workspace, _: dict[str, Any]) -> None:
        rescues.waiting(workspace.pk)  # which raises where the ledger proves nothing
        for one in rescues.told(workspace.pk):
            said = f"{one['person']} for {one['team']}, says {one['who']}: {one['reason']}"
            self.stdout.write(f"from {one['due']:%Y-%m-%d %H:%M} UTC  {marks.escaped(said)}")

    def _announce(self, workspace: Workspace, options: dict[str, Any]) -> None:
        team, person, by = _named(workspace, options)
        one = rescues.announce(workspace, team, person, by=by, reason=options["reason"])
        if isinstance(one, Refused):
            raise CommandError(one.message)
        self.stdout.write(f"Announced, and every member told. Carry it out from {one.due:%Y-%m-%d %H:%M} UTC on.")

    def _withdraw(self, workspace: Workspace, options: dict[str, Any]) -> None:
        self._done("Withdrawn.", rescues.withdraw, workspace, options)

    def _carry_out(self, workspace: Workspace, options: dict[str, Any]) -> None:
        self._done("Done: they decide for the team.", rescues.carry_out, workspace, options)

    def _done(self, told: str, does: Any, workspace: Workspace, options: dict[str, Any]) -> None:
        team, person, by = _named(workspace, options)
        if refused := does(workspace, team, person, by=by):
            raise CommandError(refused.message)
        self.stdout.write(told)


def _named(workspace: Workspace, options: dict[str, Any]) -> tuple[Team, Person, Person]:
    team = vouched.team(workspace.pk, options["team"])
    person, by = who.member(options["email"], workspace), who.member(options["person"], workspace)
    if team is None:
        raise CommandError(f"{workspace.name} has no team {options['team']}.")
    assert person and by, "both are named"
    return team, person, by
