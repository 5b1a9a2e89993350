"""The seam: what the machine is told when it proposes a call, and again when it is about to run it."""

from __future__ import annotations

from typing import Any

import pytest
from guardian.shortcuts import assign_perm

from approvals import approvals, gate, people, policies, rows
from approvals.approvals import Approval
from approvals.decisions import Decision, Refused, standing
from approvals.ledger import canonical, entries, keys
from approvals.revisions import Revision
from approvals.rulings import Ruling
from tests.cast import REFUND, Cast, ask, formed, propose, refund, say
from tests.clock import set_forward

LEGAL = "policy: 1\nrules:\n- {id: two, match: {}, verdict: require_approval, approvals: [{team: legal, count: 1}]}"
pytestmark = pytest.mark.usefixtures("heard")


def hold(cast: Cast, proposal: gate.Proposal) -> gate.Held:
    with rows.within(cast.northwind):
        return gate.hold(gate.judge(proposal))


def approved(cast: Cast) -> tuple[Approval, str]:
    """An approval with its yes, and the digest of what may run."""
    approval = ask(cast, refund())
    say(approval, cast.dana, "approve")
    return approval, approvals.current_revision(approval).digest


def cleared(approval: Approval, digest: str) -> str:
    """ "cleared", or the code of the refusal."""
    answer = gate.clearance(approval.workspace_id, approval.subject, digest)
    return answer.code if isinstance(answer, gate.NotCleared) else "cleared"


def test_an_allowed_call_gets_a_ruling_and_can_run(cast: Cast) -> None:
    proposal = propose(cast, refund(1_000))
    held = hold(cast, proposal)
    assert (held.verdict, held.approval_id) == ("allow", None) and held.digest
    answer = gate.clearance(cast.northwind.pk, proposal.subject, held.digest)
    assert isinstance(answer, gate.Cleared)
    assert canonical.action_digest(answer.header, answer.args) == held.digest
    assert answer.args == proposal.args


def test_bad_arguments_are_refused_before_a_person_is_asked(cast: Cast) -> None:
    """DU-L30: told to the agent with the pointer, never an exception."""
    held = hold(cast, propose(cast, refund(note=7)))
    assert held.verdict == "deny" and "/note" in held.reason and not Approval.objects.exists()


def test_a_rule_that_nobody_left_can_satisfy_is_flagged_at_once(cast: Cast) -> None:
    """AZ-3, CH-B45."""
    held = hold(cast, propose(cast, refund(200_000), requester=cast.dana))
    assert held.verdict == "deny" and "nobody could approve" in held.reason


def test_a_policy_that_changed_between_judging_and_holding_is_judged_again(cast: Cast) -> None:
    judgement = gate.judge(propose(cast, refund(1_000)))
    policies.load(cast.northwind, "policy: 1\nrules: []\n", by="system")
    with rows.within(cast.northwind):
        assert gate.hold(judgement).verdict == "deny"


def test_what_was_approved_is_cleared_byte_for_byte(cast: Cast) -> None:
    """BD-1, BD-3, BD-11, AP-V3."""
    approval, digest = approved(cast)
    answer = gate.clearance(approval.workspace_id, approval.subject, digest)
    assert isinstance(answer, gate.Cleared) and answer.args == canonical.encode(refund())
    assert {"approval", "definition", "expiry", "policy_version", "rule", "salt", "workspace"} <= set(answer.header)


def test_titles_and_reasons_are_outside_the_digest(cast: Cast) -> None:
    """BD-2, CH-B131: other words beside the same bytes change nothing of what is voted on and hashed."""
    one, other = approved(cast)[0], approved(cast)[0]
    Approval.objects.filter(pk=other.pk).update(tool_title="Do no harm", summary="Nothing", context=b"")
    for approval in (one, other):
        ruling = approvals.current_revision(approval).ruling
        known = {
            "format",
            "workspace",
            "salt",
            "approval",
            "revision",
            "definition",
            "expiry",
            "policy_version",
            "rule",
        }
        assert set(ruling.header) == known
        assert canonical.action_digest(ruling.header, ruling.clear_args()) == ruling.digest


