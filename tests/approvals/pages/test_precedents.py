"""Precedents: the last calls like this one, with who decided them and why not."""

from __future__ import annotations

import pytest

from approvals.approvals import Approval
from tests.approvals.pages.conftest import Reads, at, tamper
from tests.cast import Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")


def section(reads: Reads, cast: Cast, approval: Approval) -> str:
    html = reads(cast.dana).get(at(approval)).content.decode()
    start = html.find('id="precedents"')
    return html[start : html.index("</section>", start)] if start >= 0 else ""


def settled(cast: Cast, verdict: str, amount: int, message: str = "") -> Approval:
    approval = ask(cast, refund(amount))
    say(approval, cast.priya, verdict, message=message)
    return approval


def test_the_last_three_are_told_the_newest_first(cast: Cast, reads: Reads) -> None:
    for amount in (10_000, 20_000, 30_000):
        settled(cast, "approve", amount)
    settled(cast, "reject", 40_000, "already replaced")
    html = section(reads, cast, ask(cast, refund(50_000)))
    assert "Last three like this" in html and "3 of 4 approved in 90 days" in html and "€100.00" not in html
    assert html.index("€400.00") < html.index("€300.00") < html.index("€200.00")
    assert "by Priya: “<bdi>already replaced</bdi>”" in html


def test_the_first_of_its_kind_has_none(cast: Cast, reads: Reads) -> None:
    """Neither itself, nor what is open, nor what nobody decided counts."""
    first = ask(cast, refund())
    ask(cast, refund(43_000))
    assert section(reads, cast, first) == ""


def test_another_tool_is_no_precedent(cast: Cast, reads: Reads) -> None:
    """Only calls of the very same tool are like it."""
    done = settled(cast, "approve", 10_000)
    approval = ask(cast, refund())
    Approval.objects.filter(pk=done.pk).update(tool="payments.other")
    assert section(reads, cast, approval) == ""


def test_one_that_was_tampered_with_says_so_and_takes_nothing_along(cast: Cast, reads: Reads) -> None:
    done = settled(cast, "approve", 10_000)
    tamper(done)
    html = section(reads, cast, ask(cast, refund()))
    assert "its arguments are not the ones that were sealed" in html


def test_a_long_reason_is_cut(cast: Cast, reads: Reads) -> None:
    settled(cast, "reject", 10_000, "no " * 60 + "the very end")
    html = section(reads, cast, ask(cast, refund()))
    assert "no no…" in html and "the very end" not in html
