"""What a page shows is what counts at the door: the people, the rule, and every argument before the button."""

from __future__ import annotations

import pytest

from approvals import gate
from approvals.decisions import Decided, standing
from tests.approvals.pages.conftest import Reads, at
from tests.cast import REFUND_SCHEMA, Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")


@pytest.mark.parametrize("name", ["dana", "priya", "riley", "omar", "oskar"])
def test_who_is_said_to_decide_is_who_may(cast: Cast, name: str) -> None:
    """CH-B31, AZ-10: one list for what is told and for what is taken."""
    approval, person = ask(cast, refund()), getattr(cast, name)
    told = standing(approval, person)
    others = {each.name for each in told.others}
    assert others == {"Dana Okafor", "Priya Nair"} - {person.name}
    assert told.may is isinstance(say(approval, person, "approve"), Decided) is (name in {"dana", "priya"})


def test_what_will_run_is_open_before_the_reader_and_above_the_button(cast: Cast, reads: Reads) -> None:
    """CH-B48: nothing that is approved is folded away behind prose."""
    html = reads(cast.dana).get(at(ask(cast, refund(note="the very end")))).content.decode()
    what = html.index('id="what"')
    shown = html.index("the very end", what)
    assert shown < html.index("<details", what) and html.index('class="args"') < shown


def test_reason_rule_and_risk_are_said_with_the_question(cast: Cast, reads: Reads) -> None:
    """CH-B50, RN-10: why the agent wants it, why one is asked, and how much is at stake."""
    html = reads(cast.dana).get(at(ask(cast, refund()))).content.decode()
    assert "Two pallets arrived wet." in html and "refunds" in html and "high risk" in html.lower()


LONG = {**REFUND_SCHEMA, "properties": {**REFUND_SCHEMA["properties"], "note": {"type": "string"}}}
TOOL = gate.ToolFacts("payments.create_refund", "Create a refund", "d" * 64, LONG, "", "keyed", "medium")


def test_a_long_text_can_be_folded_and_is_not_folded_by_itself(cast: Cast, reads: Reads) -> None:
    """CH-B48, RN-7: it is open whenever the page is opened, to its last word."""
    html = reads(cast.dana).get(at(ask(cast, refund(note="word " * 400 + "the very end"), tool=TOOL))).content.decode()
    fold = html.index('<details class="fold" open>')
    assert fold < html.index("the very end") < html.index("</details>", fold)


def test_a_text_from_right_to_left_is_compared_from_right_to_left(cast: Cast, reads: Reads) -> None:
    """The changed words stand where a reader of that script looks for them, each on its own."""
    approval = ask(cast, refund(note="وصلت منصتان مبللتان من خمس منصات. " * 4), tool=TOOL)
    say(approval, cast.dana, "edit", edited=refund(note="وصلت منصتان جافتان من خمس منصات. " * 4))
    html = reads(cast.priya).get(at(approval)).content.decode()
    assert '<span class="runs" dir="rtl">' in html and "<del><span" in html
