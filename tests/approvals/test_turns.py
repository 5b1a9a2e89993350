"""Taking back one's own vote before the quorum, and a turn that is gone."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import approvals, gate, people, rows
from approvals.approvals import Approval
from approvals.decisions import Decided, Decision, Refused, decisions_of, standing
from approvals.ledger import entries
from approvals.pages.entries import entries as listed
from runtime import invariants
from tests.approvals.pages.conftest import Reads, at, form_of
from tests.approvals.pages.conftest import reads as reads
from tests.approvals.test_asked_of_verdicts import code, under
from tests.cast import Cast, ask, refund, say
from tests.tampering import Tamper

pytestmark = pytest.mark.usefixtures("heard")


def half_way(cast: Cast) -> Approval:
    """A refund for two, with Dana's yes."""
    approval = ask(cast, refund(200_000))
    assert say(approval, cast.dana, "approve") == Decided("pending", 1, 1, 2)
    return approval


def cleared(approval: Approval) -> gate.Cleared | gate.NotCleared:
    digest = approvals.current_revision(approval).digest
    return gate.clearance(approval.workspace_id, approval.subject, digest)


def test_a_vote_is_taken_back_before_the_quorum(cast: Cast) -> None:
    """Then another yes is one of two, and not the last."""
    approval = half_way(cast)
    assert say(approval, cast.dana, "retract", message="The wrong pallet.") == Decided("pending", 1, 0, 2)
    assert say(approval, cast.priya, "approve") == Decided("pending", 1, 1, 2)
    assert standing(approval, cast.priya).votes == [Decision.objects.get(person=cast.priya)]
    assert [(one.verdict, one.turn) for one in decisions_of(approval)] == [
        ("approve", 1),
        ("retract", 2),
        ("approve", 1),
    ]


def test_whoever_took_it_back_may_say_yes_again(cast: Cast) -> None:
    """A person's last turn counts, and fills one seat."""
    approval = half_way(cast)
    say(approval, cast.dana, "retract")
    assert say(approval, cast.dana, "approve") == Decided("pending", 1, 1, 2)
    assert say(approval, cast.priya, "approve") == Decided("approved", 1, 2, 2)
    assert isinstance(cleared(approval), gate.Cleared) and not invariants.offenders("votes")


def test_the_row_and_its_entry_name_the_turn(cast: Cast) -> None:
    """AU-1: it is signed like every decision, and what was said stays on record."""
    approval = half_way(cast)
    say(approval, cast.dana, "retract", message="The wrong pallet.")
    row = Decision.objects.get(verdict="retract")
    assert row.holds() and row.clear_message() == "The wrong pallet."
    last = entries.read(approval.workspace_id, approval.chain)[-1]
    assert (last["kind"], last["verdict"], last["turn"], last["by"]) == (
        "decision.made",
        "retract",
        2,
        cast.dana.public_id,
    )


@pytest.mark.parametrize("who", ["priya", "riley"])
def test_only_a_vote_of_ones_own_is_taken_back(cast: Cast, who: str) -> None:
    approval = half_way(cast)
    answer = say(approval, getattr(cast, who), "retract")
    assert code(answer) == ("nothing_to_retract" if who == "priya" else "not_allowed")
    assert standing(approval, cast.priya).filled == 1


def test_what_is_settled_stays_settled(cast: Cast) -> None:
    """DS-6: with the deciding yes given, nobody takes a vote back."""
    approval = half_way(cast)
    say(approval, cast.priya, "approve")
    answer = say(approval, cast.dana, "retract")
    assert isinstance(answer, Refused) and answer.code == "too_late" and "Priya Nair gave" in answer.message


def test_a_vote_for_an_older_revision_needs_no_taking_back(cast: Cast) -> None:
    """AZ-5: the edit has set it aside."""
    approval = half_way(cast)
    say(approval, cast.priya, "edit", edited=refund(150_000))
    assert code(say(approval, cast.dana, "retract")) == "nothing_to_retract"
    assert say(approval, cast.priya, "retract") == Decided("pending", 2, 0, 2)


def test_an_answer_is_taken_back_too(cast: Cast) -> None:
    approval = under(cast, count=2, allowed_decisions=["respond", "reject"])
    assert code(say(approval, cast.dana, "respond", response=b'"yes"')) == "taken"
    assert say(approval, cast.dana, "retract") == Decided("pending", 1, 0, 2)
    assert say(approval, cast.priya, "respond", response=b'"yes"') == Decided("pending", 1, 1, 2)


def test_it_needs_no_sign_in_of_a_moment_ago(cast: Cast) -> None:
    """It lets nothing run; and what nobody could count is no vote."""
    from tests.approvals.test_asked_of_verdicts import FRESH

    approval = under(cast, count=2, assurance="fresh")
    say(approval, cast.dana, "approve", assurance=FRESH)
    assert say(approval, cast.dana, "retract") == Decided("pending", 1, 0, 2)
    people.revoke(cast.dana, "decide", cast.finance, by="system")
    assert code(say(approval, cast.dana, "retract")) == "not_allowed"


# Past Placet


