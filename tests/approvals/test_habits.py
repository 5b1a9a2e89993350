"""Habits: those who answer for the policy are told what stands out in how people decide, without asking for it."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import habits, oversight, policies
from approvals.ledger import entries
from approvals.ledger.about import Broken
from approvals.oversight import Ended, Habit, Report
from tests.approvals.pages.conftest import Reads
from tests.approvals.pages.conftest import reads as reads
from tests.cast import POLICY, Cast

pytestmark = pytest.mark.usefixtures("heard")


@pytest.fixture
def shows(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`shows(yeses, quick)`: so Dana decided in the last days, by the figures; 0 for nothing."""

    def show(yeses: int, quick: int = 0, expired: int = 0) -> None:
        dana = Habit("person", str(cast.dana.pk), yeses, yeses, 0, quick, 9.0, 90.0)
        ended = (Ended("mail.send", 20, expired, 0),) if expired else ()
        found = Report(habits.SPAN, (dana,) if yeses else (), ended, True)
        monkeypatch.setattr(oversight, "report", lambda *_: found)

    return show


def told(cast: Cast) -> list[dict[str, Any]]:
    return list(entries.read(cast.northwind.pk, "workspace", only=[habits.NOTICED]))


def test_a_habit_is_written_once_and_its_end_too(cast: Cast, shows: Any) -> None:
    """HF-5: an entry of the workspace's chain, by nobody; not another for every look."""
    shows(24)
    assert habits.look(cast.northwind.pk) and not habits.look(cast.northwind.pk)
    shows(25)
    assert not habits.look(cast.northwind.pk)
    shows(25, quick=20)
    assert habits.look(cast.northwind.pk)
    shows(0)
    assert habits.look(cast.northwind.pk)
    facts = [entry["facts"] for entry in told(cast)]
    assert facts[0] == [{"of": cast.dana.public_id, "what": "always_yes", "count": 24, "all": 24}]
    assert [len(each) for each in facts] == [1, 2, 0] and {entry["by"] for entry in told(cast)} == {"system"}


def test_who_answers_for_the_policy_has_it_in_the_inbox(cast: Cast, reads: Reads, shows: Any) -> None:
    """HF-5: whoever administers the workspace, and whoever wrote the policy; nobody else, and not who it is about."""
    shows(24, expired=11)
    habits.look(cast.northwind.pk)
    html = reads(cast.omar).get("/w/northwind/").content.decode()
    assert "Dana Okafor said yes to all of 24." in html and "11 of 20 approvals of mail.send expired" in html
    for person in (cast.dana, cast.priya, cast.riley):
        assert "How people decide" not in reads(person).get("/w/northwind/").content.decode()
    policies.load(cast.northwind, POLICY.replace("1h", "2h"), by="system", author=cast.riley)
    assert "Dana Okafor said yes" in reads(cast.riley).get("/w/northwind/").content.decode()


def test_what_is_over_is_not_shown_any_more(cast: Cast, reads: Reads, shows: Any) -> None:
    shows(24)
    habits.look(cast.northwind.pk)
    shows(0)
    habits.look(cast.northwind.pk)
    assert "How people decide" not in reads(cast.omar).get("/w/northwind/").content.decode()


def test_the_sweep_looks_by_itself_and_not_all_the_time(cast: Cast, shows: Any) -> None:
    """HF-5: nobody has to ask, or to start anything."""
    habits._NEXT.clear()
    shows(24)
    assert habits.look_around() == 1 and habits.look_around() == 0
    assert len(told(cast)) == 1


def test_a_broken_ledger_is_said_in_the_place_of_habits(
    cast: Cast, reads: Reads, shows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be believed is not shown as if it could, and holds no sweep up."""
    habits._NEXT.clear()
    shows(24)

    def broken(key: Any) -> Any:
        raise Broken("An entry is gone.")

    monkeypatch.setattr(habits._TOLD, "of", broken)
    assert habits.look_around() == 0
    assert "An entry is gone." in reads(cast.omar).get("/w/northwind/").content.decode()
