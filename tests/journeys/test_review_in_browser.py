"""The pages in a real browser: read, edit, decide, live, by keys, without JavaScript, on a narrow screen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from approvals import outcomes, rows
from approvals.approvals import Approval, Resolution
from tests import cast as casting
from tests.cast import PASSWORD, Cast, ask, refund, say

pytestmark = [pytest.mark.committed, pytest.mark.usefixtures("broker")]
Opens = Callable[..., Page]
HEARD: list[Resolution] = []


def hear(resolution: Resolution) -> None:
    """Stands where the machine's `resolved` stands."""
    HEARD.append(resolution)


@pytest.fixture
def cast(committed_db: str, settings: Any) -> Cast:
    """The cast, with an ear in the machine's place."""
    settings.PLACET_RESOLVED = f"{__name__}.hear"
    HEARD.clear()
    return casting.assemble()


@pytest.fixture
def opens(page_as: Opens) -> Iterator[Opens]:
    """`opens(person, path, **context)`: a page at a path; what its console complains of fails the test."""
    complaints: list[str] = []

    def open_page(person: Any, path: str, **context: Any) -> Page:
        page = page_as(person, **context)
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path)
        return page

    yield open_page
    expected = re.compile("status of 4|Response Status Error Code 4")
    assert [text for text in complaints if not expected.search(text)] == []


def at(approval: Approval, rest: str = "") -> str:
    return f"/w/northwind/approvals/{approval.public_id}{rest}"


def report(approval: Approval, outcome: str) -> None:
    """What the machine says once it has run the call."""
    with rows.within(approval.workspace_id):
        told = {"note": "", "checkpoint_mac": ""}
        outcomes.report(approval.workspace_id, approval.chain, approval.subject, outcome, **told)


