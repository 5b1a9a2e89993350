"""Working hours: how they are said and erased, and that reminders wait for them while nothing else does."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from approvals import departures, gate, hours, people, rows
from approvals.approvals import Approval
from approvals.due_steps import DueStep
from approvals.hours import WorkingHours
from approvals.ledger import entries
from approvals.people import Person
from approvals.votes import Refused
from approvals.weeks import DAYS, Week
from tests.approvals.test_deadlines import LEVELS, rule, told
from tests.cast import Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")

WEEK = {"mon": ("09:00", "17:30"), "sat": ("22:00", "02:00")}


def code(answer: object) -> str:
    return answer.code if isinstance(answer, Refused) else ""


def command(*words: str) -> str:
    out = StringIO()
    call_command("people", "hours", *words, stdout=out)
    return out.getvalue()


def works(person: Person, begins: float, lasts: float) -> None:
    """Let somebody work every day from so many hours from now, for so long, in UTC."""
    now = rows.now()
    start, end = (now + timedelta(hours=each) for each in (begins, begins + lasts))
    days = dict.fromkeys(DAYS, (f"{start:%H:%M}", f"{end:%H:%M}"))
    assert isinstance(hours.set_to(person, "UTC", days, by=person), Week)


def reminded(approval: Approval) -> list[set[str]]:
    return [set(one["told"]) for one in told(approval, "reminded")]


def test_a_person_says_when_they_work_and_the_ledger_has_it_without_their_days(cast: Cast) -> None:
    """RL-9: in every workspace of theirs, with a digest that says nothing once the row is gone."""
    assert hours.of(cast.dana) is None
    assert hours.set_to(cast.dana, "Europe/Berlin", WEEK, by=cast.dana) == hours.of(cast.dana)
    (entry,) = entries.read(cast.northwind.pk, "workspace", only=["person.hours_set"])
    assert entry["person"] == entry["by"] == cast.dana.public_id and "Berlin" not in str(entry)
    assert entry["digest"] == hours.digest(WorkingHours.objects.get())
    assert hours.clear(cast.dana, by=cast.dana) is None and hours.of(cast.dana) is None
    assert entries.read(cast.northwind.pk, "workspace", only=["person.hours_cleared"])


def test_nobody_says_when_another_works(cast: Cast) -> None:
    """RL-9: nor somebody who was switched off; an operator at the command line may."""
    assert code(hours.set_to(cast.dana, "UTC", WEEK, by=cast.omar)) == "not_allowed"
    assert code(hours.clear(cast.dana, by=cast.omar)) == "not_allowed"
    departures.deactivate(cast.dana, by="system")
    assert code(hours.set_to(cast.dana, "UTC", WEEK, by=None)) == "not_active"
    assert not WorkingHours.objects.exists()


@pytest.mark.parametrize("how", ["left", "switched off"])
def test_hours_are_erased_with_the_person(cast: Cast, how: str) -> None:
    """RL-9: when they are switched off, or belong nowhere any more."""
    hours.set_to(cast.dana, "Europe/Berlin", WEEK, by=None)
    if how == "left":
        people.join(cast.dana, cast.halden, by="system")
        people.leave(cast.dana, cast.northwind, by="system")
        assert WorkingHours.objects.exists()
        people.leave(cast.dana, cast.halden, by="system")
    else:
        departures.deactivate(cast.dana, by="system")
    assert not WorkingHours.objects.exists()


def test_the_command_sets_shows_and_clears_them(cast: Cast) -> None:
    """RL-9."""
    berlin = ("--zone", "Europe/Berlin", "--day", "mon-fri 09:00-17:30", "--day", "sat 22:00-02:00")
    assert "no working hours" in command(cast.dana.email)
    assert command(cast.dana.email, *berlin).splitlines()[:2] == ["Europe/Berlin", "mon  09:00-17:30"]
    assert command(cast.dana.email).splitlines()[-1] == "sat  22:00-02:00"
    assert entries.read(cast.northwind.pk, "workspace", only=["person.hours_set"])[0]["by"] == "system"
    assert "at any time" in command(cast.dana.email, "--clear", "--as", cast.dana.email)
    assert not WorkingHours.objects.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--zone", "Mars/Olympus", "--day", "mon 09:00-17:00"), "/zone zone: 'Mars/Olympus' is no zone"),
        (("--zone", "Europe/Berlin", "--day", "mon 9-17"), "/days/mon/from clock: "),
        (("--zone", "Europe/Berlin", "--day", "moonday 9-17"), "/days day: "),
        (("--zone", "Europe/Berlin"), "/days minItems: "),
        (("--day", "mon 09:00-17:00"), "/zone zone: Name a zone"),
        (("--clear", "--zone", "Europe/Berlin"), "--clear goes alone"),
        (("--zone", "Europe/Berlin", "--day", "mon 09:00-17:00", "--as", "omar@northwind.example"), "themselves"),
    ],
)
def test_the_command_refuses_by_place_and_rule(cast: Cast, words: tuple[str, ...], said: str) -> None:
    """RL-9: and nothing is kept."""
    with pytest.raises(CommandError) as refused:
        command(cast.dana.email, *words)
    assert said in str(refused.value) and not WorkingHours.objects.exists()


def test_a_reminder_waits_for_the_hours_of_each_and_comes_once(cast: Cast, later: Any) -> None:
    """RL-9: who works is told in time, who does not when they do, and neither twice."""
    rule(cast, "remind_after: 50m")
    works(cast.dana, 0.9, 8)
    approval = ask(cast, refund(), requester=cast.oskar)
    for hour in (0.8, 0.84, 0.88, 0.95, 0.97):
        later(hour)
        gate.do_due()
    assert reminded(approval) == [{cast.priya.public_id}, {cast.dana.public_id}]
    assert DueStep.objects.filter(approval=approval, done_at=None).count() == 1


def test_who_decided_while_another_slept_leaves_nobody_to_remind(cast: Cast, later: Any) -> None:
    """RL-5, RL-9: looked at once more when the hours begin."""
    rule(cast, "remind_after: 30m")
    works(cast.dana, 0.7, 8)
    works(cast.priya, 0.7, 8)
    approval = ask(cast, refund(), requester=cast.oskar)
    later(0.55)
    assert gate.do_due() == 0 and not reminded(approval)
    say(approval, cast.priya, "approve")
    later(0.8)
    assert gate.do_due() == 0 and not reminded(approval)


def test_no_hours_put_a_deadline_or_a_level_off(cast: Cast, later: Any) -> None:
    """RL-7, RL-9: all sleep, and more people are asked in time; nobody is reminded, and it expires."""
    rule(cast, f"remind_after: 30m\n    {LEVELS}")
    for person in (cast.dana, cast.priya, cast.omar, cast.riley):
        works(person, 12, 4)
    approval = ask(cast, refund(), requester=cast.oskar)
    ends = approval.ends_at
    later(1.1)
    assert gate.do_due() == 1 and told(approval, "escalated")[0]["level"] == 1
    later(3.6)
    assert gate.expire_due() == 1
    approval.refresh_from_db()
    assert (approval.status, approval.ends_at) == ("expired", ends) and not reminded(approval)
    assert gate.do_due() == 0 and not DueStep.objects.filter(done_at=None).exists()


@pytest.mark.parametrize("broken", [{"zone": "Mars/Olympus"}, {"days": {}}, {"days": {"mon": "all day"}}, {"days": 7}])
def test_a_row_that_says_nothing_any_more_keeps_no_reminder_back(
    cast: Cast, later: Any, caplog: Any, broken: dict[str, Any]
) -> None:
    """RL-6, RL-9: a zone may go from the database of zones."""
    rule(cast, "remind_after: 30m")
    hours.set_to(cast.dana, "UTC", WEEK, by=None)
    WorkingHours.objects.update(**broken)
    approval = ask(cast, refund(), requester=cast.oskar)
    later(0.6)
    assert gate.do_due() == 1 and cast.dana.public_id in reminded(approval)[0] and "cannot be read" in caplog.text
    assert not isinstance(hours.set_to(cast.dana, "UTC", WEEK, by=None), Refused)
