"""Standing grants: a yes beforehand, for calls like one that was seen, within limits that hold."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from approvals import gate, grants, people, policies, rows
from approvals.approvals import Approval
from approvals.decisions import Decided, Refused
from approvals.granting import Wish, ask
from approvals.grants import Grant
from approvals.ledger import canonical, entries
from tests import cast as casting
from tests.cast import REFUND, Cast, propose, refund, say
from tests.clock import set_forward as later

STANDING = "standing: {for: 1h, uses: 3, sum: {of: /amount, at_most: 100000}}"
POLICY = casting.POLICY.replace("editable: [/amount, /note]", f"editable: [/amount, /note]\n    {STANDING}")
PATTERN = {"required": ["currency"], "properties": {"currency": {"const": "eur"}}}


@pytest.fixture(autouse=True)
def _policy(cast: Cast, heard: object) -> None:
    policies.load(cast.northwind, POLICY, by="system")


JUST_SO = Wish()


def wanted(cast: Cast, wish: Wish = JUST_SO, *, args: Any = None, by: Any = None) -> Approval | Refused:
    """A grant asked for after a call was seen."""
    seen = casting.ask(cast, args or refund(30_000))
    return ask(cast.northwind.pk, seen, wish, by=by or cast.dana)


def give(cast: Cast, wish: Wish = JUST_SO, *, args: Any = None) -> Grant:
    """A grant that Dana asked for and gave."""
    asked = wanted(cast, wish, args=args)
    assert isinstance(asked, Approval), asked
    said = say(asked, cast.dana, "approve")
    assert isinstance(said, Decided) and said.status == "approved"
    return Grant.objects.get(approval=asked)


def hold(cast: Cast, args: Any = None, **more: Any) -> tuple[gate.Proposal, gate.Held]:
    """A call as the machine proposes it, and what became of it."""
    proposal = propose(cast, args or refund(30_000), **more)
    with rows.within(cast.northwind):
        return proposal, gate.hold(gate.judge(proposal))


def cleared(cast: Cast, held: tuple[gate.Proposal, gate.Held]) -> Any:
    return gate.clearance(cast.northwind.pk, held[0].subject, held[1].digest or "")


def test_a_call_under_a_grant_goes_without_asking_and_is_written_down(cast: Cast) -> None:
    """AZ-15, CH-B159: the ruling, the entry of the run and one of the workspace name the grant."""
    grant = give(cast)
    held = hold(cast)
    assert (held[1].verdict, held[1].approval_id) == ("allow", None)
    assert held[1].reason == f"Standing grant {grant.public_id} covers it: use 1 of 3."
    assert isinstance(cleared(cast, held), gate.Cleared)
    used = entries.read(cast.northwind.pk, "workspace", only=["grant.used"])
    assert [(one["grant"], one["subject"], one["number"]) for one in used] == [(grant.public_id, held[0].subject, 1)]
    assert entries.read(cast.northwind.pk, held[0].chain)[0]["grant"] == grant.public_id


@pytest.mark.parametrize(
    "args", [{"amount": 30_001}, {"note": "x"}, {"charge": "ch_3PqT2eLk9fZ "}, {"currency": "usd"}]
)
def test_without_a_pattern_only_the_very_same_arguments_are_covered(cast: Cast, args: dict[str, Any]) -> None:
    """AP-A3, AP-X1, AZ-15: the whole canonical form is compared."""
    give(cast)
    assert hold(cast, {**refund(30_000), **args})[1].verdict == "require_approval"


def test_a_pattern_covers_what_fits_it_and_the_rule(cast: Cast) -> None:
    """AZ-15: never more than the rule under which it was given."""
    give(cast, Wish(pattern=PATTERN))
    assert hold(cast, refund(20_000, note="other"))[1].verdict == "allow"
    assert hold(cast, {**refund(20_000), "currency": "usd"})[1].verdict == "require_approval"
    assert hold(cast, refund(100_001))[1].verdict == "require_approval"


def test_no_more_calls_than_were_given(cast: Cast) -> None:
    give(cast, Wish(uses=2))
    assert [hold(cast)[1].verdict for _ in range(3)] == ["allow", "allow", "require_approval"]


def test_no_larger_sum_than_was_given(cast: Cast) -> None:
    """What is asked of people does not count, so a smaller call may still fit."""
    give(cast, Wish(pattern=PATTERN, sum_at_most=50_000))
    verdicts = [hold(cast, refund(amount))[1].verdict for amount in (30_000, 20_001, 20_000, 6_000)]
    assert verdicts == ["allow", "require_approval", "allow", "require_approval"]


def test_a_grant_ends_by_the_clock_also_for_what_it_let_through(cast: Cast) -> None:
    """AZ-15: a call that was not sent in time is asked about again."""
    give(cast, Wish(lasts="10m"))
    held = hold(cast)
    later(601)
    assert hold(cast)[1].verdict == "require_approval"
    answer = cleared(cast, held)
    assert (answer.code, answer.lapsed) == ("grant_over", True)


def test_a_grant_that_was_ended_covers_nothing_not_even_what_waits(cast: Cast) -> None:
    """AZ-15: revocable at once; the row alone revives nothing."""
    grant = give(cast)
    held = hold(cast)
    assert grants.end(grant, by=cast.priya.public_id) and not grants.end(grant, by=cast.priya.public_id)
    Grant.objects.update(ended_at=None)
    assert hold(cast)[1].verdict == "require_approval" and cleared(cast, held).code == "grant_over"


def test_a_new_definition_of_the_tool_voids_the_grant(cast: Cast) -> None:
    """AZ-15, BD-6: for good, also where the old definition comes back; and for another definition at once."""
    give(cast)
    held = hold(cast)
    assert hold(cast, tool=replace(REFUND, definition_digest="e" * 64))[1].verdict == "require_approval"
    with rows.within(cast.northwind):
        body = {"tool": "tol_x", "name": REFUND.name, "version": 2, "digest": "e" * 64}
        entries.append(cast.northwind.pk, "workspace", "tool.registered", body, by="system")
    assert hold(cast)[1].verdict == "require_approval" and cleared(cast, held).code == "grant_over"


def test_a_grant_needs_as_many_people_as_each_call(cast: Cast) -> None:
    """AZ-2, AZ-4: two are needed, and the first alone gives nothing."""
    two = POLICY.replace("approvals: [{team: finance}]", "approvals: [{team: finance, count: 2}]")
    policies.load(cast.northwind, two, by="system")
    asked = wanted(cast)
    assert isinstance(asked, Approval)
    say(asked, cast.dana, "approve")
    assert hold(cast)[1].verdict == "require_approval"
    say(asked, cast.priya, "approve")
    assert hold(cast)[1].verdict == "allow"


def test_who_lost_the_right_gives_nothing_any_more(cast: Cast) -> None:
    """AZ-1, AZ-7: read again at each use and before each sending."""
    give(cast)
    held = hold(cast)
    people.revoke(cast.dana, "decide", cast.finance, by="system")
    assert hold(cast)[1].verdict == "require_approval" and cleared(cast, held).code == "grant_over"


def test_a_stricter_rule_of_today_is_not_met_by_an_older_grant(cast: Cast) -> None:
    give(cast)
    held = hold(cast)
    two = POLICY.replace("approvals: [{team: finance}]", "approvals: [{team: finance, count: 2}]")
    policies.load(cast.northwind, two, by="system")
    assert hold(cast)[1].verdict == "require_approval" and cleared(cast, held).code == "grant_over"


def test_a_rule_that_lets_nobody_say_yes_beforehand_takes_grants_back(cast: Cast) -> None:
    give(cast)
    held = hold(cast)
    policies.load(cast.northwind, casting.POLICY, by="system")
    assert hold(cast)[1].verdict == "require_approval" and cleared(cast, held).code == "grant_over"


def test_nobody_lets_their_own_calls_through(cast: Cast) -> None:
    """AZ-2: the person behind the run is compared with those who gave the grant."""
    give(cast)
    assert hold(cast, requester=cast.dana)[1].verdict == "require_approval"
    assert hold(cast, requester=cast.priya)[1].verdict == "allow"


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        (Wish(lasts="2h"), "beyond_rule"),
        (Wish(uses=4), "beyond_rule"),
        (Wish(uses=0), "beyond_rule"),
        (Wish(sum_at_most=100_001), "beyond_rule"),
        (Wish(sum_at_most=1), "invalid_grant"),
        (Wish(lasts="soon"), "invalid_grant"),
        (Wish(pattern={"properties": {"currency": {"const": "usd"}}}), "invalid_grant"),
        (Wish(pattern={"properties": {"note": {"format": "invented"}}}), "invalid_grant"),
    ],
    ids=["too long", "too often", "never", "too much", "too little", "no time", "another call", "loose"],
)
def test_a_grant_beyond_its_rule_is_not_asked(cast: Cast, wish: Wish, code: str) -> None:
    answer = wanted(cast, wish)
    assert isinstance(answer, Refused) and answer.code == code
    assert not Grant.objects.exists()


def test_only_who_may_decide_asks_and_only_where_the_rule_says_so(cast: Cast) -> None:
    """AZ-9: an administrator is no approver."""
    for who in (cast.omar, cast.riley):
        assert casting.code(wanted(cast, by=who)) == "not_allowed"
    assert casting.code(wanted(cast, args=refund(500_000))) == "no_standing"


def test_a_rehearsal_neither_gives_nor_uses_a_grant(cast: Cast) -> None:
    give(cast)
    proposal = replace(propose(cast, refund(30_000)), rehearsal=True)
    with rows.within(cast.northwind):
        held = gate.hold(gate.judge(proposal))
    assert held.verdict == "require_approval"
    rehearsed = ask(cast.northwind.pk, Approval.objects.get(rehearsal=True), Wish(), by=cast.dana)
    assert isinstance(rehearsed, Refused) and rehearsed.code == "rehearsal"


def test_a_grant_that_was_never_given_or_refused_covers_nothing(cast: Cast) -> None:
    asked = wanted(cast)
    assert isinstance(asked, Approval) and hold(cast)[1].verdict == "require_approval"
    say(asked, cast.dana, "reject", message="No.")
    assert hold(cast)[1].verdict == "require_approval"


def test_a_status_that_was_written_past_placet_gives_no_grant(cast: Cast) -> None:
    """AU-2: the votes are read, not the status."""
    wanted(cast)
    Approval.objects.filter(kind="grant").update(status="approved", decided_at=rows.now())
    assert hold(cast)[1].verdict == "require_approval"


def test_a_row_that_names_other_bytes_gives_no_grant(cast: Cast) -> None:
    grant = give(cast, Wish(lasts="10m"))
    Grant.objects.filter(pk=grant.pk).update(until=rows.now() + timedelta(hours=1))
    later(601)
    assert hold(cast)[1].verdict == "require_approval"


def test_the_terms_that_people_vote_on_are_all_there(cast: Cast) -> None:
    grant = give(cast, Wish(pattern=PATTERN))
    ruled = grant.approval.revisions.get().ruling
    told = canonical.parse(ruled.clear_args())
    assert told.keys() == {
        "tool", "agent", "definition", "rule", "like", "until", "uses", "pattern", "sum"
    }  # fmt: skip
    assert ruled.header["kind"] == "grant" and ruled.subject == grant.public_id


# By the rule of today


@pytest.mark.parametrize(("said", "less"), [("uses: 3", "uses: 1"), ("at_most: 100000", "at_most: 1000")])
def test_what_a_grant_let_through_is_held_to_the_limits_of_today(cast: Cast, said: str, less: str) -> None:
    """AZ-15: a call that waits to be sent is one of those that were let through."""
    give(cast)
    hold(cast)
    held = hold(cast)
    assert isinstance(cleared(cast, held), gate.Cleared)
    policies.load(cast.northwind, POLICY.replace(said, less), by="system")
    assert cleared(cast, held).code == "grant_over"


def test_a_grant_lasts_no_longer_than_the_rule_of_today_lets_it(cast: Cast) -> None:
    """AZ-15: neither for the next call nor for one that waits."""
    give(cast)
    held = hold(cast)
    policies.load(cast.northwind, POLICY.replace("for: 1h", "for: 1m"), by="system")
    later(1800)
    assert hold(cast)[1].verdict == "require_approval" and cleared(cast, held).code == "grant_over"


def test_the_person_behind_a_run_gives_no_grant_for_it(cast: Cast) -> None:
    """AZ-2: whatever the rule says of their vote where they are asked."""
    lax = POLICY.replace("standing:", "prevent_self_review: false\n    standing:")
    policies.load(cast.northwind, lax, by="system")
    give(cast)
    assert hold(cast, requester=cast.dana)[1].verdict == "require_approval"
    assert hold(cast)[1].verdict == "allow"


def test_who_is_behind_a_run_by_the_ledger_gives_no_grant_for_it_when_it_is_sent(cast: Cast) -> None:
    """AZ-2: proved once more at clearance, by the entry that began the run."""
    give(cast)
    proposal = propose(cast, refund(30_000))
    with rows.within(cast.northwind):
        begun = {"requester": cast.dana.public_id}
        entries.append(cast.northwind.pk, proposal.chain, "run.started", begun, by=cast.dana.public_id)
    with rows.within(cast.northwind):
        held = proposal, gate.hold(gate.judge(proposal))
    assert held[1].verdict == "allow" and cleared(cast, held).code == "grant_over"
