"""``manage.py propose TOOL ARGS.json``: a run with one call, as an agent would propose it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from approvals import rows
from approvals.ledger import canonical
from approvals.ledger.printing import PlainCommand
from runtime import budgets, one_call
from runtime.management import who
from runtime.runs import Run


class Command(PlainCommand):
    help = "Start a run that proposes one call, and print the run's id."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("tool")
        parser.add_argument("file", metavar="args", help="a file with the arguments as JSON, or - for standard input")
        parser.add_argument("--agent", default="scripted", help="a scripted agent; made if there is none of this name")
        parser.add_argument("--reason", default="", help="what the agent says of it")
        parser.add_argument("--title", default="", help="what the run is about")
        parser.add_argument(
            "--budget", default="", help="caps: tokens=1000 steps=20 seconds=600 money=500 currency=EUR"
        )
        parser.add_argument("--rehearsal", action="store_true", help="people decide it as always, and nothing is sent")
        who.add_person(parser, "the person on whose behalf the agent asks")
        who.add_workspace(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        workspace, person = who.workspace(options), who.member(options)
        with rows.reading(workspace):
            self.stdout.write(_start(workspace.pk, person, options).public_id)


def _start(workspace_id: UUID, person: Any, options: dict[str, Any]) -> Run:
    try:
        return one_call.start(
            workspace_id,
            options["agent"],
            {"tool": options["tool"], "args": _read(options["file"]), "reason": options["reason"]},
            title=options["title"],
            by=who.public_id(person),
            requester_id=person.pk if person else None,
            budget=_budget(options["budget"]),
            rehearsal=options["rehearsal"],
        )
    except one_call.PlaysNoScripts as fault:
        raise CommandError(str(fault)) from fault


def _budget(text: str) -> dict[str, Any]:
    named = dict(part.partition("=")[::2] for part in text.split())
    try:
        return budgets.caps({name: int(cap) if cap.isdigit() else cap for name, cap in named.items()})
    except ValueError as fault:
        raise CommandError(str(fault)) from fault


def _read(file: str) -> dict[str, Any]:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        args = canonical.parse(data)
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
    except canonical.Unrepresentable as fault:
        raise CommandError(f"{file}: {fault}") from fault
    if not isinstance(args, dict):
        raise CommandError(f"{file}: arguments are a JSON object.")
    return args