def test_a_person_signs_in_reads_edits_approves_and_sees_it_run(cast: Cast, opens: Opens) -> None:
    """The whole way of one approval, through forms alone, ending with the outcome on the same page without a reload."""
    approval = ask(cast, refund(42_000))
    page = opens(None, "/")
    page.get_by_label("E-mail").fill(cast.dana.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("link", name="Refund €420.00").click()
    page.get_by_role("link", name="Edit").click()
    page.locator("input.number").fill("310.00")
    page.get_by_label("Why").fill("Only half was wet.")
    page.get_by_label("I have read what I approve").check()
    page.get_by_role("button", name="Save and approve").click()
    expect(page.locator("h1")).to_contain_text("Refund €310.00")
    expect(page.locator("h1")).to_be_focused()
    expect(page.locator(".chip")).to_have_text("Approved, about to run")
    report(approval, "executed")
    expect(page.locator(".chip")).to_have_text("Done", timeout=10_000)
    assert len(HEARD) == 1 and approval.decisions.filter(verdict="approve").count() == 1


def test_an_edit_while_reading_takes_the_buttons_away_and_keeps_the_comment(cast: Cast, opens: Opens) -> None:
    """WB-3: live, then shown, then decided, with the comment typed at the beginning."""
    approval = ask(cast, refund(142_000))
    page = opens(cast.priya, at(approval))
    page.get_by_label("Comment").fill("Check with the warehouse")
    expect(page.locator("html")).to_have_attribute("data-live", "stream")
    say(approval, cast.dana, "edit", edited=refund(124_000))
    expect(page.locator("#notice")).to_contain_text("Dana changed this while you were reading.", timeout=10_000)
    expect(page.locator("#status")).to_have_class("status fresh")
    expect(page.get_by_label("Comment")).to_have_value("Check with the warehouse")
    assert page.get_by_role("button", name=re.compile("Approve")).count() == 0
    page.get_by_role("button", name="Show 1 change").click()
    expect(page.locator("ins")).to_contain_text("€1,240.00")
    expect(page.get_by_label("Comment")).to_have_value("Check with the warehouse")
    page.get_by_label("I have read it").check()
    page.get_by_role("button", name="Approve €1,240.00 refund").click()
    expect(page.locator(".chip")).to_have_text("Approved, about to run")
    assert approval.decisions.filter(person=cast.priya).count() == 1


def test_a_no_while_reading_is_said_first_and_what_was_typed_can_still_be_said(cast: Cast, opens: Opens) -> None:
    """WB-3: the page is another by itself; the words wait in the comment, and nothing was decided with them."""
    approval = ask(cast, refund(42_000))
    page = opens(cast.priya, at(approval))
    page.get_by_label("Comment").fill("Check with the warehouse")
    expect(page.locator("html")).to_have_attribute("data-live", "stream")
    say(approval, cast.dana, "reject", message="It is replaced already.")
    expect(page.locator("#notice")).to_contain_text("Dana said no while you were reading.", timeout=10_000)
    expect(page.get_by_role("textbox", name=re.compile("^Say something"))).to_have_value("Check with the warehouse")
    expect(page.get_by_text("What you had typed stands")).to_be_visible()
    assert page.get_by_role("button", name=re.compile("Approve")).count() == 0


def test_a_double_click_is_one_decision(cast: Cast, opens: Opens) -> None:
    approval = ask(cast, refund(142_000))
    page = opens(cast.dana, at(approval))
    page.get_by_label("I have read it").check()
    page.get_by_role("button", name="Approve €1,420.00 refund").dblclick()
    expect(page.locator("#quorum")).to_contain_text("1 of 2")
    assert approval.decisions.count() == 1


def test_the_back_button_and_a_stale_tab_say_what_happened(cast: Cast, opens: Opens) -> None:
    """IN-M17: two tabs and the way back; one decision, and each tab told."""
    approval = ask(cast, refund())
    page = opens(cast.dana, at(approval))
    other = page.context.new_page()
    for of_news in (r"/live(\?|$)", "[?&]seen="):
        other.route(re.compile(of_news), lambda route: route.abort())
    other.goto(at(approval))
    other.get_by_label("Comment").fill("No!")
    page.get_by_label("I have read it").check()
    page.get_by_role("button", name="Approve €420.00 refund").click()
    expect(page.locator(".chip")).to_have_text("Approved, about to run")
    page.go_back()
    expect(page.locator(".chip")).to_have_text("Approved, about to run")
    other.evaluate("document.querySelector('[value=reject]').click()")
    expect(other.locator(".notice")).to_contain_text("Dana Okafor gave the deciding yes")
    assert approval.decisions.count() == 1


def test_everything_works_without_javascript(cast: Cast, opens: Opens) -> None:
    """WB-5: the yes too, which cannot be pressed in the first seconds, and which the server then does not take."""
    one, other = ask(cast, refund(42_000)), ask(cast, refund(43_000))
    page = opens(cast.dana, "/w/northwind/?q=riley", java_script_enabled=False)
    page.get_by_label("Risk").select_option("high")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("link", name="Refund €420.00").click()
    page.get_by_role("button", name="Reject").click()
    expect(page.locator(".error")).to_contain_text("Say why")
    page.get_by_label("Comment").fill("Already replaced")
    page.get_by_role("button", name="Reject").click()
    expect(page.locator(".chip")).to_have_text("Rejected")
    page.get_by_role("link", name="Open the next one").click()
    page.get_by_role("link", name="Edit").click()
    page.get_by_role("button", name="JSON").click()
    page.get_by_role("textbox", name="Arguments").fill(
        '{"amount": 41000, "charge": "ch_3PqT2eLk9fZ", "currency": "eur"}'
    )
    page.get_by_label("I have read what I approve").check()
    page.get_by_role("button", name="Save and approve").press("Enter")
    expect(page.locator(".notice")).to_contain_text("Nothing is lost: read on, then press again.")
    page.get_by_role("button", name="Save and approve").click()
    expect(page.locator("h1")).to_contain_text("Refund €410.00")
    one.refresh_from_db()
    other.refresh_from_db()
    assert (one.status, other.status) == ("rejected", "approved")


def test_a_new_approval_appears_by_itself(cast: Cast, opens: Opens) -> None:
    page = opens(cast.dana, "/w/northwind/")
    expect(page.get_by_text("Nothing was ever asked here")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("data-live", "stream")
    ask(cast, refund(42_000))
    expect(page.get_by_role("link", name="Refund €420.00")).to_be_visible(timeout=10_000)


def test_an_arrival_leaves_what_is_being_typed(cast: Cast, opens: Opens) -> None:
    """The list and the counts change; the search and its lists stay as they are."""
    page = opens(cast.dana, "/w/northwind/")
    expect(page.locator("html")).to_have_attribute("data-live", "stream")
    page.get_by_label("Tool, agent, asker or a word of the arguments").type("rile")
    ask(cast, refund(42_000))
    expect(page.get_by_role("link", name="Refund €420.00")).to_be_visible(timeout=10_000)
    expect(page.get_by_label("Tool, agent, asker or a word of the arguments")).to_be_focused()
    expect(page.get_by_label("Tool, agent, asker or a word of the arguments")).to_have_value("rile")
    expect(page.locator("#tabs")).to_contain_text("For you 1")
    expect(page.locator("#waiting")).to_have_text("1")


def test_what_happens_between_the_page_and_its_stream_is_not_missed(cast: Cast, opens: Opens, page_as: Opens) -> None:
    """The page looks once when its stream opens."""
    approval = ask(cast, refund())
    page = page_as(cast.priya)
    held: list[Any] = []
    page.route(re.compile(r"/live(\?|$)"), lambda route: held.append(route))
    page.goto(at(approval))
    say(approval, cast.dana, "reject", message="No.")
    page.wait_for_function("document.readyState === 'complete'")
    for route in held:
        route.continue_()
    expect(page.locator(".chip")).to_have_text("Rejected", timeout=4_000)


def test_new_rows_wait_while_a_row_has_the_focus(cast: Cast, opens: Opens) -> None:
    ask(cast, refund(42_000))
    page = opens(cast.dana, "/w/northwind/")
    expect(page.locator("html")).to_have_attribute("data-live", "stream")
    page.keyboard.press("j")
    ask(cast, refund(43_000))
    expect(page.get_by_role("button", name="1 new")).to_be_visible(timeout=10_000)
    assert page.locator(".rows .row").count() == 1
    expect(page.locator(".rows .row").first).to_be_focused()
    page.get_by_role("button", name="1 new").click()
    expect(page.locator(".rows .row")).to_have_count(2)


def test_a_row_keeps_the_focus_when_another_changes(cast: Cast, opens: Opens) -> None:
    one, pair = ask(cast, refund(42_000)), ask(cast, refund(142_000))
    page = opens(cast.dana, "/w/northwind/")
    expect(page.locator("html")).to_have_attribute("data-live", "stream")
    page.keyboard.press("j")
    say(pair, cast.priya, "approve")
    expect(page.locator(f"#{pair.public_id}")).to_contain_text("1 of 2", timeout=10_000)
    expect(page.locator(f"#{pair.public_id}")).to_have_class("fresh")
    expect(page.locator(f"#{one.public_id} a")).to_be_focused()


def test_without_the_stream_the_page_looks_again_every_five_seconds(cast: Cast, opens: Opens, page_as: Opens) -> None:
    approval = ask(cast, refund())
    page = page_as(cast.priya)
    page.route(re.compile(r"/live(\?|$)"), lambda route: route.abort())
    page.goto(at(approval))
    expect(page.locator("html")).to_have_attribute("data-live", "polling")
    say(approval, cast.dana, "reject", message="No.")
    expect(page.locator(".chip")).to_have_text("Rejected", timeout=12_000)


def test_a_page_whose_session_ended_says_so_and_takes_nothing_away(cast: Cast, opens: Opens) -> None:
    """WB-7: what was typed can still be copied."""
    approval = ask(cast, refund(142_000))
    page = opens(cast.priya, at(approval))
    page.get_by_label("Comment").fill("A long thought")
    expect(page.locator("html")).to_have_attribute("data-live", "stream")
    Session.objects.all().delete()  # and not the cookie: the page may be asking with it at this very moment
    say(approval, cast.dana, "approve")
    expect(page.locator("#ended")).to_contain_text("you are signed out", timeout=12_000)
    expect(page.get_by_label("Comment")).to_have_value("A long thought")


def test_keys_move_the_focus_and_none_decides(cast: Cast, opens: Opens) -> None:
    one, other = ask(cast, refund(42_000)), ask(cast, refund(43_000))
    page = opens(cast.dana, "/w/northwind/")
    for key, row in (("j", one), ("j", other), ("j", other), ("k", one)):
        page.keyboard.press(key)
        expect(page.locator(f"#{row.public_id} a")).to_be_focused()
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("jkear")
    expect(page.locator("#q")).to_have_value("jkear")
    page.goto(at(one))
    page.keyboard.press("a")
    expect(page.get_by_role("button", name=re.compile("Approve"))).to_be_focused()
    page.keyboard.press("r")
    expect(page.get_by_role("button", name="Reject")).to_be_focused()
    page.keyboard.press("j")
    expect(page).to_have_url(re.compile(other.public_id))
    page.keyboard.press("e")
    expect(page).to_have_url(re.compile("/edit$"))
    assert not one.decisions.exists() and not other.decisions.exists()


def test_keys_can_be_turned_off(cast: Cast, opens: Opens) -> None:
    ask(cast, refund())
    page = opens(cast.dana, "/w/northwind/")
    page.locator(".menu:not(.small-places) > summary").click()
    page.get_by_label("Single keys").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    assert page.locator(".row:focus").count() == 0


def test_a_link_to_a_part_of_the_list_can_be_shared(cast: Cast, opens: Opens) -> None:
    ask(cast, refund())
    page = opens(cast.riley, "/w/northwind/?tab=others")
    page.get_by_label("Risk").select_option("low")
    expect(page.get_by_text("Nothing fits")).to_be_visible()
    expect(page).to_have_url(re.compile("risk=low"))


@pytest.mark.parametrize("width", [320, 390])
def test_nothing_scrolls_sideways_and_targets_are_large(cast: Cast, opens: Opens, width: int) -> None:
    """A phone of 320 pixels shows everything in one column; verdicts, fields and links are 44 pixels high."""
    approval = ask(cast, refund(142_000, note="word " * 50 + "x" * 200))
    say(approval, cast.dana, "edit", edited=refund(124_000, note="word " * 51 + "y" * 200))
    say(ask(cast, refund()), cast.dana, "approve")
    page = opens(cast.priya, "/w/northwind/", viewport={"width": width, "height": 700})
    paths = ["/w/northwind/?tab=settled", at(approval), at(approval, "/edit"), at(approval, "/edit?mode=json")]
    for path in [*paths, "/w/northwind/ledger", "/w/northwind/runs", "/w/northwind/nothing"]:
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    page.goto(at(approval))
    for name in ("Reject", "Approve €1,240.00 refund"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box is not None and box["height"] >= 44
    page.get_by_role("link", name="Decide").click()
    expect(page.get_by_role("button", name="Reject")).to_be_in_viewport()
    expect(page.get_by_role("link", name="Decide")).to_be_hidden()


def test_print_shows_the_page_without_its_controls(cast: Cast, opens: Opens) -> None:
    page = opens(cast.dana, at(ask(cast, refund())))
    page.emulate_media(media="print")
    expect(page.locator(".bar")).to_be_hidden()
    expect(page.locator("#decision")).to_be_hidden()
    expect(page.locator("#what")).to_be_visible()
    expect(page.locator("#why")).to_be_visible()


def test_times_are_the_readers_and_keep_true(cast: Cast, opens: Opens) -> None:
    """The zone is told to the server once; the next page is right from its first byte."""
    approval = ask(cast, refund())
    page = opens(cast.dana, at(approval), timezone_id="America/Los_Angeles")
    expected = page.evaluate(
        "new Intl.DateTimeFormat('en-GB', {hour: '2-digit', minute: '2-digit'})"
        ".format(new Date(document.querySelector('#status time[data-as=at]').dateTime))"
    )
    expect(page.locator("#status time[data-as=at]")).to_contain_text(expected)
    page.reload()
    assert f">{expected}</time>" in page.context.request.get(page.url).text() or expected in page.content()
