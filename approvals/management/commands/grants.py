"""`manage.py grants give | list | end`: a yes beforehand for calls like one that was seen, within limits."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from approvals import granting, grants, revisions, rows, standing
from approvals.approvals import Approval
from approvals.decisions import decide
from approvals.grants import Grant
from approvals.ledger import canonical
from approvals.ledger.printing import PlainCommand
from approvals.management import who
from approvals.people import Workspace
from approvals.votes import Refused


class Command(PlainCommand):
    help = "Allow calls like one that was seen, for a time; list the standing grants and how they are used; end one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        give = verbs.add_parser(
            "give", help="ask for a grant and say yes to it; the others that it needs do on its page"
        )
        give.add_argument("approval", help="of a call that was seen, apr_…")
        give.add_argument("--for", dest="lasts", metavar="TIME", help="so long, for example 30m; as the rule allows")
        give.add_argument("--uses", type=int, metavar="N", help="for so many calls; as the rule allows")
        give.add_argument("--sum", type=int, metavar="N", help="up to this sum of what the rule counts")
        give.add_argument("--pattern", type=Path, metavar="FILE", help="a JSON Schema for the arguments; exact without")
        give.add_argument("--reason", default="", help="why, as the comment of this yes")
        listing = verbs.add_parser("list", help="all of them, with what is left")
        end = verbs.add_parser("end", help="end one at once, also for what it let through and was not sent")
        end.add_argument("grant", help="its id, grt_…")
        for verb in (give, end):
            verb.add_argument("--as", dest="person", metavar="EMAIL", help="who says so")
        who.add_workspace(give, listing, end, required=True)

    def handle(self, *_: Any, **options: Any) -> None:
        workspace = who.workspace(options["workspace"])
        with rows.reading(workspace):
            getattr(self, f"_{options['verb']}")(workspace, options)

    def _give(self, workspace: Workspace, options: dict[str, Any]) -> None:
        key = rows.parse_id(Approval.PREFIX, options["approval"])
        seen = Approval.objects.filter(workspace=workspace, pk=key).first() if key else None
        if seen is None:
            raise CommandError("There is no such approval here.")
        by = who.person(options["person"])
        if by is None:
            raise CommandError("Say who gives it: --as EMAIL.")
        asked = _taken(granting.ask(workspace.pk, seen, _wish(options), by=by))
        first = revisions.current_revision(asked)
        said = decide(
            workspace.pk,
            asked.pk,
            by=by,
            verdict="approve",
            revision=first.number,
            digest=first.digest,
            via="command",
            message=options["reason"],
        )
        if isinstance(said, Refused):
            self.stdout.write(f"{asked.public_id} asks for it. Your yes is not given yet: {said.message}")
        elif said.status == Approval.Status.APPROVED:
            self.stdout.write(f"{asked.subject} is given.")
        else:
            self.stdout.write(f"{asked.public_id} asks for it: {said.votes} of {said.required} said yes.")

    def _list(self, workspace: Workspace, options: dict[str, Any]) -> None:
        told, now = grants.told(workspace.pk), grants.instant(rows.now())
        for grant in Grant.objects.filter(workspace=workspace).select_related("approval").order_by("created_at"):
            state = _state(standing.of(grant, told, now))
            self.stdout.write(f"{grant.public_id}  {grant.tool}  {grant.agent}  {state}")

    def _end(self, workspace: Workspace, options: dict[str, Any]) -> None:
        key = rows.parse_id(Grant.PREFIX, options["grant"])
        grant = Grant.objects.filter(workspace=workspace, pk=key).first() if key else None
        if grant is None:
            raise CommandError("There is no such grant here.")
        refused = standing.end(workspace, grant, by=who.person(options["person"]))
        if refused and refused.code != "no_longer":
            raise CommandError(refused.message)
        self.stdout.write(refused.message if refused else "Ended.")


def _wish(options: dict[str, Any]) -> granting.Wish:
    pattern = options["pattern"]
    try:
        schema = canonical.parse(Path(pattern).read_bytes()) if pattern else None
    except (OSError, canonical.Unrepresentable) as fault:
        raise CommandError(f"{pattern}: {fault}") from fault
    if schema is not None and not isinstance(schema, dict):
        raise CommandError(f"{pattern} is no JSON Schema: it has to be an object.")
    return granting.Wish(options["lasts"], options["uses"], options["sum"], schema)


def _taken(answer: Approval | Refused) -> Approval:
    if isinstance(answer, Refused):
        raise CommandError(answer.message)
    return answer


def _state(one: standing.Standing) -> str:
    """How a grant stands, by its terms and by what the ledger says of it."""
    if one.terms is None:
        return f"proves nothing. {one.problem}"
    spent = f", {one.spent} of {one.terms.sum_at_most}" if one.terms.sum_of else ""
    used = f"used {len(one.uses)} of {one.terms.uses}{spent}, until {one.terms.until[:16]}Z"
    return f"{one.state}, {used}. {one.why}" if one.why else f"{one.state}, {used}"
