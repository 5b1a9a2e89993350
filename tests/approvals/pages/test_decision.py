"""Giving a verdict on the page: once, on what was seen, with what was typed kept."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from django.test.client import encode_multipart

from approvals import policies
from approvals.approvals import Approval
from approvals.decisions import message_of
from approvals.ledger import canonical
from tests.approvals.pages.conftest import Reads, at, form_of
from tests.cast import Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")


def post(reads: Reads, person: Any, approval: Approval, **fields: Any) -> Any:
    form = fields.pop("form", None) or form_of(approval)
    return reads(person).post(at(approval, "/decision"), form | fields)


def test_a_yes_leads_to_the_outcome(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund())
    answer = post(reads, cast.dana, approval, verdict="approve", comment="Fine.")
    approval.refresh_from_db()
    assert answer.status_code == 302 and answer["Location"] == at(approval) + "#outcome"
    assert approval.status == "approved" and approval.decisions.get().decided_via == "web"


def test_a_no_needs_a_reason_and_keeps_the_page(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund())
    answer = post(reads, cast.dana, approval, verdict="reject")
    html = answer.content.decode()
    assert answer.status_code == 422 and "Say why" in html and 'aria-invalid="true"' in html
    assert post(reads, cast.dana, approval, verdict="reject", comment="No.").status_code == 302


def test_a_yes_that_needs_words_says_so_and_keeps_the_page(cast: Cast, reads: Reads) -> None:
    """HF-2: the field says that it is needed; a signed-in session is more than a click."""
    words = {"require_message_on": ["approve"], "assurance": "session"}
    rule = {"id": "r", "match": {}, "verdict": "require_approval", "approvals": [{"team": "finance"}]} | words
    policies.load(cast.northwind, canonical.encode({"policy": 1, "rules": [rule]}), by="system")
    approval = ask(cast, refund())
    assert "· needed</span>" in reads(cast.dana).get(at(approval)).content.decode()
    answer = post(reads, cast.dana, approval, verdict="approve")
    assert answer.status_code == 422 and "wants a reason in words" in answer.content.decode()
    assert post(reads, cast.dana, approval, verdict="approve", comment="Checked.").status_code == 302


@pytest.mark.parametrize(("comment", "told"), [("x" * 4001, "at most 4000"), ("two\x00parts", "cannot hold U+0000")])
@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_a_comment_that_cannot_be_is_refused_at_its_field(
    cast: Cast, reads: Reads, verdict: str, comment: str, told: str
) -> None:
    """The same answer as the API's; what was typed stays."""
    approval = ask(cast, refund())
    answer = post(reads, cast.dana, approval, verdict=verdict, comment=comment)
    html = answer.content.decode()
    assert answer.status_code == 422 and told in html and 'aria-describedby="comment-fault"' in html
    assert f"{comment}</textarea>" in html and not approval.decisions.exists()


def test_the_end_of_a_line_counts_as_one_character(cast: Cast, reads: Reads) -> None:
    """A browser lets 4,000 characters through and sends two for each end of a line."""
    approval = ask(cast, refund())
    answer = post(reads, cast.dana, approval, verdict="reject", comment="No.\r\n" * 1000)
    assert answer.status_code == 302
    assert message_of(approval.decisions.get()) == ("No.\n" * 1000).strip()


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=b"])
def test_a_form_that_is_no_text_decides_nothing(cast: Cast, reads: Reads, kind: str) -> None:
    """Nobody's words are changed in silence: bytes that are no UTF-8 are refused, not replaced."""
    approval = ask(cast, refund())
    fields = form_of(approval, verdict="reject", comment="caf\u00e9")
    body = urlencode(fields, encoding="latin-1").encode()
    if kind.startswith("multipart"):
        body = encode_multipart("b", fields).decode().encode("latin-1")
    answer = reads(cast.dana).generic("POST", at(approval, "/decision"), body, kind)
    assert answer.status_code == 400 and "Nothing was decided" in answer.content.decode()
    assert not approval.decisions.exists()


def test_a_digest_that_is_none_is_no_fault_of_ours(cast: Cast, reads: Reads) -> None:
    """Also when the approval is settled already."""
    approval = ask(cast, refund())
    say(approval, cast.priya, "approve")
    assert post(reads, cast.dana, approval, verdict="approve", digest="\x00").status_code == 409


