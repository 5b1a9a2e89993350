"""What the pages say while nobody decides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from approvals import gate
from tests.approvals.pages.conftest import Reads, at
from tests.approvals.test_deadlines import LEVELS, rule
from tests.cast import Cast, ask, refund
from tests.clock import set_forward

pytestmark = pytest.mark.usefixtures("heard")


@pytest.fixture
def an_hour_later() -> Iterator[Any]:
    """Let the database's clock stand past the first level."""

    def forward() -> None:
        set_forward(4000)

    yield forward
    set_forward(0)


def test_the_page_says_who_may_decide_next_and_by_now(cast: Cast, reads: Reads, an_hour_later: Any) -> None:
    """RL-7: to those who are asked now, and in the list and on the page of those who are new."""
    rule(cast, f"remind_after: 30m\n    {LEVELS}")
    approval = ask(cast, refund())
    manager = reads(cast.omar)
    assert "Managers may decide as well" in reads(cast.dana).get(at(approval)).content.decode()
    assert "for-you" not in _tab_of(manager, approval.public_id)
    an_hour_later()
    gate.do_due()
    page = manager.get(at(approval)).content.decode()
    assert "Needs <b>one of Finance or Managers</b>" in page and "Waiting for one of Finance or Managers" in page
    assert "Nobody had decided, so Managers may decide as well" in page and "Board may decide as well" in page
    assert "Reminded Dana Okafor, Omar Haddad, Priya Nair" in page and 'value="approve"' in page
    assert "for-you" in _tab_of(manager, approval.public_id)


def _tab_of(client: Any, public_id: str) -> list[str]:
    """The tabs of a reader's inbox in which an approval stands."""
    pages = {tab: client.get(f"/w/northwind/?tab={tab}").content.decode() for tab in ("for-you", "others")}
    return [tab for tab, page in pages.items() if public_id in page]
