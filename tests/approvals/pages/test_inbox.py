"""The inbox: whose is what, in which order, by which filters, at what cost."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from approvals import people, rows, sought
from approvals.approvals import Approval
from approvals.pages.inbox import LABELS
from approvals.pages.reader import Reader
from tests.approvals.pages.conftest import Reads, tamper
from tests.cast import Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")


def tabs(cast: Cast, name: str) -> dict[str, int]:
    return Reader(cast.northwind, getattr(cast, name)).counts()


def test_each_approval_stands_under_one_tab(cast: Cast) -> None:
    """The counts of the tabs add up, whoever looks."""
    pair = ask(cast, refund(142_000))
    ask(cast, refund())
    say(ask(cast, refund()), cast.priya, "reject", message="No.")
    say(pair, cast.dana, "approve")
    assert tabs(cast, "dana") == {"for-you": 1, "others": 0, "voted": 1, "settled": 1}
    assert tabs(cast, "priya") == {"for-you": 2, "others": 0, "voted": 0, "settled": 1}
    assert tabs(cast, "riley") == {"for-you": 0, "others": 2, "voted": 0, "settled": 1}


def test_what_was_edited_waits_for_its_earlier_voters_again(cast: Cast) -> None:
    approval = ask(cast, refund(142_000))
    say(approval, cast.dana, "approve")
    say(approval, cast.priya, "edit", edited=refund(124_000))
    assert tabs(cast, "dana")["for-you"] == 1 and tabs(cast, "priya")["voted"] == 1


def test_what_one_asked_for_oneself_is_for_others(cast: Cast) -> None:
    """Nobody is shown as theirs what they may not approve."""
    ask(cast, refund(), requester=cast.dana)
    assert tabs(cast, "dana")["for-you"] == 0 and tabs(cast, "dana")["others"] == 1
    assert tabs(cast, "priya")["for-you"] == 1


def test_what_is_past_its_deadline_waits_for_nobody(cast: Cast) -> None:
    approval = ask(cast, refund())
    Approval.objects.filter(pk=approval.pk).update(expires_at=rows.now() - timedelta(seconds=1))
    assert tabs(cast, "dana")["for-you"] == 0


def test_a_row_is_a_link_that_answers_by_itself(cast: Cast, reads: Reads) -> None:
    """AP-X9: sentence, agent, asker, amount, votes and time are in the row."""
    approval = ask(cast, refund(142_000))
    say(approval, cast.dana, "edit", edited=refund(124_000))
    html = reads(cast.priya).get("/w/northwind/").content.decode()
    assert f'href="/w/northwind/approvals/{approval.public_id}"' in html
    for told in ("€1,240.00", "refund-desk", "asked by Riley", "edited by Dana", "1 of 2", "Finance", "High"):
        assert told in html
    assert "€1,420.00" not in html


def test_the_next_deadline_comes_first_under_its_heading(cast: Cast, reads: Reads) -> None:
    later, sooner = ask(cast, refund(11_100)), ask(cast, refund(22_200))
    Approval.objects.filter(pk=later.pk).update(expires_at=rows.now() + timedelta(days=3))
    html = reads(cast.dana).get("/w/northwind/").content.decode()
    told = ["Due within the hour", sooner.public_id, "This week", later.public_id]
    assert [html.index(words) for words in told] == sorted(html.index(words) for words in told)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        *[("risk=high", 1), ("risk=low", 0), ("agent=refund-desk", 1), ("agent=x", 0), ("q=riley+refund", 1)],
        *[("asker=per_{riley}", 1), ("asker=per_{dana}", 0), ("asker=x", 0)],
        *[("q=%00", 1), ("tool=payments.create_refund", 1), ("tool='--", 0), ("tab=nonsense", 1), ("q=%25", 0)],
    ],
)
def test_the_address_narrows_the_list(cast: Cast, reads: Reads, query: str, found: int) -> None:
    """IN-M18: whatever the address says, it is a value compared with one column, or nothing."""
    ask(cast, refund())
    query = query.format(riley=cast.riley.pk.hex, dana=cast.dana.pk.hex)
    answer = reads(cast.dana).get(f"/w/northwind/?{query}")
    assert answer.status_code == 200 and answer.content.count(b'<li id="apr_') == found


def test_an_empty_inbox_says_what_happened_last(cast: Cast, reads: Reads) -> None:
    say(ask(cast, refund()), cast.priya, "reject", message="No.")
    html = reads(cast.dana).get("/w/northwind/").content.decode()
    assert "Nothing waits for you" in html and "€420.00" in html and "rejected by Priya" in html
    html = reads(cast.dana).get("/w/northwind/?risk=low").content.decode()
    assert "Nothing fits" in html


@pytest.mark.parametrize("tab", LABELS)
def test_every_tab_can_be_empty_and_full(cast: Cast, reads: Reads, tab: str) -> None:
    client = reads(cast.dana)
    assert client.get(f"/w/northwind/?tab={tab}").status_code == 200
    say(ask(cast, refund(142_000)), cast.dana, "approve")
    say(ask(cast, refund()), cast.dana, "approve")
    ask(cast, refund(), requester=cast.dana)
    ask(cast, refund())
    assert client.get(f"/w/northwind/?tab={tab}").content.count(b'<li id="apr_') == 1


@pytest.mark.committed
def test_thirty_rows_cost_as_many_queries_as_three(cast: Cast, reads: Reads) -> None:
    client = reads(cast.dana)
    costs: list[int] = []
    for more in (3, 27):
        for _ in range(more):
            say(ask(cast, refund(142_000)), cast.priya, "approve")
        client.get("/w/northwind/")
        with CaptureQueriesContext(connection) as queries:
            assert client.get("/w/northwind/").content.count(b'<li id="apr_') == len(costs) * 27 + 3
        costs.append(len(queries))
    assert costs[0] == costs[1] < 30


def test_a_row_that_was_tampered_with_says_so_and_leaves_the_others(cast: Cast, reads: Reads) -> None:
    ask(cast, refund(11_100))
    tamper(ask(cast, refund(22_200)))
    html = reads(cast.dana).get("/w/northwind/").content.decode()
    assert "€111.00" in html and "€222.00" not in html and "not the ones that were sealed" in html


def test_a_team_that_lost_its_voter_counts_the_vote_no_more(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund(142_000))
    say(approval, cast.dana, "approve")
    assert "1 of 2" in reads(cast.priya).get("/w/northwind/").content.decode()
    people.revoke(cast.dana, "decide", cast.finance, by="system")
    assert "0 of 2" in reads(cast.priya).get("/w/northwind/").content.decode()


def test_the_inbox_finds_by_a_word_of_the_arguments(cast: Cast, reads: Reads) -> None:
    """Each part of a search is the name of something or a word of the arguments, and all have to be there."""
    approval = ask(cast, refund(note="Two pallets arrived wet."))
    sought.look_through()
    client, shown = reads(cast.dana), f'<li id="{approval.public_id}"'
    for query, is_shown in (("riley pallets", True), ("pallets crate", False), ("refund 420", True), ("%", False)):
        html = client.get("/w/northwind/", {"q": query}).content.decode()
        assert (shown in html) is is_shown
    people.join(cast.oskar, cast.northwind, by="system")
    assert shown in reads(cast.oskar).get("/w/northwind/?tab=others&q=pallets").content.decode()
