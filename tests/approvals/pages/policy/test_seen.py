"""The policy's pages in a browser: accessible, and no wider than a phone."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import policies, policy_drafts
from tests.axe import problems_in_both
from tests.cast import POLICY, Cast

pytestmark = [pytest.mark.committed, pytest.mark.usefixtures("heard")]
CASES = "cases:\n  - {name: small, tool: payments.create_refund, args: {amount: 5000}, expect: deny}\n"
HEAD = "\nmasks: {payments.create_payout: [/iban, /beneficiary/birth_date]}\nlimits: {yeses_per_minute: 10}\n"


def pages(cast: Cast) -> dict[str, str]:
    """A path for each page, with something on it."""
    policies.load(cast.northwind, POLICY + HEAD, by=cast.omar.public_id, author=cast.omar)
    draft = policy_drafts.begin(cast.northwind, by=cast.omar)
    assert isinstance(draft, policy_drafts.Draft)
    text = POLICY.replace("maximum: 100000", "maximum: 80000").replace("id: refunds", f"id: {'refunds-' * 8}x")
    answer = policy_drafts.save(draft, by=cast.omar, number=1, text=text, cases=CASES)
    assert isinstance(answer, policy_drafts.Draft)
    at = f"/w/northwind/policy/drafts/{draft.public_id}"
    paths = {"policy": "/w/northwind/policy", "changes": "/w/northwind/policy?view=changes", "text": f"{at}/text"}
    return paths | {"draft": f"{at}?backtest=yes", "rule": f"{at}/rule?rule=large-refunds"}


@pytest.mark.lasts(30)
def test_the_pages_of_the_policy_hold_in_both_themes_and_at_320(cast: Cast, page_as: Any) -> None:
    found: dict[str, Any] = {}
    page = page_as(cast.omar, reduced_motion="reduce")
    for name, path in pages(cast).items():
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(path)
        found |= {name: lines} if (lines := problems_in_both(page)) else {}
        page.set_viewport_size({"width": 320, "height": 700})
        wide = page.evaluate("document.documentElement.scrollWidth")
        found |= {f"{name} at 320": wide} if wide > 320 else {}
    assert found == {}
