"""Oversight: where a yes has become a habit, whoever answers for the policy is told."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from approvals import oversight, rows
from approvals.approvals import Approval
from approvals.oversight import Ended, Habit, Report
from tests.cast import Cast, ask, refund, say
from tests.clock import set_forward

pytestmark = pytest.mark.usefixtures("heard")

MONTH = timedelta(days=30)


@pytest.fixture(autouse=True)
def slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred times slower than people, so that a busy machine is none of them."""
    for name, slower in {"QUICK": 300, "READING": 1, "QUICK_MOST": 6000}.items():
        monkeypatch.setattr(oversight, name, slower)


class Clock:
    """The database's clock, which goes on as told."""

    seconds = -2 * 86_400

    def passes(self, seconds: float) -> None:
        self.seconds += int(seconds)
        set_forward(self.seconds)


@pytest.fixture
def clock(cast: Cast) -> Clock:
    return Clock()


def decided(cast: Cast, clock: Clock, verdict: str, *, after: float, by: Any = None, **more: Any) -> Approval:
    """An approval that somebody decided so many seconds after it was asked, hours after the last."""
    clock.passes(7200)
    approval = ask(cast, refund(**more))
    clock.passes(after)
    say(approval, by or cast.dana, verdict, message="So it is.")
    return approval


def habit(found: Report, of: str, name: str) -> Habit:
    [one] = [each for each in found.of(of) if each.name == name]
    return one


def measured(cast: Cast) -> Report:
    return oversight.report(cast.northwind.pk, MONTH)


def test_people_tools_and_channels_are_counted(cast: Cast, clock: Clock) -> None:
    decided(cast, clock, "approve", after=1000)
    decided(cast, clock, "approve", after=2000)
    decided(cast, clock, "reject", after=500, by=cast.priya)
    found = measured(cast)
    dana, tool = habit(found, "person", str(cast.dana.pk)), habit(found, "tool", "payments.create_refund")
    assert (dana.decisions, dana.yeses, dana.noes, dana.quick) == (2, 2, 0, 0)
    assert dana.seconds and 1500 <= dana.seconds < 1600
    assert (tool.decisions, tool.noes) == (3, 1) and tool.length and tool.length > 40
    assert habit(found, "channel", "web").decisions == 3 and found.whole


@pytest.mark.parametrize(
    ("after", "note", "quick"),
    [(200, "", 1), (400, "", 0), (400, "x" * 430, 1), (600, "x" * 430, 0)],
    ids=["at once", "short and read", "long and not read", "long and read"],
)
def test_a_yes_that_nobody_can_have_read_is_very_quick(
    cast: Cast, clock: Clock, after: float, note: str, quick: int
) -> None:
    """HF-5: the time is held against how much there is to read."""
    decided(cast, clock, "approve", after=after, note=note)
    assert habit(measured(cast), "person", str(cast.dana.pk)).quick == quick


def test_one_yes_after_the_other_is_quick_however_long_each_waited(cast: Cast, clock: Clock) -> None:
    """HF-5: nobody reads the next one before they have decided the last."""
    clock.passes(0)
    both = [ask(cast, refund(amount)) for amount in (42_000, 43_000)]
    clock.passes(3000)
    for approval in both:
        say(approval, cast.dana, "approve")
    assert habit(measured(cast), "person", str(cast.dana.pk)).quick == 1


def test_a_quick_no_is_no_habit_of_saying_yes(cast: Cast, clock: Clock) -> None:
    decided(cast, clock, "reject", after=1)
    assert habit(measured(cast), "person", str(cast.dana.pk)).quick == 0


def test_an_editors_own_yes_is_not_timed(cast: Cast) -> None:
    approval = ask(cast, refund())
    say(approval, cast.dana, "edit", edited=refund(43_000))
    assert habit(measured(cast), "person", str(cast.dana.pk)).quick == 0


