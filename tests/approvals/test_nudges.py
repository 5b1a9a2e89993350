"""Nudges: whoever waits presses, those who can still decide are told once, and nothing is decided by it."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from approvals import gate, halts, nudges, people, rows
from approvals.approvals import Approval
from approvals.due_steps import DueStep
from approvals.nudges import Nudged
from approvals.people import Person
from approvals.votes import Refused
from tests.approvals.test_absences import absent, said
from tests.approvals.test_deadlines import LEVELS, rule, told
from tests.approvals.test_hours import reminded, works
from tests.cast import Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")


def nudge(approval: Approval, by: Person | None) -> Any:
    return nudges.nudge(approval.workspace_id, approval.pk, by=by)


def test_whoever_the_agent_asks_for_tells_those_who_have_not_decided(cast: Cast) -> None:
    """RL-5: those alone, in the ledger and by name; it stays as open as it was."""
    approval = ask(cast, refund(200_000), requester=cast.riley)
    say(approval, cast.dana, "approve")
    answer = nudge(approval, cast.riley)
    assert isinstance(answer, Nudged) and answer.told == [cast.priya] and answer.later == 0
    (entry,) = told(approval, "nudged")
    assert (entry["told"], entry["by"], entry["number"]) == ([cast.priya.public_id], cast.riley.public_id, 1)
    before, approval = approval, Approval.objects.get(pk=approval.pk)
    assert (approval.status, approval.ends_at) == ("pending", before.ends_at)
    assert said(say(approval, cast.priya, "approve")) == "approved"


def test_it_is_taken_once_in_a_while_whoever_presses(cast: Cast, later: Any) -> None:
    """RL-5: the refusal says from when on."""
    approval = ask(cast, refund())
    assert isinstance(first := nudge(approval, cast.riley), Nudged)
    assert first.again_at == nudges.again_at(approval)
    refused = nudge(approval, cast.omar)
    assert said(refused) == "too_soon" and f"from {first.again_at:%H:%M:%S} UTC on" in refused.message
    later(0.24)
    assert said(nudge(approval, None)) == "too_soon"
    later(0.26)
    assert isinstance(nudge(approval, None), Nudged)
    assert [one["by"] for one in told(approval, "nudged")] == [cast.riley.public_id, "system"]


def test_who_may_only_decide_or_belongs_elsewhere_may_not(cast: Cast) -> None:
    """AZ-2: nor does whoever asked, once they have left."""
    approval = ask(cast, refund(), requester=cast.riley)
    people.grant(cast.oskar, "administer", cast.halden, by="system")
    for person in (cast.dana, cast.oskar):
        assert said(nudge(approval, person)) == "not_allowed"
    people.leave(cast.riley, cast.northwind, by="system")
    assert said(nudge(approval, cast.riley)) == "not_allowed"
    assert not told(approval, "nudged") and not DueStep.objects.exists()


@pytest.mark.parametrize("how", ["decided", "expired", "stopped", "elsewhere", "tampered", "nobody"])
def test_what_waits_for_nobody_is_not_nudged(cast: Cast, later: Any, how: str) -> None:
    """RL-5: and nothing of it is written."""
    approval = ask(cast, refund(), requester=cast.riley)
    workspace = cast.halden if how == "elsewhere" else cast.northwind
    if how == "decided":
        say(approval, cast.dana, "approve")
    if how == "expired":
        later(1.1)
    if how == "stopped":
        halts.begin(cast.northwind, by=cast.omar)
    if how == "tampered":
        Approval.objects.update(tool_title="Something else")
    for person in (cast.dana, cast.priya) if how == "nobody" else ():
        absent(cast, person, kind="out_of_office")
    codes = {"stopped": "halted", "elsewhere": "not_found", "tampered": "tampered", "nobody": "nobody_left"}
    refused = nudges.nudge(workspace.pk, approval.pk, by=None)
    assert isinstance(refused, Refused) and refused.code == codes.get(how, "too_late") and refused.message
    assert not told(approval, "nudged") and not DueStep.objects.exists()


def test_who_sleeps_is_told_when_they_work_and_once(cast: Cast, later: Any) -> None:
    """RL-9: by the sweep, whether or not the rule reminds anybody."""
    approval = ask(cast, refund(), requester=cast.oskar)
    works(cast.dana, 0.5, 8)
    answer = nudge(approval, None)
    assert isinstance(answer, Nudged) and (answer.told, answer.later) == ([cast.priya], 1)
    for hours in (0.4, 0.55, 0.9):
        later(hours)
        gate.do_due()
    assert reminded(approval) == [{cast.dana.public_id}]
    assert not DueStep.objects.filter(done_at=None).exists()


def test_a_nudge_counts_as_the_reminder_that_would_have_come_next(cast: Cast, later: Any) -> None:
    """RL-5: so long after it, and not sooner, the rule reminds again."""
    rule(cast, f"remind_after: 30m\n    {LEVELS}")
    approval = ask(cast, refund(), requester=cast.oskar)
    later(0.4)
    nudge(approval, None)
    for hours in (0.55, 0.85):
        later(hours)
        gate.do_due()
    assert not reminded(approval)
    later(0.95)
    assert gate.do_due() == 1 and reminded(approval) == [{cast.dana.public_id, cast.priya.public_id}]


def test_the_command_nudges_and_says_whom(cast: Cast) -> None:
    """RL-5."""
    approval, out = ask(cast, refund()), StringIO()
    words = ("nudge", approval.public_id, "--workspace", "northwind")
    with pytest.raises(CommandError, match="may nudge"):
        call_command("approvals", *words, "--as", cast.dana.email)
    call_command("approvals", *words, "--as", cast.riley.email, stdout=out)
    assert out.getvalue() == "Told: Dana Okafor, Priya Nair.\n"
    with pytest.raises(CommandError, match=r"may be again from \d\d:\d\d:\d\d UTC"):
        call_command("approvals", *words)
    with pytest.raises(CommandError, match="no such approval"):
        call_command("approvals", "nudge", "apr_1", "--workspace", "northwind")


def test_rows_of_presses_that_nobody_made_move_no_deadline(cast: Cast) -> None:
    """RL-7: whoever writes one past Placet has it nudged less, or people told once more, and nothing else."""
    approval = ask(cast, refund())
    now = rows.now()
    DueStep.objects.create(
        workspace=cast.northwind, approval=approval, step="nudge", number=1, due_at=now + timedelta(days=9), done_at=now
    )
    assert said(nudge(approval, None)) == "too_soon"
    assert said(say(approval, cast.dana, "approve")) == "approved"