@pytest.mark.parametrize("verdict", ["", "APPROVE", "approve ", "yes", "edit", "show", "null"])
def test_nothing_but_the_word_itself_approves(cast: Cast, reads: Reads, verdict: str) -> None:
    """AP-V1, AP-V11: a missing or strange answer decides nothing."""
    approval = ask(cast, refund())
    assert post(reads, cast.dana, approval, verdict=verdict).status_code == 409
    assert not approval.decisions.exists()


def test_a_form_of_an_older_revision_shows_the_change_and_keeps_the_comment(cast: Cast, reads: Reads) -> None:
    """WB-3: a stale tab decides nothing."""
    approval = ask(cast, refund(142_000))
    form = form_of(approval)
    say(approval, cast.dana, "edit", edited=refund(124_000))
    answer = post(reads, cast.priya, approval, form=form, verdict="approve", comment="Check with the warehouse")
    html = answer.content.decode()
    assert answer.status_code == 409 and "Dana changed this while you were reading." in html
    assert "Check with the warehouse</textarea>" in html and "€1,420.00</del>" in html and "€1,240.00</ins>" in html
    assert not approval.decisions.filter(person=cast.priya).exists()


def test_the_changes_since_what_was_seen_are_marked(cast: Cast, reads: Reads) -> None:
    """WB-3: who saw revision 2 is shown what changed since revision 2."""
    approval = ask(cast, refund(142_000))
    say(approval, cast.dana, "edit", edited=refund(124_000))
    form = form_of(approval)
    say(approval, cast.dana, "edit", edited=refund(123_000))
    html = post(reads, cast.priya, approval, form=form, verdict="show", comment="x").content.decode()
    assert "€1,240.00</del>" in html and "€1,230.00</ins>" in html and "Compared with revision 2" in html


@pytest.mark.parametrize("changed", [{"digest": "0" * 64}, {"digest": ""}, {"revision": ""}, {"revision": "9" * 30}])
def test_a_form_with_another_digest_decides_nothing(cast: Cast, reads: Reads, changed: dict[str, str]) -> None:
    """WB-3: id, revision and digest together name what was seen."""
    approval = ask(cast, refund())
    assert post(reads, cast.dana, approval, verdict="approve", **changed).status_code == 409
    assert not approval.decisions.exists()


def test_a_double_click_is_one_decision(cast: Cast, reads: Reads) -> None:
    """IN-M17: the second arrival changes nothing, and is no error."""
    approval = ask(cast, refund(142_000))
    form = form_of(approval, verdict="approve")
    client = reads(cast.dana)
    answers = [client.post(at(approval, "/decision"), form) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [302, 302, 302]
    assert approval.decisions.count() == 1


def test_a_form_sent_again_after_the_end_leads_to_the_outcome(cast: Cast, reads: Reads) -> None:
    """Back button, then the same form once more: the page says what already happened."""
    approval = ask(cast, refund())
    form = form_of(approval, verdict="approve")
    client = reads(cast.dana)
    client.post(at(approval, "/decision"), form)
    answer = client.post(at(approval, "/decision"), form, follow=True)
    assert "Approved by you" in answer.content.decode() and approval.decisions.count() == 1


def test_the_other_answer_from_a_second_tab_is_told_what_happened(cast: Cast, reads: Reads) -> None:
    """IN-M17: approve in one tab, reject in the other: one winner, the other told."""
    approval = ask(cast, refund())
    form = form_of(approval)
    post(reads, cast.dana, approval, form=form, verdict="approve")
    answer = post(reads, cast.dana, approval, form=form, verdict="reject", comment="No!")
    html = answer.content.decode()
    assert answer.status_code == 409 and "Too late." in html and "Dana Okafor gave the deciding yes" in html
    assert approval.decisions.count() == 1


def test_who_comes_after_somebody_else_is_told_who_and_when(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund())
    form = form_of(approval)
    say(approval, cast.priya, "reject", message="No.")
    html = post(reads, cast.dana, approval, form=form, verdict="approve", comment="Yes!").content.decode()
    assert "Priya Nair rejected it at" in html and "changed nothing" in html


def test_agents_text_in_a_comment_is_text(cast: Cast, reads: Reads) -> None:
    """IN-M9: what people write is inert too."""
    approval = ask(cast, refund())
    post(reads, cast.dana, approval, verdict="reject", comment="</textarea><script>alert(1)</script>")
    html = reads(cast.priya).get(at(approval)).content.decode()
    assert "<script>alert" not in html and "&lt;script&gt;alert(1)" in html
