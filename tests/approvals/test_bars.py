"""The bar that people have to meet: after an edit, and by the rule of today."""

from __future__ import annotations

import pytest

from approvals import approvals, bars, gate, people, policies
from approvals.approvals import Approval
from approvals.decisions import Decided, Refused
from tests.cast import POLICY, Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")
ALONE = POLICY.replace("editable: [/amount, /note]", "editor_may_approve: false")


def cleared(approval: Approval) -> str:
    digest = approvals.current_revision(Approval.objects.get(pk=approval.pk)).digest
    answer = gate.clearance(approval.workspace_id, approval.subject, digest)
    return answer.code if isinstance(answer, gate.NotCleared) else "cleared"


def test_an_edit_never_lowers_the_bar_of_a_team_named_twice(cast: Cast) -> None:
    """AZ-5: two seats of one team are two, however the rule writes them."""
    twice = "approvals: [{team: finance}, {team: finance}]\n    editor_may_approve: true"
    policies.load(cast.northwind, POLICY.replace("approvals: [{team: finance}]", twice), by="system")
    approval = ask(cast, refund())
    assert approval.required == 2
    assert say(approval, cast.dana, "edit", edited=refund(41_000)) == Decided("pending", 2, 1, 2)
    assert [len(bars.seats(one.ruling.rule)) for one in approvals.revisions(approval)] == [2, 2]


def test_self_review_that_policy_forbids_today_lets_nothing_run(cast: Cast) -> None:
    """AZ-2: the votes are held to all of the rule of today, not to its seats alone."""
    lax = POLICY.replace("editable: [/amount, /note]", "prevent_self_review: false")
    policies.load(cast.northwind, lax, by="system")
    approval = ask(cast, refund(), requester=cast.dana)
    assert isinstance(say(approval, cast.dana, "approve"), Decided) and cleared(approval) == "cleared"
    policies.load(cast.northwind, POLICY, by="system")
    assert cleared(approval) == "votes_fall_short"


def test_an_editor_who_may_not_approve_today_lets_nothing_run(cast: Cast) -> None:
    """AZ-5."""
    approval = ask(cast, refund())
    assert isinstance(say(approval, cast.dana, "edit", edited=refund(41_000)), Decided)
    assert cleared(approval) == "cleared"
    policies.load(cast.northwind, ALONE, by="system")
    assert cleared(approval) == "votes_fall_short"


def test_who_edited_before_somebody_else_did_approves_nothing_of_it(cast: Cast) -> None:
    """AZ-5: what the first editor wrote is still there after the second one mended a word of it."""
    policies.load(cast.northwind, ALONE, by="system")
    people.grant(cast.omar, "decide", cast.finance, by="system")
    approval = ask(cast, refund(10_000))
    say(approval, cast.dana, "edit", edited=refund(99_000))
    say(approval, cast.priya, "edit", edited=refund(99_000, note="typo"))
    for editor in (cast.dana, cast.priya):
        answer = say(approval, editor, "approve")
        assert isinstance(answer, Refused) and answer.code == "editor_cannot_approve"
    assert say(approval, cast.omar, "approve") == Decided("approved", 3, 1, 1)
    assert cleared(approval) == "cleared"


def test_an_edit_under_a_stricter_rule_is_no_yes_of_who_may_not_give_one(cast: Cast) -> None:
    """AZ-2, AZ-5: it stands as an edit, and others say yes to it."""
    lax = POLICY.replace("editable: [/amount, /note]", "prevent_self_review: false")
    policies.load(cast.northwind, lax, by="system")
    approval = ask(cast, refund(90_000), requester=cast.dana)
    policies.load(cast.northwind, POLICY, by="system")
    assert say(approval, cast.dana, "edit", edited=refund(80_000)) == Decided("pending", 2, 0, 1)
    assert say(approval, cast.priya, "approve") == Decided("approved", 2, 1, 1)
    assert cleared(approval) == "cleared"


def test_no_edit_ends_under_two_rules_that_leave_nothing_but_a_no(cast: Cast) -> None:
    """AZ-5: each of them lets people say more, and the two together do not."""
    answer = POLICY.replace("editable: [/amount, /note]", "allowed_decisions: [approve, edit, reject]")
    answer = answer.replace("editor_may_approve: true", "allowed_decisions: [respond, reject]")
    policies.load(cast.northwind, answer, by="system")
    approval = ask(cast, refund())
    refused = say(approval, cast.dana, "edit", edited=refund(200_000))
    assert (
        isinstance(refused, Refused) and refused.code == "unsatisfiable" and "nobody could say yes" in refused.message
    )
    assert isinstance(say(approval, cast.dana, "approve"), Decided)
