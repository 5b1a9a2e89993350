"""`manage.py people load FILE | grant | revoke | list | invite | withdraw | leave | erase | deactivate | reactivate |
sign-out | drop-factors | hours`: workspaces, teams, people, their rights, how they come and go, and when they work."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.base import CommandError
from django.db.models import Model

from approvals import cast, forgetting, hours, invitations, leaving, letters, people, rights, rows, vouched, weeks
from approvals.approvals import Approval
from approvals.ledger import canonical
from approvals.ledger.printing import PlainCommand
from approvals.management import proposing, who
from approvals.people import Person, Workspace
from approvals.votes import Refused

SYSTEM = "system"
PASSWORDS = {
    "type": "object",
    "required": ["people"],
    "properties": {"people": {"type": "object", "additionalProperties": {"type": "string", "minLength": 12}}},
}


class Command(PlainCommand):
    help = "Load workspaces, teams and people from a file; invite, let go; grant and take away rights; list them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        load = verbs.add_parser("load", help="make what a YAML file names; what is there already stays as it is")
        load.add_argument("file", type=Path)
        load.add_argument("--passwords", type=Path, help="a JSON file: {people: {e-mail: password}}, for new people")
        load.add_argument("--set-passwords", action="store_true", help="give these passwords to known people as well")
        for verb in ("grant", "revoke"):
            right = verbs.add_parser(
                verb, help=f"{verb} a right, for example: {verb} dana@example.com decide team:finance"
            )
            right.add_argument("email")
            right.add_argument("right", choices=["decide", "operate", "audit", "administer"])
            right.add_argument(
                "thing", help="workspace, team:SLUG, or app.model:NAME such as runtime.agent:refund-desk"
            )
            right.add_argument("--workspace", required=True, metavar="SLUG")
            right.add_argument("--as", dest="person", metavar="EMAIL", help="who says so; nobody, for an operator")
        listing = verbs.add_parser("list", help="the members of a workspace and what they may do")
        listing.add_argument("--workspace", required=True, metavar="SLUG")
        self._coming_and_going(verbs)

    def _coming_and_going(self, verbs: Any) -> None:
        invite = verbs.add_parser("invite", help="send a link by which somebody comes into a workspace, once")
        invite.add_argument("--team", action="append", default=[], metavar="SLUG", help="they decide for; repeatable")
        everywhere = {
            "deactivate": "switch somebody off: sessions, links and votes end at once, in every workspace",
            "reactivate": "let somebody in again who was switched off",
            "sign-out": "end every session of somebody",
            "drop-factors": "take the second factors of somebody away who lost them; be sure that it is them",
        }
        withdraw = verbs.add_parser("withdraw", help="end the open invitations of an address")
        leave = verbs.add_parser("leave", help="end somebody's membership, and every right with it")
        works = verbs.add_parser(
            "hours", help="when somebody works, for reminders to wait for; shows it, if nothing is said"
        )
        works.add_argument("--zone", default="", help="of the IANA database, such as Europe/Berlin")
        works.add_argument("--day", action="append", default=[], metavar="DAYS", help="mon-fri 09:00-17:30; repeatable")
        works.add_argument("--clear", action="store_true", help="reminders come at any time again")
        erase = verbs.add_parser(
            "erase", help="erase what somebody wrote, and who they were if they belong nowhere else"
        )
        for one in (
            works,
            invite,
            withdraw,
            leave,
            erase,
            *(verbs.add_parser(verb, help=told) for verb, told in everywhere.items()),
        ):
            one.add_argument("email")
            one.add_argument("--as", dest="person", metavar="EMAIL", help="who says so; nobody, for an operator")
        for one in (invite, withdraw, leave, erase):
            one.add_argument("--workspace", required=True, metavar="SLUG")

    def handle(self, *args: Any, **options: Any) -> None:
        getattr(self, f"_{options['verb'].replace('-', '_')}")(**options)

    def _load(self, *, file: Path, passwords: Path | None, set_passwords: bool, **_: Any) -> None:
        try:
            wanted = cast.read(Path(file).read_bytes())
            given = (
                cast.held_to(PASSWORDS, canonical.parse(Path(passwords).read_bytes()))["people"] if passwords else {}
            )
            cast.load(wanted, passwords=given, set_passwords=set_passwords, by=SYSTEM)
        except (OSError, canonical.Unrepresentable, cast.CastFault) as fault:
            raise CommandError(str(fault)) from fault
        self.stdout.write(f"{len(wanted['people'])} people, {len(wanted['workspaces'])} workspaces.")

    def _grant(self, *, email: str, right: str, thing: str, workspace: str, person: str | None, **_: Any) -> None:
        home, by = who.workspace(workspace), who.person(person)
        with rows.reading(home):
            answer = rights.give(who.anybody(email), right, _thing(home, thing), by=by)
        if isinstance(answer, Approval):
            self.stdout.write(proposing.told(answer))
        _done(answer)

    def _revoke(self, *, email: str, right: str, thing: str, workspace: str, person: str | None, **_: Any) -> None:
        home, by = who.workspace(workspace), who.person(person)
        with rows.reading(home):
            _done(rights.take(who.anybody(email), right, _thing(home, thing), by=by))

    def _list(self, *, workspace: str, **_: Any) -> None:
        home = who.workspace(workspace)
        with rows.within(home):
            for person in Person.objects.filter(memberships__workspace=home).order_by("name"):
                rights = [f"decide team:{slug}" for slug in sorted(people.teams_decided_by(person, home.pk))]
                rights += [right for right in ("administer", "audit") if people.may(person, right, home)]
                self.stdout.write(f"{person.name} <{person.email}>  {', '.join(rights) or 'no right'}")

    def _invite(self, *, email: str, team: list[str], workspace: str, person: str | None, **_: Any) -> None:
        home, by = who.workspace(workspace), who.anybody(person) if person else None
        answer = invitations.invite(home, email, teams=team, by=by)
        if isinstance(answer, Refused):
            raise CommandError(answer.message)
        invitation, token = answer
        if invitations.write_to(invitation, home, token):
            self.stdout.write(f"{invitation.email} was written to.")
        else:
            self.stdout.write("No letter could be sent. Hand over this link yourself; it is shown once:")
            self.stdout.write(letters.link("join", token))

    def _withdraw(self, *, email: str, workspace: str, person: str | None, **_: Any) -> None:
        home = who.workspace(workspace)
        by = _administrator(person, home)
        with rows.within(home):
            invitations.withdraw_all(email.strip().lower(), home, by)

    def _leave(self, *, email: str, workspace: str, person: str | None, **_: Any) -> None:
        home, by = who.workspace(workspace), who.person(person)
        with rows.reading(home):
            _done(leaving.leave(who.anybody(email), home, by=by))

    def _erase(self, *, email: str, workspace: str, person: str | None, **_: Any) -> None:
        home = who.workspace(workspace)
        answer = forgetting.forget(home, who.anybody(email), by=who.person(person))
        if isinstance(answer, Refused):
            raise CommandError(answer.message)
        gone = "the account with it" if answer.account else "the account stays, for other workspaces"
        self.stdout.write(f"{answer.words} texts are erased, {gone}. {answer.decisions} decisions stay.")

    def _deactivate(self, *, email: str, person: str | None, **_: Any) -> None:
        _done(leaving.switch_off(who.anybody(email), by=who.person(person)))

    def _reactivate(self, *, email: str, person: str | None, **_: Any) -> None:
        _done(leaving.switch_on(who.anybody(email), by=who.person(person)))

    def _sign_out(self, *, email: str, person: str | None, **_: Any) -> None:
        _done(leaving.sign_out(who.anybody(email), by=who.person(person)))

    def _drop_factors(self, *, email: str, person: str | None, **_: Any) -> None:
        dropped = leaving.drop_factors(who.anybody(email), by=who.person(person))
        _done(dropped)
        self.stdout.write(f"{dropped} taken away.")

    def _hours(self, *, email: str, zone: str, day: list[str], clear: bool, person: str | None, **_: Any) -> None:
        found, by = who.anybody(email), who.anybody(person) if person else None
        if clear and (zone or day):
            raise CommandError("--clear goes alone: it takes away what was said.")
        answer = hours.clear(found, by=by) if clear else _set_hours(found, zone, day, by) if zone or day else None
        if isinstance(answer, Refused):
            raise CommandError(" ".join(map(_fault, answer.faults)) or answer.message)
        week = hours.of(found)
        if week is None:
            self.stdout.write(f"{found.name} has no working hours: reminders come at any time.")
            return
        for line in [week.zone, *(f"{name}  {begins}-{ends}" for name, begins, ends in week.told())]:
            self.stdout.write(line)


def _set_hours(found: Person, zone: str, day: list[str], by: Person | None) -> weeks.Week | Refused:
    days = weeks.spelled(day)
    if not isinstance(days, dict):
        return Refused("invalid_hours", "These are no working hours.", faults=days)
    return hours.set_to(found, zone, days, by=by)


def _fault(fault: weeks.Fault) -> str:
    return f"{fault.pointer} {fault.rule}: {fault.message}"


def _done(answer: Any) -> None:
    """Raises CommandError for what was refused."""
    if isinstance(answer, Refused):
        more = " Say who wants it: --as EMAIL." if answer.code == "needs_approval" else ""
        raise CommandError(answer.message + more)


def _administrator(email: str | None, home: Workspace) -> str:
    """How the ledger names who says so, who has to administer the workspace. Raises CommandError for another."""
    if email:
        with rows.within(home):
            if not people.may(who.anybody(email), "administer", home):
                raise CommandError(f"{email} may not administer {home.slug}.")
    return who.anybody(email).public_id if email else SYSTEM


def _thing(workspace: Workspace, text: str) -> Model:
    """The thing behind `workspace`, `team:finance` or `app.model:name`; other apps' models are found by their label
    alone."""
    kind, _, name = text.partition(":")
    if kind == "workspace":
        return workspace
    if kind == "team":
        thing: Model | None = vouched.team(workspace.pk, name)
    else:
        found = _model(kind)._default_manager.filter(workspace_id=workspace.pk, name=name)
        thing = found.order_by("created_at").last()
    if thing is None:
        raise CommandError(f"The workspace {workspace.slug} has no {text}.")
    return thing


def _model(label: str) -> type[Model]:
    try:
        return apps.get_model(label)
    except (LookupError, ValueError) as fault:
        raise CommandError(f"There is no kind of thing called {label}.") from fault
