"""``manage.py halt begin | end | list``: stop an agent or a whole workspace, and let it go on."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from approvals import gate, rows
from approvals.ledger.printing import PlainCommand
from runtime import halts
from runtime.definitions import Agent
from runtime.management import who


class Command(PlainCommand):
    help = "Stop an agent or all of a workspace, let it go on, or list what is stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        words = parser.add_subparsers(dest="word", required=True)
        begin = words.add_parser("begin", help="stop it now: nothing is decided or sent, and no deadline runs")
        begin.add_argument("--reason", default="", help="why, for whoever meets the stop")
        end = words.add_parser("end", help="let it go on, and give the time back to every deadline")
        listing = words.add_parser("list", help="what is stopped, since when and by whom")
        for word in (begin, end):
            word.add_argument("--agent", metavar="NAME", help="this agent alone; without it all of the workspace")
            who.add_person(word, "who does it, and has to be allowed to; an operator, without it")
        for word in (begin, end, listing):
            who.add_workspace(word)

    def handle(self, *_: Any, **options: Any) -> None:
        workspace = who.workspace(options)
        with rows.reading(workspace):
            getattr(self, f"_{options['word']}")(workspace, options)

    def _begin(self, workspace: Any, options: dict[str, Any]) -> None:
        agent = _agent(workspace, options)
        _taken(gate.halts.begin(workspace, agent, by=_by(workspace, options), reason=options["reason"]))
        self.stdout.write(f"{agent or workspace.name} is stopped. Nothing is decided or sent, and no deadline runs.")

    def _end(self, workspace: Any, options: dict[str, Any]) -> None:
        agent = _agent(workspace, options)
        _taken(halts.resume(workspace, agent, by=_by(workspace, options)))
        self.stdout.write(f"{agent or workspace.name} goes on. Every deadline has the time of the stop more.")

    def _list(self, workspace: Any, _: dict[str, Any]) -> None:
        held = gate.halts.on(workspace.pk)
        for halt in held:
            told = f"{halt.begun_at:%Y-%m-%d %H:%M:%S} UTC  {halt.agent or 'everything'}  {halt.who}  {halt.said}"
            self.stdout.write(told.rstrip())
        if not held:
            self.stdout.write(f"Nothing is stopped in {workspace.name}.")


def _taken(answer: gate.halts.Halt | gate.halts.Refused) -> None:
    if isinstance(answer, gate.halts.Refused):
        raise CommandError(answer.message)


def _agent(workspace: Any, options: dict[str, Any]) -> Agent | None:
    """The agent of this name, whether or not it is in use. Raises CommandError."""
    name = options["agent"]
    found = Agent.objects.filter(workspace=workspace, name=name).first() if name else None
    if name and found is None:
        raise CommandError(f"There is no agent {name} here.")
    return found


def _by(workspace: Any, options: dict[str, Any]) -> Any:
    person = who.person(options)
    if person is not None and gate.workspace_of(person, workspace.slug) is None:
        raise CommandError(f"{person.email} is no member of {workspace.slug}.")
    return person
