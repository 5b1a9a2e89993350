"""Several people at the same instant, on real connections: one winner, nobody stuck, nobody unheard."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from approvals import approvals, gate, rows
from approvals.approvals import Approval
from approvals.decisions import Decided, Decision, Refused
from tests.cast import Cast, ask, refund, say

pytestmark = [pytest.mark.committed, pytest.mark.usefixtures("heard")]
ROUNDS = 10
Together = Callable[..., list[Any]]


def test_of_two_yeses_at_once_one_wins_and_the_other_is_told(cast: Cast, together: Together) -> None:
    """DS-1, AP-D1, AP-D16, IN-M17, F13."""
    for _ in range(ROUNDS):
        approval = ask(cast, refund())
        answers = together(*(partial(say, approval, who, "approve") for who in (cast.dana, cast.priya)))
        assert sorted(type(answer).__name__ for answer in answers) == ["Decided", "Refused"]
        loser = next(answer for answer in answers if isinstance(answer, Refused))
        assert loser.code == "too_late"
        assert Decision.objects.filter(approval=approval).count() == 1


def test_two_last_votes_at_once_never_leave_it_pending(cast: Cast, together: Together) -> None:
    """CH-B111, AZ-4: counting happens under the lock."""
    for _ in range(ROUNDS):
        approval = ask(cast, refund(200_000))
        answers = together(*(partial(say, approval, who, "approve") for who in (cast.dana, cast.priya)))
        assert all(isinstance(answer, Decided) for answer in answers)
        assert Approval.objects.get(pk=approval.pk).status == "approved"


def test_yes_and_no_at_once_give_one_verdict(cast: Cast, together: Together) -> None:
    """IN-M17."""
    for _ in range(ROUNDS):
        approval = ask(cast, refund())
        yes, no = (
            partial(say, approval, cast.dana, "approve"),
            partial(say, approval, cast.priya, "reject", message="No."),
        )
        answers = together(yes, no)
        assert [isinstance(answer, Decided) for answer in answers].count(True) == 1


def test_two_edits_at_once_keep_one(cast: Cast, together: Together) -> None:
    """IN-E61, IN-E59: the other is told that it was edited meanwhile."""
    for _ in range(ROUNDS):
        approval = ask(cast, refund(200_000))
        edits = [(cast.dana, 150_000), (cast.priya, 160_000)]
        answers = together(*(partial(say, approval, who, "edit", edited=refund(amount)) for who, amount in edits))
        codes = [getattr(answer, "code", "") for answer in answers]
        assert sorted(codes) in (["", "stale_revision"], ["", "too_late"])


def test_a_double_press_of_one_person_is_one_decision(cast: Cast, together: Together) -> None:
    """AP-D1, AP-D16: four copies of one request at once."""
    approval = ask(cast, refund(200_000))
    answers = together(*[partial(say, approval, cast.dana, "approve")] * 4)
    assert [getattr(answer, "code", "") for answer in answers].count("") == 1
    assert Decision.objects.filter(approval=approval).count() == 1


def test_deciding_expiring_and_withdrawing_at_once_end_it_once(
    cast: Cast, together: Together, heard: list[Any]
) -> None:
    """DS-6: whoever comes first, the machine hears of exactly one end."""
    for _ in range(ROUNDS):
        heard.clear()
        approval = ask(cast, refund())
        Approval.objects.filter(pk=approval.pk).update(expires_at=rows.now())
        stop = partial(gate.withdraw, approval.workspace_id, approval.chain, by="system", reason="Stopped.")
        together(partial(say, approval, cast.dana, "approve"), stop, approvals.expire_due)
        assert [told.subject for told in heard] == [approval.subject]
