"""What the pages say of deputies."""

from __future__ import annotations

from datetime import timedelta

import pytest

from approvals import absences, rows
from tests.approvals.pages.conftest import Reads, at, form_of
from tests.cast import Cast, ask, refund

pytestmark = pytest.mark.usefixtures("heard")


def test_the_page_says_in_whose_place_somebody_decides(cast: Cast, reads: Reads) -> None:
    """AZ-8: before the vote to the deputy, afterwards to everybody; and what they may decide is in their list."""
    until = rows.now() + timedelta(days=1)
    absences.announce(cast.northwind, cast.dana, kind="delegation", deputy=cast.omar, ends_at=until, by=None)
    approval = ask(cast, refund(200_000))
    deputy = reads(cast.omar)
    assert approval.public_id in deputy.get("/w/northwind/").content.decode()
    assert "You decide in the place of Dana Okafor" in deputy.get(at(approval)).content.decode()
    deputy.post(at(approval, "/decision"), form_of(approval, verdict="approve"))
    assert "Omar for Dana Okafor" in reads(cast.priya).get(at(approval)).content.decode()
    assert "Omar for you" in reads(cast.dana).get(at(approval)).content.decode()
