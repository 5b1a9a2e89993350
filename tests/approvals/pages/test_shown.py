"""What a page shows is what counts at the door: the people, the rule, and every argument before the button."""

from __future__ import annotations

import pytest

from approvals.decisions import Decided, standing
from tests.approvals.pages.conftest import Reads, at
from tests.cast import Cast, ask, refund, say

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
