"""`manage.py people load FILE | grant | revoke | list`: workspaces, teams, people and their rights from the command
line."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Model

from approvals import cast, people, rows, workspaces
from approvals.ledger import canonical
from approvals.people import Person, Team, Workspace

SYSTEM = "system"
PASSWORDS = {
    "type": "object",
    "required": ["people"],
    "properties": {"people": {"type": "object", "additionalProperties": {"type": "string", "minLength": 12}}},
}


class Command(BaseCommand):
    help = "Load workspaces, teams and people from a file; grant and take away rights; list who may do what."

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
        listing = verbs.add_parser("list", help="the members of a workspace and what they may do")
        listing.add_argument("--workspace", required=True, metavar="SLUG")

    def handle(self, *args: Any, **options: Any) -> None:
        getattr(self, f"_{options['verb']}")(**options)

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

    def _grant(self, *, email: str, right: str, thing: str, workspace: str, **_: Any) -> None:
        home = _workspace(workspace)
        try:
            with rows.within(home):
                people.grant(_person(email), right, _thing(home, thing), by=SYSTEM)
        except ValueError as fault:
            raise CommandError(str(fault)) from fault

    def _revoke(self, *, email: str, right: str, thing: str, workspace: str, **_: Any) -> None:
        home = _workspace(workspace)
        with rows.within(home):
            people.revoke(_person(email), right, _thing(home, thing), by=SYSTEM)

    def _list(self, *, workspace: str, **_: Any) -> None:
        home = _workspace(workspace)
        with rows.within(home):
            for person in Person.objects.filter(memberships__workspace=home).order_by("name"):
                rights = [f"decide team:{slug}" for slug in sorted(people.teams_decided_by(person, home.pk))]
                rights += [right for right in ("administer", "audit") if people.may(person, right, home)]
                self.stdout.write(f"{person.name} <{person.email}>  {', '.join(rights) or 'no right'}")


def _workspace(slug: str) -> Workspace:
    workspace = workspaces.named(slug)
    if workspace is None:
        raise CommandError(f"There is no workspace {slug}.")
    return workspace


def _person(email: str) -> Person:
    person = Person.objects.filter(email=email.lower()).first()
    if person is None:
        raise CommandError(f"There is nobody with the address {email}.")
    return person


def _thing(workspace: Workspace, text: str) -> Model:
    """The thing behind `workspace`, `team:finance` or `app.model:name`; other apps' models are found by their label
    alone."""
    kind, _, name = text.partition(":")
    if kind == "workspace":
        return workspace
    field, model = ("slug", Team) if kind == "team" else ("name", _model(kind))
    thing = model._default_manager.filter(workspace_id=workspace.pk, **{field: name}).order_by("created_at").last()
    if thing is None:
        raise CommandError(f"The workspace {workspace.slug} has no {text}.")
    return thing


def _model(label: str) -> type[Model]:
    try:
        return apps.get_model(label)
    except (LookupError, ValueError) as fault:
        raise CommandError(f"There is no kind of thing called {label}.") from fault
