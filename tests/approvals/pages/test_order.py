"""The order of the inbox: headings by deadline, the riskier first under each, pages that nothing moves."""

from __future__ import annotations

from datetime import timedelta

import pytest

from approvals import halts, rows
from approvals.approvals import Approval
from approvals.pages import inbox, order
from approvals.pages.reader import Reader
from tests.approvals.pages.conftest import Reads
from tests.cast import Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")


def due(cast: Cast, hours: float, risk: str = "high") -> Approval:
    approval = ask(cast, refund())
    Approval.objects.filter(pk=approval.pk).update(expires_at=rows.now() + timedelta(hours=hours), risk=risk)
    return approval


def listed(cast: Cast, after: order.Place | None = None) -> list[Approval]:
    return list(Reader(cast.northwind, cast.dana).tab("for-you", after))


@pytest.mark.parametrize(("hours", "heading"), [(0.5, order.SOON), (24 * 3, order.WEEK), (24 * 9, order.LATER)])
def test_deadlines_are_grouped_by_how_near_they_are(cast: Cast, hours: float, heading: int) -> None:
    due(cast, hours)
    assert [order.heading_of(one) for one in listed(cast)] == [heading]


def test_the_riskier_comes_first_under_a_heading_and_never_before_a_nearer_one(cast: Cast) -> None:
    """By deadline first, since what is missed is lost; by risk within that."""
    low, high = due(cast, 24 * 3, "low"), due(cast, 24 * 4)
    soon = due(cast, 0.5, "low")
    medium = due(cast, 24 * 2, "medium")
    assert [one.pk for one in listed(cast)] == [one.pk for one in (soon, high, medium, low)]


def test_what_a_stop_freezes_comes_last_under_its_own_heading(cast: Cast) -> None:
    due(cast, 0.5)
    rows.insert(halts.Halt(workspace=cast.northwind, agent="refund-desk", begun_at=rows.now()))
    assert [order.heading_of(one) for one in listed(cast)] == [order.FROZEN]


def test_a_page_goes_on_where_the_last_one_ended_whatever_comes_meanwhile(cast: Cast) -> None:
    """Behind a row and not behind a number of rows: what comes first meanwhile moves nothing."""
    made = [due(cast, hours) for hours in (25, 26, 27, 28)]
    first = listed(cast)[:2]
    place = order.place_of(first[1], rows.now())
    due(cast, 0.2)
    say(made[0], cast.priya, "reject", message="No.")
    assert [one.pk for one in listed(cast, order.read(str(place)))] == [one.pk for one in made[2:]]


def test_a_long_list_is_read_page_by_page_and_each_row_once(
    cast: Cast, reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "PAGE", 2)
    wanted = {due(cast, 24 * 2 + number).public_id for number in range(5)}
    client, path, seen = reads(cast.dana), "/w/northwind/", list[str]()
    while path:
        context = client.get(path).context
        seen += [row.public_id for group in context["groups"] for row in group.rows]
        path = f"/w/northwind/?after={context['next']}" if context["next"] else ""
    assert len(seen) == 5 and set(seen) == wanted


@pytest.mark.parametrize(
    "text", ["", "~~~", "x~00~y~z", "2026-01-01T00:00:00+00:00~0٣~2026-01-01T00:00:00+00:00~" + "0" * 32]
)
def test_a_place_that_is_none_is_the_beginning(text: str) -> None:
    """IN-M18: what the address says is a moment, two digits and a key, or nothing."""
    assert order.read(text) is None


def test_the_settled_of_today_go_on_as_well(cast: Cast, reads: Reads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "PAGE", 1)
    for _ in range(2):
        say(ask(cast, refund()), cast.priya, "reject", message="No.")
    client = reads(cast.dana)
    first = client.get("/w/northwind/?tab=settled").context
    second = client.get("/w/northwind/", {"tab": "settled", "after": str(first["next"])}).context
    assert len({one["groups"][0].rows[0].public_id for one in (first, second)}) == 2 and not second["next"]
