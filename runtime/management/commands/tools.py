"""``manage.py tools import FILE | list | off TOOL | on TOOL``: taking published tools in, what a workspace has, and
switching one off and on again."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from approvals import gate, rows
from approvals.ledger.about import Broken
from approvals.ledger.printing import PlainCommand
from runtime import definitions, tools
from runtime.definitions import Tool, intake
from runtime.management import who


class Command(PlainCommand):
    help = "Take in the tools of a file, list those of a workspace, or switch one off and on again."

    def add_arguments(self, parser: CommandParser) -> None:
        words = parser.add_subparsers(dest="word", required=True)
        taken = words.add_parser("import", help='take in {"tools": […]} or the answer to tools/list')
        taken.add_argument("file")
        taken.add_argument("--url", metavar="BASE", help="where they are: a call is a POST to BASE/<tool>")
        taken.add_argument(
            "--effect", default="unsafe", choices=tools.EFFECTS, help="what they promise; default: nothing"
        )
        taken.add_argument("--reason", default="", help="why, for those who are asked where it has to be approved")
        who.add_person(taken, "who wants them, where that has to be approved")
        listed = words.add_parser("list", help="the tools of the workspace")
        off = words.add_parser("off", help="switch one off at once: nothing of it is asked or sent any more")
        on = words.add_parser("on", help="let it be used again")
        for word in (off, on):
            word.add_argument("called", metavar="TOOL", help="its name")
            who.add_person(word, "who says so, and administers the workspace; an operator, without it")
        for word in (taken, listed, off, on):
            who.add_workspace(word)

    def handle(self, *_: Any, **options: Any) -> None:
        workspace = who.workspace(options)
        with rows.reading(workspace):
            match options["word"]:
                case "list":
                    self._list(workspace.pk)
                case "import":
                    self._import(workspace, options)
                case word:
                    self._switch(workspace, word, options)

    def _import(self, workspace: Any, options: dict[str, Any]) -> None:
        listed = _read(options)
        for told in (*listed.warnings, *_moved(workspace.pk, listed)):
            self.stderr.write(told)
        try:
            taken = definitions.register_offers(workspace.pk, listed.offers, by="system")
        except gate.NeedsApproval as asks:
            self._ask(workspace, listed, asks, options)
            return
        warned = sum(bool(each.warnings) for each in listed.offers)
        self.stdout.write(f"{len(taken)} tools were taken in, {warned} of them with warnings.")
        if not options["url"]:
            self.stdout.write("Nothing stands behind them yet: take them in again with --url BASE.")

    def _ask(self, workspace: Any, listed: intake.Listed, asks: gate.NeedsApproval, options: dict[str, Any]) -> None:
        person = who.person(options)
        if person is None:
            raise CommandError(f"{asks} Say who wants it: --as EMAIL.")
        taken, asked = intake.take(workspace, listed, by=person, reason=options["reason"])
        for each in asked:
            told = f"{each.approval} asks people" if each.approval else f"nobody is asked. {each.reason}"
            self.stdout.write(f"{each.change}: {told}")
        self.stdout.write(f"{taken} tools were taken in; {len(asked)} have to be approved first.")

    def _list(self, workspace_id: UUID) -> None:
        try:
            off = definitions.off(workspace_id)
        except Broken as fault:
            raise CommandError(str(fault)) from fault
        for tool in Tool.objects.filter(workspace_id=workspace_id, is_active=True).order_by("name"):
            state = "  switched off" if tool.name in off else ""
            told = f"{tool.name}  {tool.kind}  {tool.effect}  version {tool.version}  {tool.digest[:12]}{state}"
            self.stdout.write(told)

    def _switch(self, workspace: Any, word: str, options: dict[str, Any]) -> None:
        switch = definitions.switch_off if word == "off" else definitions.switch_on
        if refused := switch(workspace, options["called"], by=who.member(options)):
            raise CommandError(refused.message)
        told = "is switched off. Nothing of it is asked or sent" if word == "off" else "is used again"
        self.stdout.write(f"{options['called']} {told}.")


def _read(options: dict[str, Any]) -> intake.Listed:
    """The tools of the file. Raises CommandError, naming pointer and rule."""
    try:
        return intake.read(Path(options["file"]).read_bytes(), url=options["url"] or "", effect=options["effect"])
    except OSError as error:
        raise CommandError(f"{options['file']} cannot be read: {error.strerror}.") from error
    except intake.Unreadable as fault:
        raise CommandError(f"{options['file']}: {fault}") from fault


def _moved(workspace_id: UUID, listed: intake.Listed) -> list[str]:
    """A sentence for every tool that takes the place of one of the same name that is reached elsewhere."""
    return [f"{each.name}: {each.moved}" for each in intake.compare(workspace_id, listed) if each.moved]
