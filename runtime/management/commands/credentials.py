"""`manage.py credentials create | list | revoke`: the secrets by which programs speak for an agent."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from approvals import gate, rows
from runtime import credentials, definitions
from runtime.credentials import AgentCredential


class Command(BaseCommand):
    help = "Give an agent a credential for the API, list the credentials of a workspace, or end one."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="make one and print its secret, once")
        create.add_argument("agent", help="the agent's name")
        create.add_argument("--for", dest="email", metavar="EMAIL", help="the person on whose behalf its runs ask")
        create.add_argument("--label", default="", help="what it is for, in a few words")
        create.add_argument("--days", type=int, help="it ends by itself after so many days")
        listing = verbs.add_parser("list", help="all of them, without their secrets")
        revoke = verbs.add_parser("revoke", help="end one at once")
        revoke.add_argument("credential", help="its id, crd_…")
        for verb in (create, listing, revoke):
            verb.add_argument("--workspace", required=True, metavar="SLUG")

    def handle(self, *_: Any, **options: Any) -> None:
        workspace = gate.workspace_named(options["workspace"])
        if workspace is None:
            raise CommandError(f"There is no workspace {options['workspace']}.")
        with rows.reading(workspace):
            getattr(self, f"_{options['verb']}")(workspace.pk, options)

    def _create(self, workspace_id: Any, options: dict[str, Any]) -> None:
        agent = definitions.agent_named(workspace_id, options["agent"])
        if agent is None:
            raise CommandError(f"There is no agent {options['agent']} here.")
        requester = gate.person_named(options["email"]) if options["email"] else None
        if options["email"] and requester is None:
            raise CommandError(f"There is nobody with the address {options['email']}.")
        if requester and gate.workspace_of(requester, options["workspace"]) is None:
            raise CommandError(f"{options['email']} is no member of {options['workspace']}: nobody else asks for it.")
        if options["days"] is not None and not 0 < options["days"] <= 3650:
            raise CommandError("--days is a whole number from 1 to 3650.")
        made, secret = credentials.create(
            agent,
            label=options["label"][:80],
            requester_id=requester.pk if requester else None,
            days=options["days"],
            by="system",
        )
        self.stdout.write(secret)
        self.stderr.write(f"{made.public_id} of {agent.name}. The secret above is shown this once and kept nowhere.")

    def _list(self, workspace_id: Any, options: dict[str, Any]) -> None:
        known = AgentCredential.objects.filter(workspace_id=workspace_id).select_related("agent", "requester")
        for one in known.order_by("created_at"):
            state = "revoked" if one.revoked_at else "forged" if not one.holds() else "in use"
            until = f"until {one.expires_at:%Y-%m-%d}" if one.expires_at else "no end"
            whose = one.requester.email if one.requester else "nobody"
            self.stdout.write(
                f"{one.public_id}  {one}  {one.agent.name}  for {whose}  {state}, {until}  {one.label}".rstrip()
            )

    def _revoke(self, workspace_id: Any, options: dict[str, Any]) -> None:
        key = rows.parse_id(AgentCredential.PREFIX, options["credential"])
        found = AgentCredential.objects.filter(workspace_id=workspace_id, pk=key).first() if key else None
        if found is None:
            raise CommandError(f"There is no credential {options['credential']} here.")
        ended = credentials.revoke(found, by="system")
        self.stdout.write("Revoked." if ended else "It was revoked before.")
