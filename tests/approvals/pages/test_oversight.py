"""The oversight page: the command's figures, a period in the address, and who sees them."""

from __future__ import annotations

import pytest

from approvals import people
from tests.approvals.pages.conftest import Reads
from tests.cast import Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")
PAGE = "/w/northwind/oversight"


def test_the_page_tells_how_each_person_decides(cast: Cast, reads: Reads) -> None:
    people.grant(cast.riley, "audit", cast.northwind, by="system")
    say(ask(cast, refund()), cast.dana, "approve")
    say(ask(cast, refund()), cast.dana, "reject", message="No.")
    html = reads(cast.riley).get(PAGE).content.decode()
    row = html[html.index("<bdi>Dana") :]
    assert '<td data-name="decisions">2</td><td data-name="no">1</td>' in row[: row.index("</tr>")]
    assert "payments.create_refund" in html and "Web" in html and "Nothing stands out" in html


@pytest.mark.parametrize(("days", "kept"), [("7", "7"), ("365", "365"), ("0", "30"), ("9999999999", "30"), ("x", "30")])
def test_the_period_stands_in_the_address(cast: Cast, reads: Reads, days: str, kept: str) -> None:
    people.grant(cast.riley, "administer", cast.northwind, by="system")
    answer = reads(cast.riley).get(f"{PAGE}?days={days}")
    assert answer.status_code == 200 and answer.context["days"] == kept
    assert f'href="?days={kept}" aria-current="true"' in answer.content.decode()


def test_how_people_decide_is_not_for_every_member(cast: Cast, reads: Reads) -> None:
    """But for whoever wrote the policy, who answers for it."""
    say(ask(cast, refund()), cast.dana, "approve")
    answer = reads(cast.priya).get(PAGE)
    assert answer.status_code == 403 and "to those who audit or administer" in answer.content.decode()
    assert "By person" not in answer.content.decode()
    assert reads(cast.omar).get(PAGE).status_code == 200


def test_nothing_decided_says_so(cast: Cast, reads: Reads) -> None:
    html = reads(cast.omar).get(PAGE).content.decode()
    assert html.count("Nobody decided in this time.") == 3 and "No approval of a call ended" in html
