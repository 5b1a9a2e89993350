"""``manage.py tools import FILE | list``: taking published tools in, and what a workspace has."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from approvals import gate, rows
from approvals.ledger import canonical
from approvals.ledger.printing import PlainCommand
from runtime import definitions, tools
from runtime.definitions import Tool
from runtime.management import who

MAX_BYTES = 8 * 1024 * 1024
MAX_NODES = 2_000_000
MAX_TOOLS = 1_000


class Command(PlainCommand):
    help = "Take in the tools of a file, or list those of a workspace."

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
        for word in (taken, listed):
            who.add_workspace(word)

    def handle(self, *_: Any, **options: Any) -> None:
        workspace = who.workspace(options)
        with rows.reading(workspace):
            if options["word"] == "list":
                self._list(workspace.pk)
            else:
                self._import(workspace, options)

    def _import(self, workspace: Any, options: dict[str, Any]) -> None:
        workspace_id = workspace.pk
        listed, place = _read(options["file"])
        offers = [_offer(tool, f"{place}/{index}", options) for index, tool in enumerate(listed)]
        _refuse_doubles(offers, place, options["file"])
        for index, each in enumerate(offers):
            for warning in each.warnings:
                name = each.definition["name"]
                self.stderr.write(f"{name}: {place}/{index}{warning['pointer']}: {warning['text']}")
        for told in _moved(workspace_id, offers):
            self.stderr.write(told)
        try:
            taken = definitions.register_offers(workspace_id, offers, by="system")
        except gate.NeedsApproval as asks:
            self._ask(workspace, offers, asks, options)
            return
        warned = sum(bool(each.warnings) for each in offers)
        self.stdout.write(f"{len(taken)} tools were taken in, {warned} of them with warnings.")
        if not options["url"]:
            self.stdout.write("Nothing stands behind them yet: take them in again with --url BASE.")

    def _ask(
        self, workspace: Any, offers: list[definitions.Offer], asks: gate.NeedsApproval, options: dict[str, Any]
    ) -> None:
        """Take in those of which nobody has to be asked, and ask about each of the others."""
        person, waiting = who.person(options), 0
        if person is None:
            raise CommandError(f"{asks} Say who wants it: --as EMAIL.")
        for each in offers:
            try:
                definitions.register_offers(workspace.pk, [each], by=person.public_id)
            except gate.NeedsApproval:
                change = definitions.of_tool(workspace.pk, each)
                held = gate.propose(workspace, change, by=person, reason=options["reason"])
                told = f"{held.approval_id} asks people" if held.approval_id else f"nobody is asked. {held.reason}"
                self.stdout.write(f"{change.name}: {told}")
                waiting += 1
        self.stdout.write(f"{len(offers) - waiting} tools were taken in; {waiting} have to be approved first.")

    def _list(self, workspace_id: UUID) -> None:
        for tool in Tool.objects.filter(workspace_id=workspace_id, is_active=True).order_by("name"):
            self.stdout.write(f"{tool.name}  {tool.kind}  {tool.effect}  version {tool.version}  {tool.digest[:12]}")


def _read(file: str) -> tuple[list[Any], str]:
    """The tools of the file and the pointer to their list. Raises CommandError, naming pointer and rule."""
    try:
        document = canonical.parse(Path(file).read_bytes(), max_bytes=MAX_BYTES, max_nodes=MAX_NODES)
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
    except canonical.Unrepresentable as fault:
        raise CommandError(f"{file}: {fault}") from fault
    place = "/result/tools" if isinstance(document, dict) and "jsonrpc" in document else "/tools"
    found: Any = document
    for part in canonical.split(place):
        found = found.get(part) if isinstance(found, dict) else None
    if not isinstance(found, list):
        raise CommandError(f'{file}: {place}: there is no list of tools here, neither {{"tools": […]}} nor an answer.')
    if len(found) > MAX_TOOLS:
        raise CommandError(
            f"{file}: {place}: {len(found):,} tools are more than the {MAX_TOOLS:,} that one file may hold."
        )
    return found, place


def _offer(tool: Any, place: str, options: dict[str, Any]) -> definitions.Offer:
    name = tool.get("name") if isinstance(tool, dict) else None
    try:
        if not isinstance(name, str):
            raise gate.Inadmissible("/name", "name", "A tool is an object with a name.")
        return definitions.offer(tool, kind="http", config=_endpoint(options["url"], name), effect=options["effect"])
    except gate.Inadmissible as fault:
        raise CommandError(f"{options['file']}: {place}{fault.pointer} ({fault.rule}): {fault.message}") from fault
    except ValueError as error:
        raise CommandError(str(error)) from error


def _moved(workspace_id: UUID, offers: list[definitions.Offer]) -> list[str]:
    """A sentence for every tool that takes the place of one of the same name that is reached elsewhere."""
    before = {tool.name: tool.config for tool in Tool.objects.filter(workspace_id=workspace_id, is_active=True)}
    found = [(each.definition["name"], before.get(each.definition["name"]), each.config) for each in offers]
    return [
        f"{name}: it takes the place of the tool of this name that was reached by {old or 'nothing'}"
        for name, old, new in found
        if old is not None and old != new
    ]


def _endpoint(base: str | None, name: str) -> dict[str, str]:
    return {"url": f"{base.rstrip('/')}/{quote(name, safe='')}"} if base else {}


def _refuse_doubles(offers: list[definitions.Offer], place: str, file: str) -> None:
    seen: set[str] = set()
    for index, each in enumerate(offers):
        name = each.definition["name"]
        if name in seen:
            raise CommandError(f"{file}: {place}/{index}/name (unique): {name} stands in the list twice.")
        seen.add(name)
