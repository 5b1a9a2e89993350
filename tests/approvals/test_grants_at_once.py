"""Calls that race for one standing grant, and a database that was changed past Placet."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from approvals import grants, policies
from approvals.granting import Wish
from approvals.grants import GrantUse
from approvals.ledger import entries
from tests.approvals.test_grants import PATTERN, POLICY, cleared, give, hold
from tests.cast import Cast, refund
from tests.tampering import Tamper
from tests.tampering import tamper as tamper

pytestmark = [pytest.mark.committed, pytest.mark.usefixtures("heard")]
Together = Callable[..., list[Any]]


@pytest.fixture(autouse=True)
def _policy(cast: Cast) -> None:
    policies.load(cast.northwind, POLICY.replace("uses: 3", "uses: 50"), by="system")


def verdicts(answers: list[Any]) -> list[str]:
    return sorted(held.verdict for _, held in answers)


def test_calls_that_race_never_use_more_than_was_given(cast: Cast, together: Together) -> None:
    """AZ-15: the count is held under a lock, and the rest is asked."""
    give(cast, Wish(uses=2))
    answers = together(*[partial(hold, cast)] * 6)
    assert verdicts(answers) == ["allow"] * 2 + ["require_approval"] * 4
    used = entries.read(cast.northwind.pk, "workspace", only=["grant.used"])
    assert [one["number"] for one in used] == [1, 2] and list(grants.unproven(cast.northwind.pk)) == []


def test_calls_that_race_never_come_to_more_than_the_sum(cast: Cast, together: Together) -> None:
    give(cast, Wish(pattern=PATTERN, sum_at_most=50_000))
    answers = together(*[partial(hold, cast, refund(20_000))] * 6)
    assert verdicts(answers).count("allow") == 2
    assert sum(GrantUse.objects.values_list("amount", flat=True)) == 40_000


def test_uses_and_the_end_race_without_a_deadlock(cast: Cast, together: Together) -> None:
    grant = give(cast, Wish(uses=9))
    answers = together(*[partial(hold, cast)] * 4, partial(grants.end, grant, by="system"))
    assert answers[-1] is True and {"allow", "require_approval"} >= set(verdicts(answers[:-1]))
    assert all(cleared(cast, held).code == "grant_over" for held in answers[:-1] if held[1].verdict == "allow")
    assert hold(cast)[1].verdict == "require_approval"


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM approvals_grantuse",
        "UPDATE approvals_grantuse SET amount = 0",
        "UPDATE approvals_grantuse SET number = 2",
        "DELETE FROM approvals_entry WHERE kind = 'grant.used'",
    ],
)
def test_uses_that_were_taken_away_make_no_room(cast: Cast, tamper: Tamper, statement: str) -> None:
    """AZ-15, AU-2: rows and entries have to say the same, else people are asked."""
    give(cast, Wish(uses=2))
    assert hold(cast)[1].verdict == "allow"
    tamper(statement)
    assert hold(cast)[1].verdict == "require_approval"
    if "grantuse" in statement:
        assert len(list(grants.unproven(cast.northwind.pk))) >= 1


def test_a_use_without_its_entry_lets_nothing_be_sent(cast: Cast, tamper: Tamper) -> None:
    """AU-2: the ruling is genuine, and by the ledger the grant never covered it."""
    give(cast, Wish(uses=2))
    held = hold(cast)
    tamper("UPDATE approvals_entry SET kind = 'grant.lost' WHERE kind = 'grant.used'")
    assert cleared(cast, held).code in {"grant_over", "tampered"}