def test_what_expired_and_what_is_asked_again_is_counted_by_tool(cast: Cast, clock: Clock) -> None:
    """HF-4: repeats of a refused call are counted."""
    decided(cast, clock, "reject", after=900)
    again = decided(cast, clock, "approve", after=900)
    gone = ask(cast, refund(77_000))
    Approval.objects.filter(pk=gone.pk).update(status="expired", decided_at=rows.now())
    assert again.refused_before == 1
    assert measured(cast).ended == (Ended("payments.create_refund", ended=3, expired=1, repeats=1),)


def test_rehearsals_and_other_workspaces_are_left_out(cast: Cast, clock: Clock) -> None:
    approval = ask(cast, refund(), rehearsal=True)
    say(approval, cast.dana, "approve")
    assert measured(cast) == Report(MONTH, (), (), True)
    decided(cast, clock, "approve", after=900)
    with rows.within(cast.halden):
        assert oversight.report(cast.halden.pk, MONTH) == Report(MONTH, (), (), True)


def test_what_is_older_is_left_out(cast: Cast, clock: Clock) -> None:
    decided(cast, clock, "approve", after=900)
    clock.passes(86_400)
    assert not oversight.report(cast.northwind.pk, timedelta(hours=1)).habits


def test_a_bound_says_that_it_was_reached(cast: Cast, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oversight, "MOST", 1)
    for _ in range(2):
        decided(cast, clock, "approve", after=900)
    found = measured(cast)
    assert not found.whole and habit(found, "channel", "web").decisions == 1


def test_the_report_is_two_statements_however_much_there_is(cast: Cast, clock: Clock) -> None:
    for _ in range(3):
        decided(cast, clock, "approve", after=900)
    with CaptureQueriesContext(connection) as asked:
        measured(cast)
    assert len(asked) <= 2


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"decisions": 20, "yeses": 20}, "said yes to all of 20."),
        ({"decisions": 19, "yeses": 19}, ""),
        ({"decisions": 30, "yeses": 29, "noes": 1}, ""),
        ({"decisions": 30, "yeses": 24, "noes": 6, "quick": 6}, "gave 6 of 24 yeses faster than anybody reads."),
        ({"decisions": 30, "yeses": 24, "noes": 6, "quick": 5}, ""),
    ],
    ids=["always yes", "too few", "one no", "at once", "seldom at once"],
)
def test_a_habit_is_brought_to_notice(cast: Cast, facts: dict[str, Any], told: str) -> None:
    """HF-5: always yes, or yes at once, and often enough to be a habit."""
    numbers = {"decisions": 0, "yeses": 0, "noes": 0, "quick": 0, "seconds": 9.0, "length": 90.0} | facts
    found = Report(MONTH, (Habit("person", str(cast.dana.pk), **numbers),), (), True)
    assert list(oversight.noticed(found)) == ([f"Dana Okafor {told}"] if told else [])


def test_a_tool_that_nobody_answers_for_is_brought_to_notice() -> None:
    found = Report(MONTH, (), (Ended("mail.send", 20, 11, 0), Ended("tickets.read", 20, 10, 0)), True)
    assert list(oversight.noticed(found)) == ["11 of 20 approvals of mail.send expired: nobody answered."]


def told(*words: str) -> str:
    out = StringIO()
    call_command("oversight", *words, stdout=out)
    return out.getvalue()


def test_the_command_tells_it_in_lines_and_as_json(cast: Cast, clock: Clock) -> None:
    """HF-5."""
    decided(cast, clock, "approve", after=1000)
    lines = told("--workspace", "northwind")
    assert "By person  Dana Okafor  1 decision, 0 no, 0 very quick, 10" in lines
    assert "Nothing stands out." in lines
    whole = json.loads(told("--workspace", "northwind", "--json"))
    assert whole["person"][0]["id"] == cast.dana.public_id and whole["ended"][0]["ended"] == 1
    assert "Dana" not in told("--workspace", "halden")


@pytest.mark.parametrize("days", ["0", "366"])
def test_the_command_looks_back_a_year_at_most(cast: Cast, days: str) -> None:
    with pytest.raises(CommandError, match="365"):
        told("--workspace", "northwind", "--days", days)
