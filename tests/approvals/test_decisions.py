"""decide(): who may say what of which bytes, and what the others are told."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import approvals, decisions, people, policies, rows, standings
from approvals.approvals import Approval, Resolution
from approvals.decisions import Decided, Decision, Refused, decide
from approvals.ledger import canonical, entries
from tests.cast import POLICY, Cast, ask, code, refund, say

pytestmark = pytest.mark.usefixtures("heard")


def kinds(approval: Approval) -> list[str]:
    """What the ledger of the approval's run says, in order."""
    return [entry["kind"] for entry in entries.read(approval.workspace_id, approval.chain)]


def test_one_yes_of_the_team_approves_and_tells_the_machine(cast: Cast, heard: list[Resolution]) -> None:
    approval = ask(cast, refund())
    assert say(approval, cast.dana, "approve") == Decided("approved", 1, 1, 1)
    assert [(told.status, told.subject, told.decided_by) for told in heard] == [
        ("approved", approval.subject, "Dana Okafor")
    ]
    assert heard[0].digest == approvals.current_revision(approval).digest


def test_who_may_not_decide_hears_the_name_of_the_team(cast: Cast) -> None:
    """Its name as people know it, not the word that policy has for it."""
    people.Team.objects.update(name="Finance and Treasury")
    approval = ask(cast, refund())
    answer = say(approval, cast.omar, "approve")
    assert isinstance(answer, Refused) and answer.message == "Only Finance and Treasury may decide this."
    assert standings.standing(approval, cast.omar).reason == answer.message


def test_a_second_yes_hears_who_was_first_and_when(cast: Cast) -> None:
    """DS-1, CH-B136: the loser of a race is told who decided."""
    approval = ask(cast, refund())
    say(approval, cast.dana, "approve")
    answer = say(approval, cast.priya, "approve")
    assert isinstance(answer, Refused) and answer.code == "too_late"
    assert "Dana Okafor gave the deciding yes" in answer.message


def test_a_rejection_is_final_and_its_reason_reaches_the_machine(cast: Cast, heard: list[Resolution]) -> None:
    """AP-R4, AP-R9, AZ-6, DS-6."""
    approval = ask(cast, refund())
    assert say(approval, cast.dana, "reject", message="Already replaced.") == Decided("rejected", 1, 0, 1)
    assert (heard[0].status, heard[0].message, heard[0].digest) == ("rejected", "Already replaced.", None)
    assert isinstance(say(approval, cast.priya, "approve"), Refused)


def test_one_no_ends_it_however_many_said_yes(cast: Cast) -> None:
    """AZ-6: no majority is counted, before or after it."""
    approval = ask(cast, refund(200_000))
    assert say(approval, cast.dana, "approve") == Decided("pending", 1, 1, 2)
    assert say(approval, cast.priya, "reject", message="No.") == Decided("rejected", 1, 0, 2)
    assert isinstance(say(approval, cast.dana, "approve"), Refused)


def test_a_rejection_without_a_reason_is_refused(cast: Cast) -> None:
    answer = say(ask(cast, refund()), cast.dana, "reject")
    assert isinstance(answer, Refused) and (answer.code, answer.pointer) == ("needs_message", "/message")


@pytest.mark.parametrize("verdict", ["", "yes", "APPROVE", "approved", "answer", "true", "null"])
def test_only_the_literal_verdicts_count(cast: Cast, verdict: str) -> None:
    """AP-V1, AP-V11, DS-2: an empty, missing or unknown answer never approves."""
    approval = ask(cast, refund())
    answer = say(approval, cast.dana, verdict)
    assert isinstance(answer, Refused) and answer.code == "unknown_verdict"
    assert Approval.objects.get().status == "pending"


@pytest.mark.parametrize("who", ["riley", "omar", "oskar"])
def test_who_is_not_of_the_team_cannot_decide(cast: Cast, who: str) -> None:
    """AZ-9, AZ-10, AP-I5, CH-B30: membership, rank and other workspaces give no say."""
    approval = ask(cast, refund(), requester=cast.dana)
    answer = say(approval, getattr(cast, who), "approve")
    assert isinstance(answer, Refused) and answer.code == "not_allowed"


