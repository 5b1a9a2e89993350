"""What leaves the ledger's pages: files, paper, and filters that somebody keeps."""

from __future__ import annotations

import csv
import io
import json
from hashlib import sha256
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from approvals import people, rows, saved_filters
from approvals.ledger import canonical
from approvals.ledger.entries import Entry
from approvals.pages import export
from approvals.saved_filters import SavedFilter
from tests.approvals.pages.conftest import Reads
from tests.cast import Cast, ask, refund, say

pytestmark = [pytest.mark.committed, pytest.mark.usefixtures("heard")]
LEDGER = "/w/northwind/ledger"


@pytest.fixture
def auditor(cast: Cast) -> Any:
    people.grant(cast.riley, "audit", cast.northwind, by="system")
    return cast.riley


def sent(answer: Any) -> str:
    async def whole() -> bytes:
        return b"".join([part async for part in answer])

    return async_to_sync(whole)().decode("utf-8-sig")


def test_an_export_holds_the_entries_of_the_filter(cast: Cast, auditor: Any, reads: Reads) -> None:
    for verdict in ("approve", "reject"):
        say(ask(cast, refund()), cast.dana, verdict, message="Already replaced.")
    answer = reads(auditor).post(f"{LEDGER}/export", {"format": "csv", "verdict": "reject"})
    found = list(csv.DictReader(io.StringIO(sent(answer))))
    assert [(one["who"], one["what"], one["as_written"]) for one in found] == [
        (cast.dana.name, "Rejected revision 1", "yes")
    ]
    assert "attachment" in answer["Content-Disposition"] and "Already replaced" not in str(found)


def test_lines_of_json_hold_what_proves_each_entry(cast: Cast, auditor: Any, reads: Reads) -> None:
    say(ask(cast, refund()), cast.dana, "approve")
    answer = reads(auditor).post(f"{LEDGER}/export", {"format": "jsonl"})
    lines = [json.loads(line) for line in sent(answer).splitlines()]
    assert len(lines) > 10 and lines[0]["entry"]["kind"] == "approval.approved"
    for line in lines:
        made = sha256(bytes.fromhex(line["previous"]) + canonical.encode(line["entry"])).hexdigest()
        assert made == line["hash"] and line["as_written"] is True


def test_a_long_export_is_read_in_parts(cast: Cast, auditor: Any, reads: Reads, monkeypatch: Any) -> None:
    """However much there is, so many entries are held at once; none is left out or sent twice."""
    for _ in range(3):
        ask(cast, refund())
    whole = sent(reads(auditor).post(f"{LEDGER}/export", {"format": "jsonl"})).splitlines()
    monkeypatch.setattr(export, "AT_ONCE", 4)
    parts = sent(reads(auditor).post(f"{LEDGER}/export", {"format": "jsonl"})).splitlines()
    keys = [json.loads(line)["entry"]["id"] for line in parts]
    assert len(set(keys)) == len(parts) == len(whole) + 1


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＠"])
def test_no_cell_begins_a_formula(begin: str) -> None:
    """What an agent named a tool is no command for whoever opens the file."""
    (cells,) = csv.reader(io.StringIO(export._row((f"{begin}cmd|'/c calc'!A1", "plain")).decode(), newline=""))
    assert cells == [f"'{begin}cmd|'/c calc'!A1", "plain"]


def test_who_took_what_is_entered_before_it_is_sent(cast: Cast, auditor: Any, reads: Reads) -> None:
    answer = reads(auditor).post(f"{LEDGER}/export", {"format": "csv", "tool": "x", "after": "1", "foo": "bar"})
    with rows.reading(cast.northwind):
        entry = canonical.parse(bytes(Entry.objects.get(kind="ledger.exported").body))
    assert (entry["by"], entry["filter"], entry["format"]) == (auditor.public_id, {"tool": "x"}, "csv")
    answer.close()


def test_a_member_takes_nothing(cast: Cast, reads: Reads) -> None:
    client = reads(cast.dana)
    assert client.post(f"{LEDGER}/export", {"format": "csv"}).status_code == 403
    assert client.get(f"{LEDGER}/export").status_code == 405
    assert "Export" not in client.get(f"{LEDGER}/entries").content.decode()


def test_what_is_printed_names_workspace_filter_time_and_head(cast: Cast, reads: Reads) -> None:
    say(ask(cast, refund()), cast.dana, "reject", message="No.")
    html = reads(cast.dana).get(f"{LEDGER}/entries?print=1&verdict=reject").content.decode()
    sheet = html[html.index('class="sheet"') : html.index("</dl>")]
    assert "Northwind" in sheet and "Verdict: <bdi>Rejected</bdi>" in sheet and "for Dana" in sheet
    with rows.reading(cast.northwind):
        head = Entry.objects.filter(chain__name="workspace").latest("seq")
    assert bytes(head.hash).hex() in sheet and "http://testserver" in sheet


# Filters that somebody keeps


def test_a_filter_is_kept_under_a_name(cast: Cast, reads: Reads) -> None:
    client = reads(cast.dana)
    fields = {"page": "ledger_entries", "name": "  My   noes ", "verdict": "reject", "after": "x", "size": "50"}
    html = client.post(f"{LEDGER}/filters", fields, follow=True).content.decode()
    assert "Saved as My noes." in html and "Remove “My noes”" in html and "?verdict=reject" in html
    assert SavedFilter.objects.get().asked == {"verdict": "reject"}
    assert "My noes" not in reads(cast.priya).get(f"{LEDGER}/entries").content.decode()
    assert "My noes" not in client.get(LEDGER).content.decode()


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"name": " "}, "needs a name"),
        ({"name": "Mine", "verdict": ""}, "No filter is set"),
        ({"name": "Taken"}, "a filter called Taken already"),
    ],
)
def test_a_filter_that_cannot_be_kept_says_why(cast: Cast, reads: Reads, fields: dict[str, str], told: str) -> None:
    saved_filters.save(cast.northwind, cast.dana, "ledger_entries", "Taken", {"tool": "x"})
    sent = {"page": "ledger_entries", "verdict": "reject"} | fields
    html = reads(cast.dana).post(f"{LEDGER}/filters", sent, follow=True).content.decode()
    assert told in html and SavedFilter.objects.count() == 1


def test_one_removes_one_s_own_filter_and_nobody_else_s(cast: Cast, reads: Reads) -> None:
    made = saved_filters.save(cast.northwind, cast.dana, "ledger", "Mine", {"tool": "x"})
    assert isinstance(made, SavedFilter)
    address = f"{LEDGER}/filters/{made.public_id}/remove"
    assert reads(cast.priya).post(address).status_code == 404
    assert reads(cast.dana).post(address).status_code == 302 and not SavedFilter.objects.exists()


def test_what_somebody_kept_goes_when_they_leave(cast: Cast) -> None:
    saved_filters.save(cast.northwind, cast.dana, "ledger", "Mine", {"tool": "x"})
    people.leave(cast.dana, cast.northwind, by="system")
    assert not SavedFilter.objects.exists()
