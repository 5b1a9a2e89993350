"""Requesting changes: one person's answer that says field by field what should be otherwise, and what came of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from approvals import gate, rows
from approvals.answered import Answer
from approvals.approvals import Approval, Resolution
from approvals.decisions import Decided, Decision, Refused
from approvals.ledger import canonical, entries
from runtime import invariants
from tests.approvals.pages.conftest import Reads, at, form_of
from tests.approvals.pages.conftest import reads as reads
from tests.approvals.test_asked_of_verdicts import code, under
from tests.cast import Cast, propose, refund, say

pytestmark = pytest.mark.usefixtures("heard")

ALLOWED = ["approve", "edit", "reject", "respond"]
CHANGES = [("/amount", "Only the half that was wet."), ("/note", "Name the carrier.")]


def asked(cast: Cast, **words: Any) -> Approval:
    return under(cast, allowed_decisions=ALLOWED, **words)


def request(approval: Approval, cast: Cast, changes: Any = CHANGES, **more: Any) -> Decided | Refused:
    return say(approval, cast.dana, "respond", changes=changes, **more)


def again(cast: Cast, first: Approval, args: dict[str, Any], *, revises: str = "") -> gate.Held:
    """The same call proposed anew in the same run."""
    proposal = replace(propose(cast, args), chain=first.chain, revises=revises or first.public_id)
    with rows.within(cast.northwind):
        return gate.hold(gate.judge(proposal))


def test_one_person_requests_changes_and_the_call_is_answered(cast: Cast, heard: list[Resolution]) -> None:
    """It lets nothing run, so one is enough where two are needed for a yes."""
    approval = asked(cast, count=2)
    assert request(approval, cast, message="Nearly.") == Decided("answered", 1, 0, 2)
    told = heard[0]
    assert (told.status, told.choice, told.message, told.digest) == ("answered", "request_changes", "Nearly.", None)
    assert canonical.parse(told.response or b"") == {
        "requested_changes": [{"pointer": pointer, "comment": words} for pointer, words in CHANGES]
    }
    assert not invariants.offenders("votes")


def test_the_answer_is_proved_before_the_agent_is_told(cast: Cast) -> None:
    approval = asked(cast, count=2)
    request(approval, cast)
    answer = gate.answer(approval.workspace_id, approval.subject)
    assert isinstance(answer, Answer) and answer.asks_changes and answer.by_name == "Dana Okafor"
    assert Decision.objects.get().holds()
    made = entries.read(approval.workspace_id, approval.chain, only=["decision.made"])[0]
    assert made["choice"] == "request_changes" and "carrier" not in str(made)


@pytest.mark.parametrize(
    ("changes", "at_fault"),
    [
        ([], "/requested_changes"),
        ([("/amount", "a"), ("/amount", "b")], "/requested_changes"),
        ([("/amount", " ")], "/requested_changes/0/comment"),
        ([("/amount", "x" * 1001)], "/requested_changes/0/comment"),
        ([("", "Fine."), ("/amount", "a\0")], "/requested_changes/1/comment"),
        ([("/amount/deep", "a")], "/requested_changes/0/pointer"),
        ([("amount", "a")], "/requested_changes/0/pointer"),
        ([("/~2", "a")], "/requested_changes/0/pointer"),
    ],
    ids=["none", "twice", "silent", "long", "nul", "nowhere", "no-pointer", "no-escape"],
)
def test_what_is_no_request_is_refused_with_its_place(cast: Cast, changes: Any, at_fault: str) -> None:
    answer = request(asked(cast), cast, changes)
    assert isinstance(answer, Refused) and (answer.code, answer.pointer) == ("invalid_changes", at_fault)
    assert Approval.objects.get().status == "pending"


def test_changes_come_with_no_other_verdict_and_need_the_rule(cast: Cast) -> None:
    """A word that is not used is refused and not passed over."""
    approval = asked(cast)
    assert code(say(approval, cast.dana, "approve", changes=CHANGES)) == "invalid_changes"
    assert code(say(approval, cast.dana, "respond", response=b"1", changes=CHANGES)) == "invalid_changes"
    assert code(say(approval, cast.riley, "respond", changes=CHANGES)) == "not_allowed"
    assert code(request(under(cast), cast)) == "decision_not_allowed"


def test_the_next_proposal_names_what_it_revises(cast: Cast) -> None:
    first = asked(cast)
    request(first, cast)
    held = again(cast, first, refund(21_000, note="Wet, by Brill."))
    assert held.approval_id is not None
    opened = entries.read(first.workspace_id, first.chain, only=["approval.opened"])[-1]
    assert (opened["approval"], opened["revises"]) == (held.approval_id, first.public_id)


def test_what_names_no_request_of_this_run_is_refused(cast: Cast) -> None:
    """An agent cannot lean on what was said elsewhere, or on what was never said."""
    first, other = asked(cast), asked(cast)
    for named in (first.public_id, "apr_nothing", rows.public_id("apr", rows.uuid7())):
        held = again(cast, first, refund(21_000), revises=named)
        assert held.verdict == "deny" and "No changes of a call" in held.reason
    request(first, cast)
    assert again(cast, other, refund(21_000), revises=first.public_id).verdict == "deny"


# The page


def test_the_page_requests_changes_by_field(cast: Cast, reads: Reads) -> None:
    approval = asked(cast)
    html = reads(cast.dana).get(at(approval)).content.decode()
    assert 'value="changes"' in html and 'name="change-1"' in html
    wrong = reads(cast.dana).post(at(approval, "/decision"), form_of(approval, verdict="changes", **{"change-1": " "}))
    assert wrong.status_code == 422 and "Name one field at least" in wrong.content.decode()
    sent = form_of(approval, verdict="changes", **{"change-1": "Only the half."})
    assert reads(cast.dana).post(at(approval, "/decision"), sent).status_code == 302
    html = reads(cast.priya).get(at(approval)).content.decode()
    assert html.count("Changes requested") == 1 and "/amount" in html and "Only the half." in html
    assert "Dana</b> requested changes" in html


def test_a_page_without_the_rule_offers_none(cast: Cast, reads: Reads) -> None:
    assert 'value="changes"' not in reads(cast.dana).get(at(under(cast))).content.decode()


def test_the_page_of_the_next_proposal_shows_what_differs(cast: Cast, reads: Reads) -> None:
    first = asked(cast)
    request(first, cast)
    held = again(cast, first, refund(21_000))
    page = reads(cast.priya).get(f"/w/northwind/approvals/{held.approval_id}").content.decode()
    assert first.public_id in page and "Only the half that was wet." in page
    assert "What differs from it is marked." in page and page.count("arg changed") == 1
    assert "420.00" in page and "210.00" in page
