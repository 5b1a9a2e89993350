"""The ledger as a file: the entries of a filter as CSV or as lines of JSON, sent as they are read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from asgiref.sync import sync_to_async
from django.db import close_old_connections
from django.http import HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST

from approvals import filing, rows
from approvals.ledger import entries, followed
from approvals.ledger_places import sees_all
from approvals.pages import ledger
from approvals.pages.door import Visit, member
from approvals.pages.ledger_lines import Line
from approvals.people import Workspace

AT_ONCE: Final = 500
"""So many entries are read at once, whatever there are; no more of them are held."""
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""How a cell begins that a spreadsheet would take for a formula."""
HEADINGS: Final = (
    "time",
    "entry",
    "chain",
    "number",
    "kind",
    "who",
    "who_id",
    "what",
    "tool",
    "agent",
    "channel",
    "approval",
    "hash",
    "as_written",
)


@require_POST
@member
def export(request: Visit) -> HttpResponseBase:
    """Send the entries of a filter, for those who see all of them. That they were taken, by whom and which, is entered
    first."""
    if not sees_all(request.workspace, request.user):
        return render(request, "403.html", status=403)
    asked = {name: request.POST.get(name, "").replace("\x00", "")[:200].strip() for name in ledger.FIELDS}
    kind = "jsonl" if request.POST.get("format") == "jsonl" else "csv"
    wanted = {name: value for name, value in asked.items() if value and name not in {"size", "after"}}
    with rows.within(request.workspace):
        filing.file_new(request.workspace.pk)
        by = request.user.public_id
        told = {"format": kind, "filter": wanted}
        entries.append(request.workspace.pk, followed.CHAIN, "ledger.exported", told, by=by)
    return _answer(request.workspace, wanted, kind)


def _answer(workspace: Workspace, wanted: Mapping[str, str], kind: str) -> StreamingHttpResponse:
    types = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl; charset=utf-8"}
    answer = StreamingHttpResponse(_sent(_Part(workspace, wanted), kind), content_type=types[kind])
    name = f"ledger-{workspace.slug}-{timezone.now():%Y-%m-%d}.{kind}"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    answer["X-Accel-Buffering"] = "no"
    return answer


async def _sent(part: _Part, kind: str) -> AsyncIterator[bytes]:
    written: Callable[[Line], bytes] = _json if kind == "jsonl" else _csv
    if kind == "csv":
        # Spreadsheets take a file without this mark for one of an older alphabet.
        yield b"\xef\xbb\xbf" + _row(HEADINGS)
    while lines := await sync_to_async(part.next)():
        yield b"".join(map(written, lines))


@dataclass
class _Part:
    """The entries of a filter, a part of them at a time: each is read in a transaction of its own, and what it took of
    the database is given back before it is sent."""

    workspace: Workspace
    wanted: Mapping[str, str]
    after: str = ""
    over: bool = False

    def next(self) -> list[Line]:
        """The next ones; none at the end."""
        if self.over:
            return []
        try:
            with rows.within(self.workspace):
                asked = {**dict.fromkeys(ledger.FIELDS, ""), **self.wanted}
                found = ledger.narrowed(self.workspace, asked, everything=True)
                listed = list(ledger.after(found, self.after).order_by(*ledger.ORDER)[:AT_ONCE])
                self.over = len(listed) < AT_ONCE
                self.after = ledger.cursor(listed[-1]) if listed else ""
                return ledger.lines_of(self.workspace, listed, with_cards=False)
        finally:
            close_old_connections()


def _csv(line: Line) -> bytes:
    entry = line.entry
    return _row(
        (
            entry.at.isoformat(),
            entry.public_id,
            line.chain,
            entry.seq,
            entry.kind,
            line.who,
            line.by,
            line.plain,
            line.tool,
            line.agent,
            line.body.get("via", ""),
            line.body.get("approval", ""),
            line.seal,
            "yes" if line.holds else "NO",
        )
    )


def _row(cells: tuple[Any, ...]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerow([safe(str(cell)) for cell in cells])
    return text.getvalue().encode()


def safe(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: one that looks like it begins with an apostrophe."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def _json(line: Line) -> bytes:
    """A line with the entry as it stands in its chain, and beside it what it is called here."""
    told: dict[str, Any] = {"entry": line.body, "previous": bytes(line.entry.prev).hex(), "hash": line.seal}
    told |= {"as_written": line.holds, "who": line.who, "what": line.plain, "tool": line.tool, "agent": line.agent}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
