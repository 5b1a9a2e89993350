"""What happens to an approval while somebody reads it: they see it before they can vote, with what they typed."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import approvals, comments, halts, people, rows
from approvals.approvals import Approval
from tests.approvals.pages.conftest import Reads, at, form_of
from tests.cast import Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")


def news(reads: Reads, person: Any, approval: Approval, form: str = "1", seen: str = "1.0.pending") -> Any:
    """What the open page is told that was read at the first revision."""
    address = f"{at(approval)}?seen={seen}&form={form}"
    return reads(person).get(address, headers={"HX-Request": "true"})


def test_an_edit_takes_the_buttons_away_until_it_is_seen(cast: Cast, reads: Reads) -> None:
    """AP-E8, WB-5: the verdicts go, what was typed stays, and the way to the change stands in their place."""
    approval = ask(cast, refund(142_000))
    say(approval, cast.dana, "edit", edited=refund(90_000, note="as agreed"))
    html = news(reads, cast.priya, approval).content.decode()
    assert "Dana changed this while you were reading." in html and "Show 2 changes" in html
    assert 'value="approve"' not in html and 'id="comment"' not in html


def test_without_a_script_the_late_vote_shows_the_change_and_decides_nothing(cast: Cast, reads: Reads) -> None:
    """AP-D4: the form names the revision that was read; the comment is in its field again."""
    approval = ask(cast, refund(142_000))
    sent = form_of(approval, verdict="approve", comment="Photos match.")
    say(approval, cast.dana, "edit", edited=refund(90_000))
    answer = reads(cast.priya).post(at(approval, "/decision"), sent)
    html = answer.content.decode()
    assert answer.status_code == 409 and "Nothing was decided and your comment is kept." in html
    assert "Photos match.</textarea>" in html and "<del" in html
    assert approval.decisions.filter(person=cast.priya).count() == 0


@pytest.mark.parametrize(
    ("verdict", "told"),
    [("reject", "Dana said no while you were reading."), ("approve", "Dana gave the last yes while you were reading.")],
)
def test_what_was_decided_meanwhile_is_said_first(cast: Cast, reads: Reads, verdict: str, told: str) -> None:
    approval = ask(cast, refund())
    say(approval, cast.dana, verdict, message="No need.")
    answer = news(reads, cast.priya, approval)
    html = answer.content.decode()
    assert answer["HX-Retarget"] == "#page" and told in html
    assert "data-kept" in html and 'id="remark"' in html and 'value="approve"' not in html


def test_what_expired_meanwhile_is_said_first(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund())
    Approval.objects.filter(pk=approval.pk).update(expires_at=rows.now())
    approvals.expire_due()
    assert "Time ran out while you were reading." in news(reads, cast.priya, approval).content.decode()


def test_a_stop_takes_the_buttons_away_and_says_why(cast: Cast, reads: Reads) -> None:
    """What was typed stays, and the buttons come back when it goes on."""
    approval = ask(cast, refund())
    halts.begin(cast.northwind, by=cast.omar, reason="It refunds everything twice.")
    html = news(reads, cast.priya, approval).content.decode()
    assert "Nothing is decided until it goes on" in html and 'value="approve"' not in html
    halts.end(cast.northwind, by=cast.omar)
    assert 'value="approve"' in news(reads, cast.priya, approval, seen="1.0.pending.halted").content.decode()


def test_who_may_not_decide_any_more_is_told_so_in_place_of_the_buttons(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund())
    people.revoke(cast.priya, "decide", cast.finance, by="system")
    comments.leave(approval.workspace_id, approval.pk, by=cast.dana, text="Is that right?", via="web")
    html = news(reads, cast.priya, approval).content.decode()
    assert "You are not one of them." in html and 'value="approve"' not in html and "Is that right?" in html


def test_a_page_without_a_form_is_brought_anew_as_a_whole(cast: Cast, reads: Reads) -> None:
    """Whoever could not decide when they opened it may be able to now."""
    approval = ask(cast, refund())
    comments.leave(approval.workspace_id, approval.pk, by=cast.dana, text="Is that right?", via="web")
    answer = news(reads, cast.priya, approval, form="")
    assert answer["HX-Retarget"] == "#page" and 'value="approve"' in answer.content.decode()


def test_what_was_written_for_a_verdict_that_came_too_late_can_still_be_said(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund())
    sent = form_of(approval, verdict="approve", comment="Photos match.")
    say(approval, cast.dana, "reject", message="No.")
    html = reads(cast.priya).post(at(approval, "/decision"), sent).content.decode()
    assert "Too late." in html and "Photos match.</textarea>" in html


def test_side_by_side_is_an_address_and_shows_both_values(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund(142_000, note="two pallets"))
    say(approval, cast.dana, "edit", edited=refund(90_000, note="two of five pallets"))
    html = reads(cast.priya).get(at(approval) + "?view=sides").content.decode()
    assert '<del class="read">€1,420.00</del>' in html and '<ins class="read">€900.00</ins>' in html
    assert "<del><bdi>two pallets</bdi></del>" in html and "<ins><bdi>two of five pallets</bdi></ins>" in html
    assert 'view=sides#what" aria-current="true"' in html


def test_each_revision_on_the_way_to_the_vote_can_be_compared_with(cast: Cast, reads: Reads) -> None:
    """Proposed, edited, edited again: who changed what, who voted for it, and a link each."""
    approval = ask(cast, refund(142_000))
    say(approval, cast.dana, "edit", edited=refund(130_000))
    say(approval, cast.priya, "edit", edited=refund(120_000))
    html = reads(cast.omar).get(at(approval) + "?since=2&view=sides").content.decode()
    assert "€1,300.00</del>" in html and "€1,200.00</ins>" in html and "€1,420.00</del>" not in html
    assert "Dana changed amount</a>" in html and "voted for by Dana" in html and "?view=sides#what" in html
