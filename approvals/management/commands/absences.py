"""`manage.py absences add | list | end`: who is away or lends their seats, from the command line."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import CommandError

from approvals import absences, policy_freezes, rows
from approvals.deputies import Absence
from approvals.ledger.printing import PlainCommand
from approvals.management import who
from approvals.people import Workspace
from approvals.votes import Refused


class Command(PlainCommand):
    help = "Say that somebody is away or lends their seats to a deputy, list who is, and end it early."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        add = verbs.add_parser("add", help="somebody is away, or lends their seats, until then")
        add.add_argument("email")
        add.add_argument("--until", required=True, metavar="WHEN", help="such as 2026-12-20T18:00:00+01:00")
        add.add_argument("--from", dest="start", metavar="WHEN", help="from now on, if not said")
        add.add_argument("--deputy", metavar="EMAIL", help="who takes their seats meanwhile")
        add.add_argument("--team", action="append", default=[], metavar="SLUG", help="only its seats; repeatable")
        add.add_argument("--here", action="store_true", help="they are not away, and only lend their seats")
        listing = verbs.add_parser("list", help="what is in force or ahead")
        end = verbs.add_parser("end", help="end an absence before its time")
        end.add_argument("absence", metavar="abs_…")
        for one in (add, end):
            one.add_argument("--as", dest="person", metavar="EMAIL", help="who says so; nobody, for an operator")
        who.add_workspace(add, listing, end, required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        home = who.workspace(options["workspace"])
        with rows.within(home):
            getattr(self, f"_{options['verb']}")(home, **options)

    def _add(
        self,
        home: Workspace,
        *,
        email: str,
        until: str,
        start: str | None,
        deputy: str | None,
        team: list[str],
        here: bool,
        person: str | None,
        **_: Any,
    ) -> None:
        made = absences.announce(
            home,
            who.anybody(email),
            kind=Absence.Kind.DELEGATION if here else Absence.Kind.OUT_OF_OFFICE,
            starts_at=_moment(start) if start else None,
            ends_at=_moment(until),
            deputy=who.anybody(deputy) if deputy else None,
            teams=team,
            by=who.anybody(person) if person else None,
        )
        if isinstance(made, Refused):
            raise CommandError(made.message)
        self.stdout.write(made.public_id)

    def _list(self, home: Workspace, **_: Any) -> None:
        for one in absences.standing(home):
            does = "is away" if one.kind == Absence.Kind.OUT_OF_OFFICE else "lends"
            what = f" {', '.join(one.teams) or 'every seat'} to {one.deputy.email}" if one.deputy else ""
            times = f"{one.starts_at:%Y-%m-%d %H:%M} to {one.ends_at:%Y-%m-%d %H:%M} UTC"
            self.stdout.write(f"{one.public_id}  {times}  {one.person.email} {does}{what}")

    def _end(self, home: Workspace, *, absence: str, person: str | None, **_: Any) -> None:
        key = rows.parse_id(Absence.PREFIX, absence)
        found = Absence.objects.filter(workspace=home, pk=key).select_related("person").first() if key else None
        if found is None:
            raise CommandError(f"The workspace {home.slug} has no absence {absence}.")
        if refused := absences.end(found, home, by=who.anybody(person) if person else None):
            raise CommandError(refused.message)


def _moment(text: str) -> datetime:
    try:
        return policy_freezes.instant(text)
    except ValueError as fault:
        raise CommandError("Give a moment with its offset, such as 2026-12-20T18:00:00+01:00.") from fault
