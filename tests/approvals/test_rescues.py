"""Rescues: the way out where nobody is left who could approve a change of who decides."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.template.loader import render_to_string

from approvals import changes, people, policies, rescues, rows, vouched
from approvals.approvals import Approval
from approvals.ledger import entries
from approvals.policies import NeedsApproval
from approvals.rescues import Rescue
from approvals.votes import Refused
from tests.cast import POLICY, Cast
from tests.clock import set_forward

DAY = 24 * 3600
RULE = """
  - id: changes
    match: {kind: change}
    verdict: require_approval
    approvals: [{team: finance, count: 2}]
"""


@pytest.fixture
def lost(cast: Cast) -> Cast:
    """Northwind, which wants two of Finance for every change, and has one."""
    policies.load(cast.northwind, POLICY + RULE, by="system")
    people.leave(cast.priya, cast.northwind, by="system")
    return cast


def announced(cast: Cast, reason: str = "Priya left.", **other: Any) -> Rescue | Refused:
    return rescues.announce(cast.northwind, cast.finance, cast.riley, by=other.get("by", cast.omar), reason=reason)


def carried_out(cast: Cast) -> str:
    refused = rescues.carry_out(cast.northwind, cast.finance, cast.riley, by=cast.omar)
    return refused.code if refused else ""


def test_a_rule_for_changes_that_loses_its_people_leaves_a_way_out(lost: Cast) -> None:
    """AZ-9: a right to decide comes a day later, by the ledger, and then people are asked as ever."""
    joining = changes.of_team(lost.finance, joining=lost.riley)
    assert isinstance(changes.propose(lost.northwind, joining, by=lost.omar), Refused)
    assert isinstance(announced(lost), Rescue)
    set_forward(DAY + 1)
    assert carried_out(lost) == "" and lost.riley in people.deciders(lost.finance)
    assert vouched.unexplained(lost.northwind.pk) == []
    more = changes.of_team(lost.finance, joining=lost.omar)
    assert isinstance(changes.propose(lost.northwind, more, by=lost.omar), Approval)


def test_it_waits_a_day_and_is_done_once(lost: Cast) -> None:
    announced(lost)
    set_forward(DAY - 60)
    assert carried_out(lost) == "not_yet" and lost.riley not in people.deciders(lost.finance)
    set_forward(DAY + 60)
    assert [carried_out(lost), carried_out(lost)] == ["", "not_found"]


def test_each_administrator_can_withdraw_it(lost: Cast) -> None:
    announced(lost)
    people.grant(lost.dana, "administer", lost.northwind, by="system")
    assert isinstance(rescues.withdraw(lost.northwind, lost.finance, lost.riley, by=lost.riley), Refused)
    assert rescues.withdraw(lost.northwind, lost.finance, lost.riley, by=lost.dana) is None
    set_forward(DAY + 1)
    assert carried_out(lost) == "not_found" and lost.riley not in people.deciders(lost.finance)


def test_what_nobody_carried_out_in_a_week_has_to_be_announced_anew(lost: Cast) -> None:
    announced(lost)
    set_forward(8 * DAY + 60)
    assert carried_out(lost) == "not_found" and isinstance(announced(lost), Rescue)


def test_it_is_no_way_round_people_who_are_there(cast: Cast) -> None:
    """AZ-9: nor round those whom an administrator took the right from."""
    policies.load(cast.northwind, POLICY + RULE, by="system")
    assert isinstance(refused := announced(cast), Refused) and refused.code == "not_needed"
    people.revoke(cast.priya, "decide", cast.finance, by=cast.omar.public_id)
    assert isinstance(refused := announced(cast), Refused) and refused.code == "others_first"
    back = rescues.announce(cast.northwind, cast.finance, cast.priya, by=cast.omar, reason="A mistake.")
    assert isinstance(back, Rescue)


def test_who_was_needed_when_it_was_announced_may_not_be_any_more(lost: Cast) -> None:
    """AZ-9: looked at once more when it is carried out."""
    announced(lost)
    rescues.announce(lost.northwind, lost.finance, lost.omar, by=lost.omar, reason="One of us two.")
    set_forward(DAY + 1)
    assert rescues.carry_out(lost.northwind, lost.finance, lost.omar, by=lost.omar) is None
    assert carried_out(lost) == "not_needed" and lost.riley not in people.deciders(lost.finance)


@pytest.mark.committed
def test_a_team_whose_people_were_taken_out_of_the_database_is_not_lost(cast: Cast, tamper: Any) -> None:
    """AU-2: whoever can write to the database gets nobody into a team by it."""
    policies.load(cast.northwind, POLICY + RULE, by="system")
    decide = "USING auth_permission p WHERE p.id = permission_id AND codename = 'decide'"
    tamper(f"DELETE FROM guardian_userobjectpermission {decide}")
    assert isinstance(refused := announced(cast), Refused) and "ledger verify" in refused.message
    tamper(f"UPDATE approvals_person SET is_active = false WHERE id = '{cast.dana.pk}'")
    assert isinstance(announced(cast), Refused)


@pytest.mark.parametrize("reason", ["", " \u200b\u3164\u2800\ufe0f", "x" * 501])
def test_it_takes_a_reason_and_somebody_who_administers(lost: Cast, reason: str) -> None:
    assert isinstance(said := announced(lost, reason), Refused) and said.code == "needs_message"
    assert isinstance(who := announced(lost, by=lost.dana), Refused) and who.code == "not_allowed"


def test_everybody_is_told(lost: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a letter each, Priya too, who is out of it; in the inbox; and for good in the ledger."""
    sent: list[tuple[Any, ...]] = []
    monkeypatch.setattr("approvals.letters.tell_all", lambda *letter: sent.append(letter))
    announced(lost)
    [(to, subject, _, told)] = sent
    assert to == [f"{name}@northwind.example" for name in ("dana", "omar", "priya", "riley")] and "announced" in subject
    page = render_to_string("inbox/notices.html", {"rescues": rescues.told(lost.northwind.pk)})
    assert "Omar Haddad</bdi> wants <bdi>Riley Chen</bdi> to decide for <bdi>Finance" in page and "Priya left." in page
    with rows.reading(lost.northwind):
        said = entries.read(lost.northwind.pk, "workspace", only=["rescue.announced"])[-1]
    assert (said["by"], said["reason"], told["reason"]) == (lost.omar.public_id, "Priya left.", "Priya left.")


def test_an_operator_does_it_by_the_command(lost: Cast) -> None:
    told, who = StringIO(), ["finance", lost.riley.email, "--as", lost.omar.email, "--workspace", "northwind"]
    call_command("rescue", "announce", *who, "--reason", "Priya left.", stdout=told)
    call_command("rescue", "list", "--workspace", "northwind", stdout=told)
    assert "Riley Chen for Finance, says Omar Haddad: Priya left." in told.getvalue()
    with pytest.raises(CommandError, match="waits until"):
        call_command("rescue", "carry-out", *who)
    call_command("rescue", "withdraw", *who, stdout=told)
    with pytest.raises(CommandError, match="no team"):
        call_command("rescue", "withdraw", "nowhere", *who[1:])
    with pytest.raises(NeedsApproval):
        people.grant(lost.riley, "decide", lost.finance, by="system")
