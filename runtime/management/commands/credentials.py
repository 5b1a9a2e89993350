"""`manage.py credentials create | rotate | list | revoke`: the secrets by which programs speak for an agent."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser

from approvals import gate, rows
from approvals.ledger.printing import PlainCommand
from runtime import credentials, definitions
from runtime.credentials import AgentCredential

YEAR: Final = 365


class Command(PlainCommand):
    help = "Give an agent a credential for the API, exchange it, list the credentials of a workspace, or end one."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="make one and print its secret, once")
        create.add_argument("agent", help="the agent's name")
        create.add_argument("--for", dest="email", metavar="EMAIL", help="the person on whose behalf its runs ask")
        create.add_argument("--label", default="", help="what it is for, in a few words")
        create.add_argument("--days", type=int, default=YEAR, help="it ends by itself after so many days (365)")
        create.add_argument("--per-minute", type=int, metavar="N", help="it starts at most N runs a minute")
        rotate = verbs.add_parser("rotate", help="make its successor and print that secret, once")
        rotate.add_argument("credential", help="its id, crd_…")
        rotate.add_argument(
            "--overlap", type=int, default=24, metavar="HOURS", help="so long the old secret is good too (24)"
        )
        rotate.add_argument("--days", type=int, help="the new one ends after so many days; as many as the old, without")
        listing = verbs.add_parser("list", help="all of them, without their secrets")
        revoke = verbs.add_parser("revoke", help="end one at once")
        revoke.add_argument("credential", help="its id, crd_…")
        for verb in (create, rotate, listing, revoke):
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
        _check("--days", options["days"], 1, 3650)
        _check("--per-minute", options["per_minute"], 1, 1_000_000)
        made, secret = credentials.create(
            agent,
            label=options["label"][:80],
            requester_id=requester.pk if requester else None,
            days=options["days"],
            runs_per_minute=options["per_minute"],
            by="system",
        )
        self._show(made, secret)

    def _rotate(self, workspace_id: Any, options: dict[str, Any]) -> None:
        _check("--days", options["days"], 1, 3650)
        _check("--overlap", options["overlap"], 0, 30 * 24)
        old = _found(workspace_id, options["credential"])
        try:
            overlap = timedelta(hours=options["overlap"])
            made, secret = credentials.rotate(old, overlap=overlap, days=options["days"], by="system")
        except credentials.CannotRotate as fault:
            raise CommandError(str(fault)) from fault
        self._show(made, secret)
        self.stderr.write(f"{old.public_id} is good for {options['overlap']} hours more at most.")

    def _show(self, made: AgentCredential, secret: str) -> None:
        self.stdout.write(secret)
        until = f" It ends on {made.expires_at:%Y-%m-%d}." if made.expires_at else ""
        told = f"{made.public_id} of {made.agent.name}. The secret above is shown this once and kept nowhere."
        self.stderr.write(told + until)

    def _list(self, workspace_id: Any, options: dict[str, Any]) -> None:
        known = AgentCredential.objects.filter(workspace_id=workspace_id).select_related("agent", "requester")
        for one in known.order_by("created_at"):
            state = credentials.state_of(one)
            until = f"until {one.expires_at:%Y-%m-%d %H:%M}" if one.expires_at else "no end"
            until += f", {one.runs_per_minute} a minute" if one.runs_per_minute else ""
            whose = one.requester.email if one.requester else "nobody"
            self.stdout.write(
                f"{one.public_id}  {one}  {one.agent.name}  for {whose}  {state}, {until}  {one.label}".rstrip()
            )

    def _revoke(self, workspace_id: Any, options: dict[str, Any]) -> None:
        ended = credentials.revoke(_found(workspace_id, options["credential"]), by="system")
        self.stdout.write("Revoked." if ended else "It was revoked before.")


def _found(workspace_id: Any, given: str) -> AgentCredential:
    key = rows.parse_id(AgentCredential.PREFIX, given)
    found = AgentCredential.objects.filter(workspace_id=workspace_id, pk=key).first() if key else None
    if found is None:
        raise CommandError(f"There is no credential {given} here.")
    return found


def _check(option: str, given: int | None, low: int, high: int) -> None:
    if given is not None and not low <= given <= high:
        raise CommandError(f"{option} is a whole number from {low} to {high}.")
