"""The edit page: what was written is what becomes the next revision, or it is refused at its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from approvals.approvals import Approval
from approvals.ledger import canonical
from approvals.pages.cards import args_in
from tests.approvals.pages.conftest import Reads, at, form_of
from tests.cast import Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")


def save(reads: Reads, person: Any, approval: Approval, text: str, **more: Any) -> Any:
    fields = form_of(approval, mode="json", do="save", message="As offered.", text=text) | more
    return reads(person).post(at(approval, "/edit"), fields)


def current(approval: Approval) -> Any:
    approval.refresh_from_db()
    return args_in(approval.revisions.select_related("ruling").get(number=approval.revision))


def test_the_json_page_shows_the_arguments_as_they_are(cast: Cast, reads: Reads) -> None:
    html = reads(cast.dana).get(at(ask(cast, refund()), "/edit?mode=json")).content.decode()
    assert "&quot;amount&quot;: 42000" in html and 'aria-current="true">JSON' in html


def test_the_form_is_drawn_from_the_schema(cast: Cast, reads: Reads) -> None:
    html = reads(cast.dana).get(at(ask(cast, refund()), "/edit")).content.decode()
    assert 'name="f:' in html and "420.00" in html and "Save and approve" in html


def test_a_saved_edit_is_the_next_revision_and_a_vote(cast: Cast, reads: Reads) -> None:
    """AP-E1, AP-E4, AP-E5: types stay: an integer an integer, null null."""
    approval = ask(cast, refund(142_000))
    answer = save(reads, cast.dana, approval, json.dumps(refund(124_000, note=None)))
    assert answer.status_code == 302 and answer["Location"] == at(approval) + "#outcome"
    assert current(approval) == {**refund(124_000), "note": None} and approval.revision == 2
    assert approval.decisions.filter(verdict="approve", revision=2).get().person == cast.dana


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ('{\n  "amount": 5,\n  "amount": 6\n}', 3, "given twice"),
        ('{\n  "amount": NaN\n}', 2, ""),
        ('{"charge": "ch",\n "currency": "eur",\n "amount": "30r"}', 3, ""),
        ('{"charge": "ch",\n "currency": "eur",\n "amount": 1e400}', 3, ""),
        ('{"charge": "ch_3PqT2eLk9fZ",\n "currency": "eur",\n "amount": 0}', 3, ""),
        ('{"charge": "ch_3PqT2eLk9fZ", "amount": 5', 1, ""),
        ("", 1, "Give a JSON value"),
        ("[]", 1, ""),
    ],
)
def test_what_is_wrong_is_said_at_its_line_and_nothing_changes(
    cast: Cast, reads: Reads, text: str, line: int, told: str
) -> None:
    """AP-E2, AP-E7: no repair in silence; what was typed stays in the field."""
    approval = ask(cast, refund(142_000))
    answer = save(reads, cast.dana, approval, text)
    html = answer.content.decode()
    assert answer.status_code == 422 and f"Line {line}:" in html and told in html and 'aria-invalid="true"' in html
    assert current(approval)["amount"] == 142_000 and approval.revision == 1


def test_a_field_that_the_rule_keeps_is_refused_at_its_line(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund())
    answer = save(reads, cast.dana, approval, '{"amount": 42000,\n "charge": "ch_other",\n "currency": "eur"}')
    assert answer.status_code == 422 and "Line 2:" in answer.content.decode() and approval.revision == 1
    assert "keeps this field as proposed" in reads(cast.dana).get(at(approval, "/edit")).content.decode()


def test_a_comment_that_is_too_long_is_refused_at_its_field(cast: Cast, reads: Reads) -> None:
    """Neither it nor the edit is lost."""
    approval = ask(cast, refund(142_000))
    answer = save(reads, cast.dana, approval, json.dumps(refund(124_000)), message="x" * 4001)
    html = answer.content.decode()
    assert answer.status_code == 422 and 'aria-describedby="message-fault"' in html and "at most 4000" in html
    assert "x" * 4001 in html and "124000" in html and approval.revision == 1


def test_an_edit_that_policy_refuses_can_be_mended_here(cast: Cast, reads: Reads) -> None:
    from approvals import policies
    from tests.cast import POLICY

    approval = ask(cast, refund(142_000))
    capped = POLICY.replace(
        "  - id: large-refunds",
        "  - id: cap\n    match: {tool: payments.create_refund, when: {required: [amount], properties: "
        "{amount: {minimum: 500000}}}}\n    verdict: deny\n    reason: Nothing over 5,000.\n  - id: large-refunds",
    )
    policies.load(cast.northwind, capped, by=cast.omar.public_id)
    answer = save(reads, cast.dana, approval, json.dumps(refund(600_000)))
    html = answer.content.decode()
    assert answer.status_code == 422 and "Policy refuses" in html and "600000" in html and "As offered." in html


def test_an_edit_of_an_older_revision_shows_the_change(cast: Cast, reads: Reads) -> None:
    """WB-3: and the reason that was typed is kept as the comment."""
    approval = ask(cast, refund(142_000))
    form = form_of(approval)
    say(approval, cast.priya, "edit", edited=refund(130_000))
    answer = save(reads, cast.dana, approval, json.dumps(refund(124_000)), **form)
    html = answer.content.decode()
    assert answer.status_code == 409 and "Priya changed this while you were reading." in html and "As offered." in html
    assert approval.revisions.count() == 2


def test_numbers_and_texts_come_back_unchanged(cast: Cast, reads: Reads) -> None:
    """WB-8: the page carries text; what nobody touched is the same bytes."""
    approval = ask(cast, refund(9_007_199_254_740_991, note="a\u00a0b\u200b\n c "))
    before = canonical.encode(current(approval))
    client = reads(cast.dana)
    html = client.get(at(approval, "/edit?mode=json")).content.decode()
    import html as entities

    text = entities.unescape(html[html.index('id="text"') :].partition(">\n")[2].partition("</textarea>")[0])
    assert save(reads, cast.dana, approval, text.replace("\n", "\r\n")).status_code == 302
    assert canonical.encode(current(approval)) == before


@pytest.mark.parametrize("name", ["riley", "omar"])
def test_who_may_not_edit_is_sent_to_the_page(cast: Cast, reads: Reads, name: str) -> None:
    approval = ask(cast, refund())
    person = getattr(cast, name)
    assert reads(person).get(at(approval, "/edit"))["Location"] == at(approval)
    answer = save(reads, person, approval, json.dumps(refund(1)))
    assert answer.status_code == 403 and approval.revisions.count() == 1


def test_a_settled_approval_is_no_longer_edited(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund())
    form = form_of(approval)
    say(approval, cast.priya, "approve")
    answer = save(reads, cast.dana, approval, json.dumps(refund(100)), **form)
    assert answer.status_code == 409 and "Too late." in answer.content.decode() and approval.revisions.count() == 1


def test_drawing_the_form_anew_saves_nothing(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund())
    answer = reads(cast.dana).post(at(approval, "/edit"), form_of(approval, mode="form", do="check", message="x"))
    assert answer.status_code == 200 and approval.revisions.count() == 1


def test_between_form_and_json_nothing_is_lost(cast: Cast, reads: Reads) -> None:
    """What was typed and not saved goes along both ways, and what cannot go along stays and says so."""
    approval, client = ask(cast, refund()), reads(cast.dana)

    def turn(mode: str, to: str, **more: str) -> str:
        fields = form_of(approval, mode=mode, do=f"turn:{to}", message="Why.", **more)
        del fields["comment"]
        html: str = client.post(at(approval, "/edit"), fields).content.decode()
        assert "Why.</textarea>" in html
        return html

    text = json.dumps(refund(4_100))
    form = turn("json", "form", text=text)
    assert 'value="41.00"' in form and 'aria-current="true">Form' in form
    back = turn("form", "json", **{"f:/amount": "40.50"})
    assert "&quot;amount&quot;: 4050" in back and 'aria-current="true">JSON' in back
    stays = turn("json", "form", text="{")
    assert "Mend what is marked" in stays and 'aria-current="true">JSON' in stays
    assert approval.revisions.count() == 1
