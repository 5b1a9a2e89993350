"""The inbox in a real browser: who looks, several at once, by keys and without a script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from approvals import policies
from approvals.approvals import Approval, Resolution
from tests import cast as casting
from tests.approvals.pages.test_access import problems
from tests.cast import POLICY, Cast, ask, refund, say

pytestmark = [pytest.mark.committed, pytest.mark.usefixtures("broker")]
Opens = Callable[..., Page]
HEARD: list[Resolution] = []


def hear(resolution: Resolution) -> None:
    """Stands where the machine's `resolved` stands."""
    HEARD.append(resolution)


@pytest.fixture
def cast(committed_db: str, settings: Any) -> Cast:
    """The cast, under a policy that lets refunds of medium risk be answered together."""
    settings.PLACET_RESOLVED = f"{__name__}.hear"
    made = casting.assemble()
    text = POLICY.replace("deadline: 1h", "deadline: 1h\n    risk: medium\n    batch: true", 1)
    policies.load(made.northwind, text, by=made.omar.public_id, author=made.omar)
    return made


def test_who_looks_comes_and_goes_by_itself(cast: Cast, page_as: Opens) -> None:
    """On the row and on the page of the others, with nothing moved."""
    approval = ask(cast, refund())
    inbox, own, other = page_as(cast.dana), page_as(cast.dana), page_as(cast.priya)
    inbox.goto("/w/northwind/")
    own.goto(f"/w/northwind/approvals/{approval.public_id}")
    for page in (inbox, own):
        expect(page.locator("html")).to_have_attribute("data-live", "stream")
    before = inbox.locator(".row").bounding_box()
    other.goto(f"/w/northwind/approvals/{approval.public_id}")
    expect(inbox.locator(".row")).to_contain_text("Priya looks at this", timeout=10_000)
    expect(own.locator("#looking")).to_contain_text("Priya looks at this", timeout=10_000)
    assert inbox.locator(".row").bounding_box() == before
    other.goto("/w/northwind/")
    expect(inbox.locator(".row")).not_to_contain_text("looks at this", timeout=10_000)
    expect(own.locator("#looking")).to_be_empty(timeout=10_000)


def test_by_keys_several_are_selected_and_none_is_decided(cast: Cast, page_as: Opens) -> None:
    """What is selected stays so while the list is fetched anew; the verdict is pressed."""
    pair, grave = [ask(cast, refund(11_100 + number)) for number in range(2)], ask(cast, refund(142_000))
    page = page_as(cast.dana)
    page.goto("/w/northwind/")
    expect(page.locator("html")).to_have_attribute("data-live", "stream")
    for key in "jxjxjx":
        page.keyboard.press(key)
    expect(page.locator("[data-picked]")).to_have_text("2 selected")
    expect(page.locator("#spoken")).to_have_text("This one is answered on its own page.")
    say(grave, cast.priya, "approve")
    expect(page.locator(f"#{grave.public_id}")).to_contain_text("1 of 2", timeout=10_000)
    expect(page.locator(".pick :checked")).to_have_count(2)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Look through them").click()
    assert problems(page) == [] and set(Approval.objects.values_list("status", flat=True)) == {"pending"}
    page.get_by_role("button", name="Approve 2").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("All 2 are answered")
    assert {Approval.objects.get(pk=one.pk).status for one in pair} == {"approved"} and problems(page) == []


def test_without_a_script_several_are_answered_as_well(cast: Cast, page_as: Opens) -> None:
    for number in range(2):
        ask(cast, refund(11_100 + number))
    page = page_as(cast.dana, java_script_enabled=False, viewport={"width": 390, "height": 700}, has_touch=True)
    page.goto("/w/northwind/")
    page.get_by_role("link", name="Select several").click()
    for box in page.get_by_role("checkbox", name="Select: Refund").all():
        box.check()
    page.get_by_role("button", name="Look through them").click()
    page.get_by_label("Comment for all").fill("Not today.")
    page.get_by_role("button", name="Reject 2").click()
    expect(page.get_by_text("Rejected", exact=True)).to_have_count(2)