def test_a_superuser_is_no_approver(cast: Cast) -> None:
    """AZ-9."""
    people.Person.objects.filter(pk=cast.omar.pk).update(is_superuser=True)
    cast.omar.refresh_from_db()
    assert isinstance(say(ask(cast, refund()), cast.omar, "approve"), Refused)


def test_a_deactivated_person_cannot_decide(cast: Cast) -> None:
    """AZ-1, ID-8: the right is read at the click."""
    approval = ask(cast, refund())
    people.Person.objects.filter(pk=cast.dana.pk).update(is_active=False)
    answer = say(approval, cast.dana, "approve")
    assert isinstance(answer, Refused) and answer.code == "not_allowed"


def test_the_person_on_whose_behalf_the_agent_asks_cannot_approve(cast: Cast) -> None:
    """AZ-2, AP-I13, CH-B107: compared as people, whoever acts for them."""
    answer = say(ask(cast, refund(), requester=cast.dana), cast.dana, "approve")
    assert isinstance(answer, Refused) and answer.code == "self_review"


def test_that_person_may_still_reject(cast: Cast) -> None:
    assert say(ask(cast, refund(), requester=cast.dana), cast.dana, "reject", message="My mistake.") == Decided(
        "rejected", 1, 0, 1
    )


def test_another_digest_or_revision_decides_nothing(cast: Cast) -> None:
    """AP-P9, AP-P10, AP-V9, BD-3, IN-E59."""
    approval = ask(cast, refund())
    assert code(say(approval, cast.dana, "approve", digest="0" * 64)) == "wrong_digest"
    assert code(say(approval, cast.dana, "approve", revision=2)) == "stale_revision"
    assert Approval.objects.get().status == "pending" and not Decision.objects.exists()


def test_a_foreign_and_an_unknown_approval_are_alike(cast: Cast) -> None:
    """AP-I5, AP-I6, CH-B114."""
    approval = ask(cast, refund())
    facts: dict[str, Any] = {"by": cast.oskar, "verdict": "approve", "revision": 1, "digest": "", "via": "web"}
    foreign = decide(cast.halden.pk, approval.pk, **facts)
    assert (
        foreign == decide(cast.halden.pk, rows.uuid7(), **facts) == Refused("not_found", "There is no such approval.")
    )


def test_two_seats_need_two_people(cast: Cast, heard: list[Resolution]) -> None:
    """AZ-4, CH-B111: one person fills one seat however often they press."""
    approval = ask(cast, refund(200_000))
    assert say(approval, cast.dana, "approve") == Decided("pending", 1, 1, 2)
    assert code(say(approval, cast.dana, "approve")) == "already_voted"
    assert heard == []
    assert say(approval, cast.priya, "approve") == Decided("approved", 1, 2, 2)


def test_a_vote_stops_counting_when_its_giver_loses_the_right(cast: Cast) -> None:
    """AZ-7."""
    approval = ask(cast, refund(200_000))
    say(approval, cast.dana, "approve")
    people.revoke(cast.dana, "decide", cast.finance, by="system")
    assert say(approval, cast.priya, "approve") == Decided("pending", 1, 1, 2)


def test_an_edit_opens_a_revision_and_is_its_editors_yes(cast: Cast, heard: list[Resolution]) -> None:
    """AZ-5, BD-8, CH-B134: what was proposed, what was decided and what will run are kept apart."""
    approval = ask(cast, refund())
    assert say(approval, cast.dana, "edit", edited=refund(10_000)) == Decided("approved", 2, 1, 1)
    first, second = approvals.revisions(approval)
    assert canonical.parse(approvals.args_of(first)) == refund(42_000)
    assert approvals.args_of(second) == canonical.encode(refund(10_000))
    assert heard[0].digest == second.digest != first.digest


def test_an_edit_voids_earlier_votes_where_all_can_see_it(cast: Cast) -> None:
    approval = ask(cast, refund(200_000))
    say(approval, cast.dana, "approve")
    assert say(approval, cast.priya, "edit", edited=refund(150_000)) == Decided("pending", 2, 1, 2)
    revised = next(
        entry for entry in entries.read(approval.workspace_id, approval.chain) if entry["kind"] == "approval.revised"
    )
    assert revised["voided"] == [cast.dana.public_id]
    assert say(approval, cast.dana, "approve") == Decided("approved", 2, 2, 2)


