"""HF-4: what people refused and an agent proposes again says how often it was refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from approvals import gate, policies, repeats, rows
from approvals.approvals import Approval
from approvals.ledger import entries
from tests.cast import POLICY, REFUND, Cast, ask, propose, refund, say

pytestmark = pytest.mark.usefixtures("heard")


def refused(cast: Cast, args: dict[str, Any], times: int = 1, **more: Any) -> None:
    for _ in range(times):
        say(ask(cast, args, **more), cast.dana, "reject", message="Not this one.")


def test_a_repeat_of_a_refused_call_counts_the_refusals(cast: Cast) -> None:
    refused(cast, refund(), 3)
    again = ask(cast, refund())
    assert again.refused_before == 3 and again.holds()
    [opened] = entries.read(cast.northwind.pk, again.chain)
    assert opened["refused_before"] == 3


def test_the_first_of_its_kind_was_never_refused(cast: Cast) -> None:
    assert ask(cast, refund()).refused_before == 0


@pytest.mark.parametrize("change", [refund(42_001), refund(note="please")], ids=["amount", "note"])
def test_another_call_is_no_repeat(cast: Cast, change: dict[str, Any]) -> None:
    refused(cast, refund())
    assert ask(cast, change).refused_before == 0


def test_only_a_no_of_people_is_a_refusal(cast: Cast) -> None:
    say(ask(cast, refund()), cast.dana, "approve")
    expired = ask(cast, refund())
    Approval.objects.filter(pk=expired.pk).update(status="expired")
    assert ask(cast, refund()).refused_before == 0


def test_what_was_stopped_after_its_yes_counts_as_well(cast: Cast) -> None:
    policies.load(cast.northwind, POLICY.replace("deadline: 1h", "deadline: 1h\n    hold_after: 1h"), by="system")
    approval = ask(cast, refund())
    say(approval, cast.dana, "approve")
    say(approval, cast.priya, "stop")
    assert ask(cast, refund()).refused_before == 1


def test_what_an_editor_made_of_it_is_not_what_was_proposed(cast: Cast) -> None:
    edited = ask(cast, refund(50_000))
    say(edited, cast.dana, "edit", edited=refund(200_000))
    say(edited, cast.priya, "reject", message="No.")
    assert ask(cast, refund(50_000)).refused_before == 1
    assert ask(cast, refund(200_000)).refused_before == 0


def test_another_agent_does_not_repeat(cast: Cast) -> None:
    refused(cast, refund())
    proposal = replace(propose(cast, refund()), agent="another")
    with rows.within(cast.northwind):
        gate.hold(gate.judge(proposal))
    assert Approval.objects.get(agent="another").refused_before == 0


def test_a_rehearsal_neither_counts_nor_is_counted(cast: Cast) -> None:
    refused(cast, refund(), rehearsal=True)
    assert ask(cast, refund()).refused_before == 0
    refused(cast, refund())
    assert ask(cast, refund(), rehearsal=True).refused_before == 0


def test_the_count_ends_at_a_bound(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "MOST", 2)
    refused(cast, refund(), 3)
    assert ask(cast, refund()).refused_before == 2
    assert repeats.told(2) == "refused twice or more before"


def test_a_count_that_was_changed_past_placet_is_seen(cast: Cast) -> None:
    refused(cast, refund())
    again = ask(cast, refund())
    again.refused_before = 0
    assert not again.holds()


def test_the_page_and_the_list_say_it(cast: Cast, client: Client, settings: Any) -> None:
    """HF-4."""
    refused(cast, refund(), 2)
    again = ask(cast, refund(), tool=REFUND)
    client.force_login(cast.dana, backend=settings.AUTHENTICATION_BACKENDS[0])
    page = client.get(f"/w/northwind/approvals/{again.public_id}").content.decode()
    assert "Refused twice before" in page
    assert "refused twice before" in client.get("/w/northwind/").content.decode()
