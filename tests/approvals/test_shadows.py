"""Shadow: what policy would ask people about goes until a moment that is said, and is recorded."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from approvals import gate, policies, rows, shadows
from approvals.approvals import Approval
from approvals.clearance import Cleared, NotCleared, clearance
from approvals.decisions import Refused
from approvals.ledger import entries
from approvals.policies import PolicyFault
from approvals.policy_documents import read_document
from approvals.rulings import Ruling
from tests.cast import POLICY, Cast, ask, propose, refund, say

pytestmark = pytest.mark.usefixtures("heard")

FAR = "2126-12-20T18:00:00Z"
PAST = "2020-01-01T00:00:00Z"


def shade(cast: Cast, until: str = FAR) -> None:
    policies.load(cast.northwind, f"shadow: {{until: '{until}'}}\n{POLICY}", by="system")


def held(cast: Cast, args: dict[str, Any], **more: Any) -> tuple[gate.Proposal, gate.Held]:
    proposal = propose(cast, args, **more)
    with rows.within(cast.northwind):
        return proposal, gate.hold(gate.judge(proposal))


def test_what_would_be_held_goes_in_shadow_and_is_recorded(cast: Cast) -> None:
    shade(cast)
    proposal, made = held(cast, refund())
    assert made.verdict == "allow" and "would have asked" in made.reason
    assert not Approval.objects.exists()
    ruling = Ruling.objects.get(subject=proposal.subject)
    assert ruling.shadow and ruling.rule_id == "refunds" and ruling.holds()
    [entry] = entries.read(cast.northwind.pk, proposal.chain)
    assert entry["kind"] == "call.ruled" and entry["shadow"] is True


def test_what_went_in_shadow_is_cleared_while_it_lasts(cast: Cast) -> None:
    shade(cast)
    proposal, made = held(cast, refund())
    assert isinstance(clearance(cast.northwind.pk, proposal.subject, made.digest or ""), Cleared)


def test_what_was_not_sent_in_shadow_is_asked_when_it_is_over(cast: Cast) -> None:
    shade(cast)
    proposal, made = held(cast, refund())
    shade(cast, PAST)
    answer = clearance(cast.northwind.pk, proposal.subject, made.digest or "")
    assert isinstance(answer, NotCleared) and answer.code == "policy_changed" and answer.lapsed


def test_a_shadow_that_was_put_back_lets_nothing_go(cast: Cast) -> None:
    shade(cast)
    proposal, made = held(cast, refund())
    with rows.within(cast.northwind):
        entry = {"version": 3, "digest": "0" * 64}
        entries.append(cast.northwind.pk, "workspace", "policy.loaded", entry, by="system")
    answer = clearance(cast.northwind.pk, proposal.subject, made.digest or "")
    assert isinstance(answer, NotCleared) and answer.code == "tampered"


@pytest.mark.parametrize("args", [{"nonsense": 1}, {}])
def test_what_is_denied_is_denied_in_shadow_too(cast: Cast, args: dict[str, Any]) -> None:
    shade(cast)
    assert held(cast, args)[1].verdict == "deny"
    unknown = gate.ToolFacts("payments.unheard_of", "", "d" * 64, {})
    assert held(cast, {}, tool=unknown)[1].verdict == "deny"


def test_a_shadow_that_is_over_holds(cast: Cast) -> None:
    shade(cast, PAST)
    assert held(cast, refund())[1].verdict == "require_approval"
    assert shadows.stands_until(cast.northwind.pk) is None


def test_what_policy_allows_anyway_is_no_shadow(cast: Cast) -> None:
    shade(cast)
    proposal, _ = held(cast, refund(100))
    ruling = Ruling.objects.get(subject=proposal.subject)
    assert ruling.verdict == "allow" and not ruling.shadow


def test_what_already_waits_keeps_its_bar(cast: Cast) -> None:
    approval = ask(cast, refund(200_000))
    shade(cast)
    say(approval, cast.dana, "approve")
    approval.refresh_from_db()
    assert approval.status == "pending"


def test_an_edit_raises_the_bar_in_shadow_too(cast: Cast) -> None:
    approval = ask(cast, refund(42_000))
    shade(cast)
    say(approval, cast.dana, "edit", edited=refund(200_000))
    approval.refresh_from_db()
    assert (approval.rule_id, approval.required, approval.status) == ("large-refunds", 2, "pending")


def test_a_rehearsal_asks_people_in_shadow(cast: Cast) -> None:
    shade(cast)
    assert held(cast, refund(), rehearsal=True)[1].verdict == "require_approval"


def test_a_question_is_asked_in_shadow(cast: Cast) -> None:
    shade(cast)
    opinion = policies.judge(cast.northwind.pk, tool="question", agent="refund-desk", args={}, kind="question")
    assert not opinion.shadow


def test_the_record_counts_by_rule_and_tool(cast: Cast) -> None:
    shade(cast)
    for amount in (42_000, 43_000, 200_000):
        held(cast, refund(amount))
    found = shadows.would_have_held(cast.northwind.pk, timedelta(days=1))
    assert [(each.rule_id, each.tool, each.calls) for each in found] == [
        ("refunds", "payments.create_refund", 2),
        ("large-refunds", "payments.create_refund", 1),
    ]


def test_the_record_is_another_workspaces_nobody_sees(cast: Cast) -> None:
    shade(cast)
    held(cast, refund())
    with rows.within(cast.halden):
        assert shadows.would_have_held(cast.halden.pk, timedelta(days=1)) == []


def test_the_command_tells_until_when_and_what(cast: Cast) -> None:
    shade(cast)
    held(cast, refund())
    out = StringIO()
    call_command("shadow", "--workspace", "northwind", stdout=out)
    assert "2126-12-20" in out.getvalue() and "refunds" in out.getvalue() and "1 call" in out.getvalue()


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ("shadow: {}", "/shadow"),
        ("shadow: true", "/shadow"),
        ("shadow: {until: tomorrow}", "/shadow/until"),
        ("shadow: {until: '2026-12-20T18:00:00'}", "/shadow/until"),
        ("shadow: {until: '2026-12-20T18:00:00Z'}\nat_least: {high: 2}", "/shadow"),
    ],
    ids=["no end", "no object", "no moment", "no offset", "beside a floor"],
)
def test_a_shadow_without_an_end_or_beside_a_floor_is_refused(document: str, pointer: str) -> None:
    """HF-8: what a document asks at least is asked, shadow or not."""
    with pytest.raises(PolicyFault) as fault:
        read_document(f"policy: 1\nrules: []\n{document}")
    assert fault.value.pointer.startswith(pointer)


def test_a_ruling_that_says_shadow_by_forgery_does_not_hold(cast: Cast) -> None:
    proposal, _ = held(cast, refund(100))
    ruling = Ruling.objects.get(subject=proposal.subject)
    ruling.shadow = True
    assert not ruling.holds()


def test_a_vote_in_shadow_is_a_vote(cast: Cast) -> None:
    approval = ask(cast, refund())
    shade(cast)
    assert not isinstance(say(approval, cast.dana, "approve"), Refused)
    approval.refresh_from_db()
    assert approval.status == "approved"


def test_the_inbox_says_that_nothing_is_held(cast: Cast, client: Any, settings: Any) -> None:
    shade(cast)
    client.force_login(cast.dana, backend=settings.AUTHENTICATION_BACKENDS[0])
    assert "Nothing is held" in client.get("/w/northwind/").content.decode()