def test_an_edit_that_changes_nothing_is_a_plain_yes(cast: Cast) -> None:
    """JS-12."""
    approval = ask(cast, refund())
    assert say(approval, cast.dana, "edit", edited=refund()) == Decided("approved", 1, 1, 1)
    assert approval.revisions.count() == 1


def test_an_edit_that_raises_the_risk_raises_the_bar(cast: Cast) -> None:
    approval = ask(cast, refund(90_000))
    assert say(approval, cast.dana, "edit", edited=refund(90_001) | {"amount": 99_000}) == Decided("approved", 2, 1, 1)
    other = ask(cast, refund(90_000))
    assert say(other, cast.dana, "edit", edited=refund(400_000)) == Decided("pending", 2, 1, 2)
    assert say(other, cast.priya, "approve") == Decided("approved", 2, 2, 2)


def test_an_edit_into_a_rule_of_high_risk_says_so(cast: Cast) -> None:
    """To whoever is asked next, in the row that lists are read from and in the rule that was signed."""
    large = "editor_may_approve: true"
    text = POLICY.replace("editable: [/amount, /note]", "risk: low").replace(large, f"{large}\n    risk: high")
    policies.load(cast.northwind, text, by="system")
    approval = ask(cast, refund())
    assert approval.risk == "low"
    assert say(approval, cast.dana, "edit", edited=refund(400_000)) == Decided("pending", 2, 1, 2)
    approval.refresh_from_db()
    assert (approval.risk, approvals.bar_of(approvals.current_revision(approval))["risk"]) == ("high", "high")
    assert say(approval, cast.priya, "approve") == Decided("approved", 2, 2, 2)


@pytest.mark.parametrize(
    ("edited", "pointer"),
    [
        (refund(charge="ch_other"), "/charge"),
        (refund(amount="42000"), "/amount"),
        (refund(amount=None), "/amount"),
        ({"charge": "ch_3PqT2eLk9fZ", "currency": "eur"}, "/amount"),
        (refund(force=True), "/force"),
        (refund(Amount=1), "/Amount"),
        (b'{"amount": 1, "amount": 2}', "/amount"),
        (b'{"amount": NaN}', "/amount"),
        (b"[]", ""),
        (b"", ""),
    ],
    ids=["locked", "text", "null", "missing", "extra", "case", "duplicate", "nan", "list", "empty"],
)
def test_a_bad_edit_names_its_field_and_changes_nothing(cast: Cast, edited: Any, pointer: str) -> None:
    """AP-E2, AP-E5, AP-P5, AZ-5, BD-5, BD-10, IN-E1, IN-E5, IN-E7, IN-E27, IN-E48, IN-E54, IN-E58, JS-9, JS-10."""
    approval = ask(cast, refund())
    answer = say(approval, cast.dana, "edit", edited=edited)
    assert isinstance(answer, Refused) and (answer.code, answer.pointer) == ("invalid_edit", pointer)
    assert Approval.objects.get().revision == 1 and not Decision.objects.exists()


def test_after_the_deadline_the_clock_decides_though_no_sweep_ran(cast: Cast) -> None:
    """DS-3, DS-4, AP-U14, CH-B69, CH-B70."""
    approval = ask(cast, refund())
    Approval.objects.update(expires_at=rows.now())
    answer = say(approval, cast.dana, "approve")
    assert isinstance(answer, Refused) and answer.code == "too_late" and "expired" in answer.message
    assert not Decision.objects.exists()


def test_the_sweep_expires_and_names_nobody(cast: Cast, heard: list[Resolution]) -> None:
    """AP-R8, AP-U15, DS-3: expired is not rejected, and never approved."""
    approval = ask(cast, refund())
    Approval.objects.update(expires_at=rows.now())
    assert approvals.expire_due() == 1 and approvals.expire_due() == 0
    approval.refresh_from_db()
    assert (approval.status, approval.decided_by, heard[0].status) == ("expired", None, "expired")