def test_nothing_pending_rejected_or_of_another_call_is_cleared(cast: Cast) -> None:
    """AP-V2, AP-R1, AP-D14, AP-X1."""
    waiting, other = ask(cast, refund()), approved(cast)
    assert cleared(waiting, approvals.current_revision(waiting).digest) == "not_approved"
    assert cleared(waiting, other[1]) == "tampered"
    assert cleared(other[0], "0" * 64) == "tampered"


def test_an_earlier_revision_is_never_cleared(cast: Cast) -> None:
    """BD-8, CH-B135."""
    approval = ask(cast, refund())
    say(approval, cast.dana, "edit", edited=refund(9_000))
    first, second = approvals.revisions(approval)
    assert (cleared(approval, first.digest), cleared(approval, second.digest)) == ("not_approved", "cleared")


def test_approved_just_before_the_deadline_does_not_run_after_it(cast: Cast) -> None:
    """AP-U10."""
    approval, digest = approved(cast)
    set_forward(3601)
    assert cleared(approval, digest) == "expired"


def test_a_voter_who_lost_the_right_no_longer_lets_it_run(cast: Cast) -> None:
    """AZ-1, AZ-7: rights are read again at dispatch."""
    approval, digest = approved(cast)
    people.revoke(cast.dana, "decide", cast.finance, by="system")
    assert cleared(approval, digest) == "votes_fall_short"


def test_a_policy_that_refuses_now_refuses_what_was_approved(cast: Cast) -> None:
    approval, digest = approved(cast)
    policies.load(cast.northwind, "policy: 1\nrules: []\n", by="system")
    assert cleared(approval, digest) == "policy_changed"


def test_a_policy_that_asks_for_more_people_now_holds_it_back(cast: Cast) -> None:
    approval, digest = approved(cast)
    text = (
        "policy: 1\nrules:\n- {id: two, match: {}, verdict: require_approval, approvals: [{team: finance, count: 2}]}"
    )
    policies.load(cast.northwind, text, by="system")
    assert cleared(approval, digest) == "votes_fall_short"


@pytest.mark.parametrize(("seated", "code"), [(people.grant, "cleared"), (None, "tampered")])
def test_a_seat_of_a_later_rule_needs_a_right_that_the_ledger_knows(cast: Cast, seated: Any, code: str) -> None:
    """AZ-1, T31: whoever writes a voter into the team that is asked now opens nothing."""
    approval, digest = approved(cast)
    legal = formed(cast.northwind, "legal")
    people.grant(cast.priya, "decide", legal, by="system")
    policies.load(cast.northwind, LEGAL, by="system")
    assert cleared(approval, digest) == "votes_fall_short"
    seated(cast.dana, "decide", legal, by="system") if seated else assign_perm("decide", cast.dana, legal)
    assert cleared(approval, digest) == code


def test_a_status_written_past_placet_opens_nothing(cast: Cast) -> None:
    """DU-L31, T31, AP-V9: approved is derived from signed votes, not from the column."""
    approval = ask(cast, refund())
    Approval.objects.update(status="approved")
    assert cleared(approval, approvals.current_revision(approval).digest) == "tampered"


def test_a_vote_written_past_placet_does_not_count(cast: Cast) -> None:
    """AU-2, DU-L31."""
    approval = ask(cast, refund())
    revision = approvals.current_revision(approval)
    forged = Decision(
        workspace=cast.northwind, approval=approval, revision=1, person=cast.dana, turn=1, verdict="approve"
    )
    forged.digest, forged.message, forged.message_digest = revision.digest, b"", ""
    forged.decided_via, forged.decided_at, forged.mac = "web", rows.now(), bytes(revision.ruling.mac)
    forged.save(force_insert=True)
    Approval.objects.update(status="approved")
    assert cleared(approval, revision.digest) == "tampered"


