"""When an approval really ends: its deadline, and the time for which it was frozen."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from approvals import approvals, rows
from approvals.approvals import Approval
from approvals.decisions import Decided, Refused
from approvals.pages.reader import Reader
from tests.cast import Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")


def past(approval: Approval, *, frozen: int, **more: Any) -> Approval:
    """The approval a minute past its deadline, frozen for so many seconds by a hand that has the key."""
    approval.expires_at, approval.frozen_seconds = rows.now() - timedelta(minutes=1), frozen
    columns = {"expires_at": approval.expires_at, "frozen_seconds": frozen, "mac": approvals.sign(approval)}
    Approval.objects.filter(pk=approval.pk).update(**columns | more)
    approval.refresh_from_db()
    return approval


def test_it_ends_later_by_the_time_it_was_frozen(cast: Cast) -> None:
    approval = ask(cast, refund())
    assert approval.ends_at == approval.expires_at
    assert past(approval, frozen=90).ends_at == approval.expires_at + timedelta(seconds=90)


def test_past_its_deadline_it_is_open_as_long_as_it_was_frozen(cast: Cast) -> None:
    """DS-3: for people and for the sweep alike."""
    approval = past(ask(cast, refund()), frozen=3600)
    assert approvals.expire_due() == 0 and Reader(cast.northwind, cast.dana).counts()["for-you"] == 1
    assert isinstance(say(approval, cast.dana, "approve"), Decided)


def test_the_frozen_time_ends_as_well(cast: Cast) -> None:
    """DS-3."""
    approval = past(ask(cast, refund()), frozen=30)
    answer = say(approval, cast.dana, "approve")
    assert isinstance(answer, Refused) and answer.code == "too_late"
    assert f"{approval.ends_at:%H:%M:%S}" in answer.message and approvals.expire_due() == 1


def test_nobody_gets_more_time_by_writing_into_the_database(cast: Cast) -> None:
    """SC-1: the seconds are signed, and what they come to is the database's own sum."""
    approval = past(ask(cast, refund()), frozen=10)
    Approval.objects.update(frozen_seconds=3600)
    answer = say(approval, cast.dana, "approve")
    assert isinstance(answer, Refused) and answer.code == "tampered"


def test_freezing_changes_no_digest(cast: Cast) -> None:
    """BD-1: what people vote on stays what it was."""
    approval = ask(cast, refund())
    before = approvals.current_revision(approval).digest
    assert approvals.current_revision(past(approval, frozen=90)).digest == before
