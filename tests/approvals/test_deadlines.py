"""Deadlines: levels at which more people may decide, reminders, and the rows by which the sweep knows what is due."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from approvals import approvals, bars, deadlines, gate, halts, people, policies, rows
from approvals.approvals import Approval
from approvals.decisions import standing
from approvals.due_steps import DueStep
from approvals.ledger import entries
from approvals.policies import PolicyFault
from approvals.policy_documents import read_document
from tests.approvals.test_absences import absent, cleared, said
from tests.cast import POLICY, Cast, ask, formed, refund, say

pytestmark = pytest.mark.usefixtures("heard")

LEVELS = "on_deadline: escalate\n    escalate: [{teams: [managers], deadline: 2h}, {teams: [board], deadline: 30m}]"


def rule(cast: Cast, words: str) -> None:
    """Every deadline of an hour says these words beside it; Omar manages, and Riley and Omar are the board."""
    for slug, members in {"managers": [cast.omar], "board": [cast.omar, cast.riley]}.items():
        team = formed(cast.northwind, slug)
        for person in members:
            people.grant(person, "decide", team, by="system")
    policies.load(cast.northwind, POLICY.replace("deadline: 1h", f"deadline: 1h\n    {words}"), by="system")


def told(approval: Approval, kind: str) -> list[dict[str, Any]]:
    return [one for one in entries.read(approval.workspace_id, approval.chain) if one["kind"] == f"approval.{kind}"]


def test_each_level_adds_people_and_the_end_is_that_of_the_last(cast: Cast, later: Any) -> None:
    """RL-7: managers after an hour, the board two hours later; before, neither may decide."""
    rule(cast, LEVELS)
    approval = ask(cast, refund(), requester=cast.oskar)
    assert approval.expires_at - approval.created_at > timedelta(hours=3.4)
    may = []
    for hours in (0.9, 1.1, 3.1, 3.6):
        later(hours)
        may.append((standing(approval, cast.omar).may, standing(approval, cast.riley).may))
    assert may[:3] == [(False, False), (True, False), (True, True)]
    assert said(say(approval, cast.omar, "approve")) == "too_late"


def test_who_is_added_fills_a_seat_and_the_bar_stays(cast: Cast, later: Any) -> None:
    """RL-7: two were needed, and two are needed; what they approved together is cleared."""
    rule(cast, LEVELS)
    approval = ask(cast, refund(200_000))
    assert said(say(approval, cast.dana, "approve")) == "pending"
    assert said(say(approval, cast.omar, "approve")) == "not_allowed"
    later(1.1)
    assert said(say(approval, cast.omar, "approve")) == "approved" and cleared(approval) == "cleared"


def test_a_level_counts_only_where_the_rule_of_today_has_come_to_it(cast: Cast, later: Any) -> None:
    """RL-7: who decided before their time, by the rule of today, has not decided."""
    rule(cast, LEVELS)
    approval = ask(cast, refund())
    later(1.1)
    assert said(say(approval, cast.omar, "approve")) == "approved" and cleared(approval) == "cleared"
    today = POLICY.replace("deadline: 1h", f"deadline: 30d\n    {LEVELS}")
    policies.load(cast.northwind, today, by="system")
    assert cleared(approval) == "votes_fall_short"


def test_who_asked_and_who_edited_is_barred_at_every_level(cast: Cast, later: Any) -> None:
    """RL-7, AZ-2: to whom it escalates is no way around the rule."""
    rule(cast, LEVELS)
    own = ask(cast, refund(), requester=cast.omar)
    later(1.1)
    assert said(say(own, cast.omar, "approve")) == "self_review"


def test_the_sweep_tells_of_a_level_once_and_shows_it_to_who_is_new(cast: Cast, later: Any) -> None:
    """RL-7, RL-8: those who were asked before are told as well, and it is in the ledger."""
    rule(cast, LEVELS)
    approval = ask(cast, refund())
    assert deadlines.do_due() == 0
    later(1.1)
    assert [deadlines.do_due(), deadlines.do_due()] == [1, 0]
    (entry,) = told(approval, "escalated")
    assert (entry["level"], entry["teams"]) == (1, ["managers"])
    assert set(entry["told"]) == {person.public_id for person in (cast.dana, cast.priya, cast.omar)}
    assert Approval.objects.get().teams == ["finance", "managers"]


def test_a_stop_keeps_levels_from_beginning_and_nothing_is_lost(cast: Cast, later: Any) -> None:
    """HF-6, RL-7: nobody is told of a level that has not begun; it begins later by the time of the stop."""
    rule(cast, LEVELS)
    approval = ask(cast, refund())
    halts.begin(cast.northwind, by=cast.omar)
    later(50)
    assert deadlines.do_due() == 0 and not told(approval, "escalated")
    halts.end(cast.northwind, by=cast.omar)
    later(50.5)
    assert deadlines.do_due() == 0
    later(51.2)
    assert deadlines.do_due() == 1 and told(approval, "escalated")[0]["level"] == 1


def test_an_hour_without_a_sweep_is_made_up_for_in_order(cast: Cast, later: Any) -> None:
    """RL-8: each step happens once, the oldest first, and none for what has ended."""
    rule(cast, f"remind_after: 30m\n    {LEVELS}")
    waits, ended = ask(cast, refund()), ask(cast, refund())
    later(3.2)
    say(ended, cast.dana, "reject", message="No.")
    assert gate.do_due() == 3
    kinds = [one["kind"] for one in entries.read(waits.workspace_id, waits.chain)][-3:]
    assert kinds == ["approval.reminded", "approval.escalated", "approval.escalated"]
    assert [one["level"] for one in told(waits, "escalated")] == [1, 2]
    assert not told(ended, "reminded") and not DueStep.objects.filter(approval=ended).exists()
    assert gate.do_due() == 0


def test_a_reminder_comes_back_until_people_have_decided(cast: Cast, later: Any) -> None:
    """RL-4, RL-5: rows, each looked at once more before anybody is told; who has voted or is away is left alone."""
    rule(cast, "remind_after: 20m")
    approval = ask(cast, refund(200_000))
    later(0.4)
    gate.do_due()
    say(approval, cast.dana, "approve")
    later(0.8)
    gate.do_due()
    assert [len(one["told"]) for one in told(approval, "reminded")] == [2, 1]
    say(approval, cast.priya, "approve")
    later(0.95)
    assert gate.do_due() == 0 and not DueStep.objects.filter(done_at=None, due_at__lte=rows.now()).exists()


def test_who_is_out_of_office_is_not_reminded_and_the_deputy_is(cast: Cast, later: Any) -> None:
    """RL-5, AZ-8."""
    rule(cast, "remind_after: 20m")
    approval = ask(cast, refund(), requester=cast.oskar)
    absent(cast, cast.dana, kind="out_of_office", deputy=cast.omar)
    later(0.4)
    gate.do_due()
    assert set(told(approval, "reminded")[0]["told"]) == {cast.priya.public_id, cast.omar.public_id}


def test_a_reminder_that_fails_blocks_no_other_and_is_given_up(cast: Cast, later: Any, caplog: Any) -> None:
    """RL-6, CH-B164: its time moves, and after some tries it is gone, loudly."""
    rule(cast, "remind_after: 20m")
    broken, sound = ask(cast, refund()), ask(cast, refund())
    Approval.objects.filter(pk=broken.pk).update(tool_title="Something else")
    later(0.4)
    assert gate.do_due() == 1 and len(told(sound, "reminded")) == 1
    for _ in range(deadlines.MOST_TRIES):
        DueStep.objects.filter(approval=broken).update(due_at=rows.now())
        gate.do_due()
    assert not DueStep.objects.filter(approval=broken).exists() and "given up" in caplog.text


def test_a_row_that_was_written_past_placet_lets_nobody_decide(cast: Cast, later: Any) -> None:
    """RL-7: who may decide is read from the signed rule and the clock, whatever is due."""
    rule(cast, LEVELS)
    approval = ask(cast, refund())
    DueStep.objects.update(due_at=rows.now() - timedelta(hours=1))
    assert gate.do_due() == 0 and not told(approval, "escalated")
    Approval.objects.update(teams=["managers"])
    assert said(say(approval, cast.omar, "approve")) == "not_allowed"


def test_an_edit_under_a_rule_that_does_not_escalate_takes_the_levels_away(cast: Cast, later: Any) -> None:
    """RL-7, AZ-5: whom only the milder rule adds counts for nothing under both."""
    rule(cast, "remind_after: 20m")
    one = read_document(POLICY)["rules"][1]
    level = {"teams": ["managers"], "deadline": 60}
    assert bars.stricter(one | {"escalate": [level]}, one)["escalate"] == []
    assert "escalate" not in bars.stricter(one, one | {"escalate": [level]})
    assert bars.stricter(one | {"escalate": [level]}, one | {"escalate": [level]})["escalate"] == [level]


@pytest.mark.parametrize(
    ("words", "pointer"),
    [
        ("on_deadline: escalate", "/rules/1/escalate"),
        ("escalate: [{teams: [managers], deadline: 1h}]", "/rules/1/on_deadline"),
        ("on_deadline: escalate\n    escalate: []", "/rules/1/escalate"),
        ("on_deadline: escalate\n    escalate: [{teams: [managers], deadline: 90d}]", "/rules/1/escalate"),
        ("on_deadline: escalate\n    escalate: [{teams: [nobody], deadline: 1h}]", "/rules/1/escalate/0/teams/0"),
        ("on_deadline: escalate\n    escalate: [{teams: [empty], deadline: 1h}]", "/rules/1/escalate/0/teams"),
        ("remind_after: 1h", "/rules/1/remind_after"),
    ],
)
def test_words_that_could_not_be_kept_are_refused(cast: Cast, words: str, pointer: str) -> None:
    """RL-7, AZ-3: at load, at their place."""
    formed(cast.northwind, "empty")
    formed(cast.northwind, "managers")
    with pytest.raises(PolicyFault) as fault:
        policies.load(cast.northwind, POLICY.replace("deadline: 1h", f"deadline: 1h\n    {words}"), by="system")
    assert fault.value.pointer == pointer


def test_nothing_is_due_for_a_rule_that_says_nothing(cast: Cast) -> None:
    approval = ask(cast, refund())
    assert not DueStep.objects.exists()
    assert (
        approvals.current_revision(approval).ruling.header["expiry"] == f"{approval.expires_at:%Y-%m-%dT%H:%M:%S.%fZ}"
    )