@pytest.mark.committed
def test_a_taking_back_that_is_removed_lets_nothing_run(cast: Cast, tamper: Tamper) -> None:
    """The older yes would count again; the ledger knows better."""
    approval = half_way(cast)
    say(approval, cast.dana, "retract")
    tamper("DELETE FROM approvals_decision WHERE verdict = 'retract'")
    assert code(say(approval, cast.priya, "approve")) == "tampered"
    tamper("UPDATE approvals_approval SET status = 'approved', decided_at = now()")
    answer = cleared(approval)
    assert isinstance(answer, gate.NotCleared) and answer.code == "tampered" and not answer.lapsed


@pytest.mark.committed
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM approvals_entry WHERE position('retract' IN encode(body, 'escape')) > 0",
        "UPDATE approvals_entry SET body = replace(encode(body, 'escape'), 'retract', 'approve')::bytea",
        "UPDATE approvals_entry SET body = replace(encode(body, 'escape'), '\"subject\"', '\"sobject\"')::bytea,"
        " hash = sha256(prev || replace(encode(body, 'escape'), '\"subject\"', '\"sobject\"')::bytea)"
        " WHERE position('retract' IN encode(body, 'escape')) > 0",
    ],
    ids=["deleted", "edited", "hidden"],
)
def test_its_entry_cannot_be_removed_beside_it(cast: Cast, tamper: Tamper, statement: str) -> None:
    """AU-2: what the chain's head was made of holds every entry before it."""
    approval = half_way(cast)
    say(approval, cast.dana, "retract")
    say(approval, cast.priya, "approve")
    tamper("DELETE FROM approvals_decision WHERE verdict = 'retract'")
    tamper(statement)
    tamper("UPDATE approvals_approval SET status = 'approved', decided_at = now()")
    answer = cleared(approval)
    assert isinstance(answer, gate.NotCleared) and answer.code == "tampered"


# The page


def test_the_page_offers_it_to_whoever_voted(cast: Cast, reads: Reads) -> None:
    approval = half_way(cast)
    assert 'value="retract"' in reads(cast.dana).get(at(approval)).content.decode()
    assert 'value="retract"' not in reads(cast.priya).get(at(approval)).content.decode()
    sent = form_of(approval, verdict="retract", comment="The wrong pallet.")
    assert reads(cast.dana).post(at(approval, "/decision"), sent).status_code == 302
    html = reads(cast.dana).get(at(approval)).content.decode()
    assert "took the vote back" in html and "The wrong pallet." in html
    assert 'value="retract"' not in html and 'value="approve"' in html


def test_a_double_click_on_it_is_no_error(cast: Cast, reads: Reads) -> None:
    approval, client = half_way(cast), reads(cast.dana)
    sent = form_of(approval, verdict="retract")
    answers = [client.post(at(approval, "/decision"), sent).status_code for _ in range(2)]
    assert answers == [302, 302] and Decision.objects.filter(verdict="retract").count() == 1


def test_the_names_of_those_who_approved_leave_out_who_took_it_back(cast: Cast, reads: Reads) -> None:
    """DS-7: a list of who said yes is of those whose yes counted."""
    approval = half_way(cast)
    people.grant(cast.omar, "decide", cast.finance, by="system")
    say(approval, cast.dana, "retract")
    for person in (cast.priya, cast.omar):
        say(approval, person, "approve")
    html = reads(cast.riley).get(at(approval)).content.decode()
    assert "Approved by Priya and Omar" in html


def test_the_inbox_counts_the_votes_that_are_left(cast: Cast) -> None:
    approval = half_way(cast)
    counted: list[Any] = [listed(cast.northwind, [approval])[0].filled]
    say(approval, cast.dana, "retract")
    approval.refresh_from_db()
    with rows.within(cast.northwind):
        counted.append(listed(cast.northwind, [approval])[0].filled)
    assert counted == [1, 0]


# A right that was taken, and given again


def test_a_right_given_anew_brings_no_old_vote_back(cast: Cast) -> None:
    """AZ-11: as little as coming back does; and whoever has it again may say so again."""
    approval = half_way(cast)
    people.revoke(cast.dana, "decide", cast.finance, by="system")
    people.grant(cast.dana, "decide", cast.finance, by="system")
    assert listed(cast.northwind, [approval])[0].filled == 0
    assert say(approval, cast.priya, "approve") == Decided("pending", 1, 1, 2)
    assert say(approval, cast.dana, "approve") == Decided("approved", 1, 2, 2)
    assert isinstance(cleared(approval), gate.Cleared)


def test_a_right_given_anew_leaves_no_quorum_stuck(cast: Cast) -> None:
    approval = half_way(cast)
    people.revoke(cast.dana, "decide", cast.finance, by="system")
    say(approval, cast.priya, "approve")
    people.grant(cast.dana, "decide", cast.finance, by="system")
    stands = standing(approval, cast.dana)
    assert (stands.filled, stands.required, stands.may) == (1, 2, True)


def test_who_voted_reads_that_it_waits_for_others_and_not_for_them(cast: Cast, reads: Reads) -> None:
    """The page says what is left, and promises nothing of a yes that was given."""
    approval = ask(cast, refund(142_000))
    assert "With the last yes" in reads(cast.dana).get(at(approval)).content.decode()
    say(approval, cast.dana, "approve")
    html = reads(cast.dana).get(at(approval)).content.decode()
    assert "You approved this. It waits for one more." in html and "With your yes" not in html
    assert "With your yes" in reads(cast.priya).get(at(approval)).content.decode()
