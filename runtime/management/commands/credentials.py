"""`manage.py credentials create | rotate | list | revoke`: the secrets by which programs speak for an agent."""

from __future__ import annotations

from typing import Any, Final

from django.core.management.base import CommandError, CommandParser

from approvals import gate, rows
from approvals.ledger.printing import PlainCommand
from runtime import credentials, definitions, issuing
from runtime.credentials import AgentCredential


class Command(PlainCommand):
    help = "Give an agent a credential for the API, exchange it, list the credentials of a workspace, or end one."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="make one and print its secret, once")
        create.add_argument("agent", help="the agent's name")
        create.add_argument("--for", dest="email", metavar="EMAIL", help="the person on whose behalf its runs ask")
        create.add_argument("--label", default="", help="what it is for, in a few words")
        create.add_argument("--days", type=int, default=issuing.YEAR, help="it ends by itself after so many days (365)")
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
            getattr(self, f"_{options['verb']}")(workspace, options)

    def _create(self, workspace: Any, options: dict[str, Any]) -> None:
        agent = definitions.agent_named(workspace.pk, options["agent"])
        if agent is None:
            raise CommandError(f"There is no agent {options['agent']} here.")
        wish = issuing.Wish(options["label"], options["email"] or "", options["days"], options["per_minute"])
        self._show(*_taken(issuing.issue(workspace, agent, wish, by=None)))

    def _rotate(self, workspace: Any, options: dict[str, Any]) -> None:
        old = _found(workspace, options["credential"])
        hours = options["overlap"]
        self._show(*_taken(issuing.exchange(workspace, old, hours=hours, days=options["days"], by=None)))
        self.stderr.write(f"{old.public_id} is good for {hours} hours more at most.")

    def _show(self, made: AgentCredential, secret: str) -> None:
        self.stdout.write(secret)
        until = f" It ends on {made.expires_at:%Y-%m-%d}." if made.expires_at else ""
        told = f"{made.public_id} of {made.agent.name}. The secret above is shown this once and kept nowhere."
        self.stderr.write(told + until)

    def _list(self, workspace: Any, options: dict[str, Any]) -> None:
        known = AgentCredential.objects.filter(workspace=workspace).select_related("agent", "requester")
        for one in known.order_by("created_at"):
            state = credentials.state_of(one)
            until = f"until {one.expires_at:%Y-%m-%d %H:%M}" if one.expires_at else "no end"
            until += f", {one.runs_per_minute} a minute" if one.runs_per_minute else ""
            whose = one.requester.email if one.requester else "nobody"
            self.stdout.write(
                f"{one.public_id}  {one}  {one.agent.name}  for {whose}  {state}, {until}  {one.label}".rstrip()
            )

    def _revoke(self, workspace: Any, options: dict[str, Any]) -> None:
        refused = issuing.end(workspace, _found(workspace, options["credential"]), by=None)
        self.stdout.write(refused.message if refused else "Revoked.")


def _found(workspace: Any, given: str) -> AgentCredential:
    key = rows.parse_id(AgentCredential.PREFIX, given)
    found = AgentCredential.objects.filter(workspace=workspace, pk=key).first() if key else None
    if found is None:
        raise CommandError(f"There is no credential {given} here.")
    return found


OPTIONS: Final = {"/days": "--days", "/per_minute": "--per-minute", "/overlap": "--overlap"}


def _taken(answer: issuing.Made | gate.Refused) -> issuing.Made:
    if isinstance(answer, gate.Refused):
        option = OPTIONS.get(answer.pointer or "")
        raise CommandError(f"{option}: {answer.message}" if option else answer.message)
    return answer
