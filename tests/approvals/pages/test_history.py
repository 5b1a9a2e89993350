"""The history: filters, pages of a bounded size, allow-listed orders."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from approvals import rows
from approvals.approvals import Approval
from tests.approvals.pages.conftest import Reads
from tests.cast import Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")
HISTORY = "/w/northwind/ledger"


def settled(cast: Cast, count: int) -> list[Approval]:
    """So many rejected refunds of 1, 2, 3 … euros over the last days, the newest last."""
    made = []
    for number in range(1, count + 1):
        approval = ask(cast, refund(5_000 + number * 100))
        say(approval, cast.dana, "reject", message="No.")
        when = rows.now() - timedelta(days=count - number)
        Approval.objects.filter(pk=approval.pk).update(decided_at=when)
        made.append(approval)
    return made


def listed(html: bytes) -> int:
    return html.count(b'class="what"')


def test_what_is_open_is_no_history(cast: Cast, reads: Reads) -> None:
    ask(cast, refund())
    assert listed(reads(cast.dana).get(HISTORY).content) == 0


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("verdict=approved", 1),
        ("verdict=rejected", 1),
        ("verdict=edited", 1),
        ("outcome=none", 2),
        ("outcome=executed", 0),
        ("tool=payments.create_refund", 2),
        ("tool=x", 0),
        ("agent=refund-desk&verdict=rejected", 1),
        ("person={priya}", 1),
        ("person={riley}", 2),
        ("person=per_x", 2),
        ("from=2020-01-01&to=2100-01-01", 2),
        ("from=2100-01-01", 0),
        ("to=2020-01-01", 0),
        ("from=2020-13-45", 2),
        ("verdict=%27%3B--", 2),
        ("from=%00", 2),
    ],
)
def test_the_address_narrows_the_history(cast: Cast, reads: Reads, query: str, found: int) -> None:
    approval = ask(cast, refund())
    say(approval, cast.dana, "edit", edited=refund(20_000))
    say(ask(cast, refund(30_000)), cast.priya, "reject", message="No.")
    people = {name: getattr(cast, name).public_id for name in ("priya", "riley")}
    answer = reads(cast.omar).get(f"{HISTORY}?{query.format(**people)}")
    assert answer.status_code == 200 and listed(answer.content) == found


def test_a_page_has_one_of_a_few_sizes(cast: Cast, reads: Reads) -> None:
    """IN-M18: page size −1 and 10⁹ give the smallest."""
    settled(cast, 27)
    client, asked = reads(cast.dana), ["-1", "0", "1000000000", "26", "x", "٢٥", ""]
    shown = {size: listed(client.get(f"{HISTORY}?size={size}").content) for size in asked}
    assert shown == dict.fromkeys(asked, 25)


def test_no_column_is_named_by_the_reader(cast: Cast, reads: Reads) -> None:
    """IN-M18: ``order_by=args__secret`` and its like are no orders."""
    settled(cast, 3)
    client = reads(cast.dana)
    newest = client.get(HISTORY).content
    assert newest.index("€53.00".encode()) < newest.index("€51.00".encode())
    for order in ("args__secret", "-context", "decided_at;", "ruling__args"):
        html = client.get(f"{HISTORY}?order={order}").content
        assert html.index("€53.00".encode()) < html.index("€51.00".encode())
    oldest = client.get(f"{HISTORY}?order=oldest").content
    assert oldest.index("€51.00".encode()) < oldest.index("€53.00".encode())


def test_the_next_page_goes_on_where_the_last_one_ended(cast: Cast, reads: Reads) -> None:
    """Rows that are settled meanwhile move nothing."""
    settled(cast, 30)
    client = reads(cast.dana)
    first = client.get(HISTORY)
    say(ask(cast, refund(90_000)), cast.dana, "reject", message="No.")
    second = client.get(f"{HISTORY}?after={first.context['next']}".replace("+", "%2B"))
    assert listed(second.content) == 5 and "€51.00" in second.content.decode()
    assert second.context["next"] == "" and "31 approvals" in second.content.decode()


@pytest.mark.parametrize("cursor", ["x", "~", "2026-01-01~", "2026-01-01T00:00:00~zz", "2026-01-01T00:00:00Z~1", "%00"])
def test_a_cursor_that_is_none_is_the_first_page(cast: Cast, reads: Reads, cursor: str) -> None:
    settled(cast, 1)
    answer = reads(cast.dana).get(f"{HISTORY}?after={cursor}")
    assert answer.status_code == 200 and listed(answer.content) == 1


@pytest.mark.committed
def test_a_full_page_costs_as_many_queries_as_a_short_one(cast: Cast, reads: Reads) -> None:
    client = reads(cast.dana)
    costs = []
    for count in (2, 20):
        settled(cast, count)
        client.get(HISTORY)
        with CaptureQueriesContext(connection) as queries:
            client.get(HISTORY)
        costs.append(len(queries))
    assert costs[0] == costs[1] < 30