def test_refused_attempts_are_in_the_ledger_too(cast: Cast) -> None:
    """AU-1."""
    approval = ask(cast, refund())
    say(approval, cast.riley, "approve")
    last = entries.read(approval.workspace_id, approval.chain)[-1]
    assert (last["kind"], last["code"], last["by"]) == ("decision.refused", "not_allowed", cast.riley.public_id)


def test_the_ledger_tells_an_approval_from_opening_to_verdict(cast: Cast) -> None:
    """AU-1: every attempt is one entry, in the transaction of the change."""
    approval = ask(cast, refund(200_000))
    say(approval, cast.dana, "approve")
    say(approval, cast.priya, "approve")
    assert kinds(approval) == ["approval.opened", "decision.made", "decision.made", "approval.approved"]


def test_no_comment_stands_in_clear(cast: Cast) -> None:
    """AU-8, DU-S7: the comment is sealed, and only its digest is in the ledger."""
    approval = ask(cast, refund())
    say(approval, cast.dana, "reject", message="marker-of-a-secret-reason")
    decision = Decision.objects.get()
    assert decisions.message_of(decision) == "marker-of-a-secret-reason"
    assert b"marker-of" not in bytes(decision.message)
    assert "marker-of" not in str(entries.read(approval.workspace_id, approval.chain))


def test_where_the_editor_may_not_approve_others_must(cast: Cast) -> None:
    """AZ-2, AZ-3: an edit that leaves too few people is refused with the reason."""
    strict = Approval.objects.get(pk=ask(cast, refund(200_000)).pk)
    answer = say(strict, cast.dana, "edit", edited=refund(150_000))
    assert answer == Decided("pending", 2, 1, 2)


def test_standing_says_who_else_can(cast: Cast) -> None:
    approval = ask(cast, refund(200_000))
    say(approval, cast.dana, "approve")
    approval.refresh_from_db()
    seen = standings.standing(approval, cast.priya)
    assert (seen.may, seen.filled, seen.required, [vote.person for vote in seen.votes]) == (True, 1, 2, [cast.dana])
    assert standings.standing(approval, cast.riley).code == "not_allowed"
    assert standings.standing(approval, cast.dana).voted


def test_a_new_name_makes_nobody_another_person(cast: Cast) -> None:
    """AP-I8, CH-B37: people are compared by their keys, so renaming gets round no separation of duties."""
    approval = ask(cast, refund(), requester=cast.dana)
    people.Person.objects.filter(pk=cast.dana.pk).update(name="Somebody Else", email="else@northwind.example")
    cast.dana.refresh_from_db()
    assert getattr(say(approval, cast.dana, "approve"), "code", "") == "self_review"


def test_each_rule_has_its_own_deadline_and_keeps_it_for_what_waits(cast: Cast) -> None:
    """AP-U8, AP-U9: a later policy changes what is asked from then on, never the deadline of what waits."""
    waiting = ask(cast, refund())
    policies.load(cast.northwind, POLICY.replace("deadline: 1h", "deadline: 5m"), by="system")
    later = ask(cast, refund())
    windows = [approval.expires_at - approval.created_at for approval in (waiting, later)]
    assert [round(window.total_seconds()) for window in windows] == [3_600, 300]


def test_who_stops_waiting_ends_nothing(cast: Cast) -> None:
    """AP-U13: an approval has one deadline, and no reader has any part in it."""
    approval = ask(cast, refund())
    for reader in (cast.dana, cast.priya):
        standings.standing(approval, reader)
    approval.refresh_from_db()
    assert (approval.status, say(approval, cast.dana, "approve")) == ("pending", Decided("approved", 1, 1, 1))


@pytest.mark.parametrize("sent", [{"digest": "\x00"}, {"digest": "é" * 64}, {"digest": "A" * 64}])
def test_whatever_is_sent_as_digest_is_answered_and_entered(cast: Cast, sent: dict[str, str]) -> None:
    """The refused attempt is in the ledger, without the bytes that it could not hold."""
    approval = ask(cast, refund())
    answer = say(approval, cast.dana, "approve", **sent)
    assert isinstance(answer, Refused) and answer.code == "wrong_digest"
    assert entries.read(approval.workspace_id, approval.chain)[-1]["digest"] == ""