COLUMNS = {
    "summary": "Refund one cent",
    "tool_title": "Read",
    "risk": "low",
    "effect": "pure",
    "agent": "trusted",
    "requester": None,
    "expires_at": "2099-01-01T00:00:00Z",
    "frozen_seconds": 86_400,
    "schema": {"type": "object"},
}


@pytest.mark.parametrize("column", COLUMNS)
def test_what_was_asked_cannot_be_changed_past_placet(cast: Cast, column: str) -> None:
    """SC-1, AU-2: neither voted on nor cleared, and the page says so."""
    approval = ask(cast, refund())
    Approval.objects.update(**{column: COLUMNS[column]})
    approval.refresh_from_db()
    answer = say(approval, cast.dana, "approve")
    assert isinstance(answer, Refused) and answer.code == "tampered"
    assert standing(approval, cast.dana).code == "tampered"


def test_a_ruling_moved_to_another_call_clears_nothing(cast: Cast) -> None:
    """T33, SC-1, IN-A7: every field of the ruling is signed, its call too."""
    _approval, digest = approved(cast)
    other = ask(cast, refund())
    moved = Ruling.objects.get(digest=digest)
    moved.pk, moved.subject = rows.uuid7(), other.subject
    moved.save(force_insert=True)
    assert cleared(other, digest) == "tampered"


def test_a_cancelled_approval_is_closed_for_all(cast: Cast) -> None:
    """DS-10, AP-U11."""
    approval = ask(cast, refund())
    gate.withdraw(
        approval.workspace_id, approval.chain, by=cast.omar.public_id, person_id=cast.omar.pk, reason="Stopped."
    )
    answer = say(approval, cast.dana, "approve")
    assert getattr(answer, "code", "") == "too_late"


def test_the_outcome_stands_beside_the_approval_and_in_the_ledger(cast: Cast) -> None:
    """DS-8: approved is not executed."""
    approval, _ = approved(cast)
    assert approval.outcome == "none"
    with rows.within(cast.northwind):
        gate.report(approval.workspace_id, approval.chain, approval.subject, "executed")
    approval.refresh_from_db()
    assert (approval.status, approval.outcome) == ("approved", "executed")
    assert entries.read(approval.workspace_id, approval.chain)[-1]["kind"] == "outcome.reported"


def test_an_outcome_is_not_overwritten(cast: Cast) -> None:
    """DS-7: only unknown may still become known."""
    approval, _ = approved(cast)
    for outcome in ("unknown", "executed", "failed"):
        with rows.within(cast.northwind):
            gate.report(approval.workspace_id, approval.chain, approval.subject, outcome)
    approval.refresh_from_db()
    assert approval.outcome == "executed"


def test_context_and_arguments_are_sealed(cast: Cast) -> None:
    """SC-1, DU-S7, AU-8."""
    approval = ask(cast, refund(note="marker-of-an-argument"), tool=REFUND)
    raw = bytes(approval.context) + bytes(Ruling.objects.get().args)
    assert b"marker-of" not in raw and b"pallets" not in raw
    assert approvals.context_of(approval)["reason"] == "Two pallets arrived wet."
    assert b"marker-of-an-argument" in approvals.args_of(Revision.objects.get())


def test_what_cannot_be_proved_for_want_of_a_key_is_an_answer(cast: Cast, settings: Any) -> None:
    """SC-2: where a key is missing nothing runs, and it is said."""
    approval, digest = approved(cast)
    settings.PLACET_KEYS = {2: bytes(32)}
    assert cleared(approval, digest) == "tampered"
    assert policies.judge(cast.northwind.pk, tool="x", agent="y", args={}).verdict == "deny"


def test_without_its_entry_in_the_ledger_a_decision_is_not_made(cast: Cast, settings: Any) -> None:
    """AU-11: the chain cannot be continued without the old key, so the verdict fails as a whole."""
    approval = ask(cast, refund())
    settings.PLACET_KEYS = {2: bytes(32)}
    with pytest.raises(keys.UnknownKey):
        say(approval, cast.dana, "approve")
    assert Approval.objects.get().status == "pending"
