"""Words that people have to give: what nobody can see says nothing, wherever they are needed."""

from __future__ import annotations

import pytest

from approvals import comments, glass, policies, words
from approvals.decisions import Decided, Refused
from approvals.pages import wishes
from tests.cast import POLICY, Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")

UNSEEN = ["", " \n\t", "\u3164", "\u2800\u2800", "\ufe0f", "\U000e0100", "\u200b \u00ad", "\u0301", "\x07", "\ue000"]


@pytest.mark.parametrize("text", UNSEEN, ids=ascii)
def test_what_nobody_can_see_says_nothing(text: str) -> None:
    """Spaces, fillers, selectors, marks that stand on nothing."""
    assert words.spoken(text) == ""


@pytest.mark.parametrize("text", ["No.", "é", "e\u0301", "❤\ufe0f", "不", "?"])
def test_what_can_be_seen_is_kept_without_the_blanks_around_it(text: str) -> None:
    assert words.spoken(f" {text}\n") == text


@pytest.mark.parametrize("text", ["\u3164", "\u2800 \ufe0f"], ids=ascii)
def test_everywhere_where_words_are_needed_they_can_be_seen(cast: Cast, text: str) -> None:
    """A reason, a comment, a finding, a wish: one rule for all of them."""
    policies.load(
        cast.northwind, POLICY.replace("editable:", "require_message_on: [reject]\n    editable:"), by="system"
    )
    approval = ask(cast, refund())
    refused = say(approval, cast.dana, "reject", message=text)
    assert isinstance(refused, Refused) and refused.code == "needs_message"
    left = comments.leave(cast.northwind.pk, approval.pk, by=cast.dana, text=text, via="web")
    assert isinstance(left, Refused) and left.code == "needs_message"
    found = glass._badly_found("right", text)
    assert found is not None and found.code == "needs_message"
    assert wishes.changes(wishes.read({"change-0": text}, {})) == []
    assert isinstance(say(approval, cast.dana, "reject", message="No."), Decided)
