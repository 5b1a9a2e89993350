"""Several people at the same instant, on real connections: one winner, nobody stuck, nobody unheard."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connection

from approvals import approvals, changes, gate, policies, rows
from approvals.approvals import Approval
from approvals.decisions import Decided, Decision, Refused
from approvals.people import Person
from tests.cast import POLICY, Cast, ask, refund, say

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


CHANGES = """
  - id: changes
    match: {kind: change, when: {properties: {rules: {maxItems: 4}}}}
    verdict: require_approval
    approvals: [{team: finance}]
"""


def wants(cast: Cast, by: Person) -> Approval | Refused:
    return changes.propose(cast.northwind, changes.of_policy(cast.northwind, policies.read_document(POLICY)), by=by)


def test_of_two_who_want_the_same_change_at_once_one_is_asked_for(cast: Cast, together: Together) -> None:
    """AZ-9: the other is told that it waits."""
    policies.load(cast.northwind, POLICY + CHANGES, by="system")
    answers = together(*(partial(wants, cast, who) for who in (cast.riley, cast.omar, cast.priya)))
    codes = [getattr(answer, "code", "") for answer in answers]
    assert sorted(codes) == ["", "waits_already", "waits_already"], answers


def test_a_version_that_comes_in_the_moment_of_the_last_yes_stays(cast: Cast, together: Together) -> None:
    """AZ-9: what people approved is older than it, and changes nothing."""
    policies.load(cast.northwind, POLICY + CHANGES, by="system")
    approval = wants(cast, cast.omar)
    assert isinstance(approval, Approval), approval
    loaded = threading.Event()

    def load() -> None:
        with rows.within(cast.northwind):
            policies.load(cast.northwind, POLICY + CHANGES + CHANGES.replace("id: changes", "id: more"), by="system")
            loaded.set()
            waited_for()

    def yes() -> Decided | Refused:
        assert loaded.wait(20)
        return say(approval, cast.dana, "approve")

    together(load, yes)
    approval.refresh_from_db()
    assert (approval.outcome, policies.current_version(cast.northwind.pk)) == ("failed", 3)


def waited_for() -> None:
    """Until somebody waits for a lock that this transaction holds."""
    with connection.cursor() as cursor:
        for _ in range(10_000):
            cursor.execute("SELECT 1 FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))")
            if cursor.fetchone():
                return
    raise AssertionError("Nobody waits.")
