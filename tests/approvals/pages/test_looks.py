"""Who else looks, as pages tell it."""

from __future__ import annotations

import pytest

from approvals import looking
from tests.approvals.pages.conftest import Reads, at
from tests.cast import Cast, ask, refund

pytestmark = [pytest.mark.committed, pytest.mark.usefixtures("heard", "broker")]


def test_the_others_see_it_on_the_row_and_on_the_page(cast: Cast, reads: Reads) -> None:
    """One does not see oneself."""
    asked = ask(cast, refund())
    looking.here(cast.priya, asked)
    for client, seen in ((reads(cast.dana), True), (reads(cast.priya), False)):
        assert ("Priya looks at this" in client.get("/w/northwind/").content.decode()) is seen
        assert ("Priya looks at this" in client.get(at(asked, "/looks")).content.decode()) is seen
        assert ("Priya looks at this" in client.get("/w/northwind/looks").content.decode()) is seen
