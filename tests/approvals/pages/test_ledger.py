"""The ledger's pages: entries as sentences, filters in the address, who sees what, and an entry's proof."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from approvals import people, rows
from approvals.ledger.entries import Entry
from approvals.pages import ledger_words
from tests.approvals.pages.conftest import Reads
from tests.cast import Cast, ask, refund, say
from tests.tampering import Tamper

pytestmark = pytest.mark.usefixtures("heard")
ENTRIES = "/w/northwind/ledger/entries"


def listed(html: str) -> int:
    return html.count('class="told"')


def entry_of(cast: Cast, kind: str) -> Entry:
    with rows.reading(cast.northwind):
        return Entry.objects.filter(workspace=cast.northwind, kind=kind).latest("at")


def test_an_entry_is_told_as_a_sentence_with_whoever_did_it(cast: Cast, reads: Reads) -> None:
    """Who, what, of which call, through what."""
    say(ask(cast, refund()), cast.dana, "reject", message="No.")
    html = reads(cast.omar).get(f"{ENTRIES}?verdict=reject").content.decode()
    assert listed(html) == 1 and re.search(r'class="danger">Rejected</b> revision <bdi>1</bdi>', html)
    assert "<bdi>Dana" in html and "Web" in html and "payments.create_refund" in html and "€" in html


@pytest.mark.parametrize(
    ("query", "kinds"),
    [
        ("person={dana}&verdict=approve", 1),
        ("person={riley}", 0),
        ("tool=payments.create_refund&verdict=reject", 1),
        ("tool=x", 0),
        ("agent=refund-desk&verdict=edit", 0),
        ("channel=web", 2),
        ("channel=slack", 0),
        ("from=2100-01-01", 0),
        ("channel=web&from=2020-01-01&to=2100-01-01", 2),
        ("verdict=%27%3B--", 0),
    ],
)
def test_the_address_narrows_the_entries(cast: Cast, reads: Reads, query: str, kinds: int) -> None:
    """IN-M18: nothing that an address says is anything but a value."""
    say(ask(cast, refund()), cast.dana, "approve")
    say(ask(cast, refund(30_000)), cast.priya, "reject", message="No.")
    named = {name: getattr(cast, name).public_id for name in ("dana", "riley")}
    answer = reads(cast.omar).get(f"{ENTRIES}?{query.format(**named)}")
    assert answer.status_code == 200 and listed(answer.content.decode()) == kinds


def test_a_member_sees_calls_and_an_auditor_the_rest_too(cast: Cast, reads: Reads) -> None:
    ask(cast, refund())
    joined = entry_of(cast, "person.joined")
    html = reads(cast.dana).get(ENTRIES).content.decode()
    assert "Joined" not in html and "Asked people" in html
    assert reads(cast.dana).get(f"{ENTRIES}/{joined.public_id}").status_code == 404
    people.grant(cast.riley, "audit", cast.northwind, by="system")
    assert "Joined" in reads(cast.riley).get(f"{ENTRIES}?size=100").content.decode()
    assert reads(cast.riley).get(f"{ENTRIES}/{joined.public_id}").status_code == 200


def test_an_entry_shows_its_place_and_that_it_holds(cast: Cast, reads: Reads) -> None:
    """The hash, the one before, and whether the code over it is ours."""
    say(ask(cast, refund()), cast.dana, "approve")
    made = entry_of(cast, "decision.made")
    html = reads(cast.dana).get(f"{ENTRIES}/{made.public_id}").content.decode()
    assert bytes(made.hash).hex() in html and f"entry {made.seq} of" in html
    assert "as it was written" in html and "does not" not in html and "message_digest" in html


@pytest.mark.committed
def test_an_entry_that_was_changed_says_so_where_it_is_listed(cast: Cast, reads: Reads, tamper: Tamper) -> None:
    say(ask(cast, refund()), cast.dana, "reject", message="No.")
    made, client = entry_of(cast, "decision.made"), reads(cast.omar)
    client.get(ENTRIES)
    body = bytes(made.body).replace(b'"reject"', b'"accept"')
    tamper("UPDATE approvals_entry SET body = %s WHERE id = %s", body, made.pk)
    html = client.get(f"{ENTRIES}?verdict=reject").content.decode()
    assert "not as written" in html and listed(html) == 1
    assert "not as it was written" in client.get(f"{ENTRIES}/{made.public_id}").content.decode()


@pytest.mark.parametrize("cursor", ["x", "~", "2026-01-01T00:00:00Z~1", "2026-01-01T00:00:00Z~x~y", "~1~2", "%00"])
def test_a_cursor_that_is_none_is_the_first_page_of_entries(cast: Cast, reads: Reads, cursor: str) -> None:
    ask(cast, refund())
    answer = reads(cast.dana).get(f"{ENTRIES}?after={cursor}")
    assert answer.status_code == 200 and listed(answer.content.decode()) > 0


def test_the_next_page_of_entries_goes_on_where_the_last_one_ended(cast: Cast, reads: Reads) -> None:
    for _ in range(10):
        say(ask(cast, refund()), cast.dana, "reject", message="No.")
    client, seen, after = reads(cast.dana), [], ""
    while True:
        answer = client.get(ENTRIES, {"after": after, "verdict": "reject" if after == "-" else ""})
        seen += [line.entry.pk for line in answer.context["lines"]]
        if not (after := answer.context["next"]):
            break
    assert len(seen) == len(set(seen)) == answer.context["total"].count >= 30


@pytest.mark.committed
def test_a_full_page_of_entries_costs_as_many_queries_as_a_short_one(cast: Cast, reads: Reads) -> None:
    client, costs = reads(cast.dana), []
    for count in (2, 12):
        for _ in range(count):
            say(ask(cast, refund()), cast.dana, "reject", message="No.")
        client.get(ENTRIES)
        with CaptureQueriesContext(connection) as queries:
            client.get(ENTRIES)
        costs.append(len(queries))
    assert costs[0] == costs[1] < 35


def test_a_value_in_a_sentence_is_never_markup(cast: Cast) -> None:
    """IN-E5: what an agent or a stranger named is text."""
    entry = {"kind": "call.refused", "reason": "<script>\u202e{by}</script>"}
    told = ledger_words.told(entry, {})
    assert "<script>" not in told and "&lt;script&gt;" in told and "\u202e" not in told


def test_the_history_is_found_where_it_was(cast: Cast, reads: Reads) -> None:
    answer = reads(cast.dana).get("/w/northwind/history?verdict=approved&tool=x")
    assert answer["Location"] == "/w/northwind/ledger?verdict=approved&tool=x"
