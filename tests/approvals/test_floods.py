"""More questions than people can answer with care: refused, or one row; never waved through."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from approvals import floods, gate, policies, rows
from approvals.approvals import Approval
from approvals.decisions import Decided, Refused
from approvals.rulings import Ruling
from tests import cast as casting
from tests.approvals.pages.conftest import Reads
from tests.approvals.pages.conftest import reads as reads
from tests.cast import Cast, ask, propose, refund, say
from tests.clock import set_forward

pytestmark = pytest.mark.usefixtures("heard")


def limit(cast: Cast, **limits: int) -> None:
    said = ", ".join(f"{name}: {value}" for name, value in limits.items())
    policies.load(cast.northwind, f"limits: {{{said}}}\n{casting.POLICY}", by="system")


def hold(cast: Cast, **changes: Any) -> gate.Held:
    with rows.within(cast.northwind):
        return gate.hold(gate.judge(replace(propose(cast, refund()), **changes)))


def test_beyond_the_limit_an_agent_is_refused_and_told_why(cast: Cast) -> None:
    """HF-1, AP-A7: refused by a ruling, and people are asked nothing."""
    limit(cast, open_per_agent=2)
    held = [hold(cast) for _ in range(3)]
    assert [one.verdict for one in held] == ["require_approval", "require_approval", "deny"]
    assert held[2].reason.startswith("People are asked 2 things by refund-desk already.")
    assert Approval.objects.count() == 2 and Ruling.objects.filter(verdict="allow").count() == 0


def test_an_answer_makes_room_and_another_agent_has_its_own(cast: Cast) -> None:
    """HF-1."""
    limit(cast, open_per_agent=1)
    first = ask(cast, refund())
    assert hold(cast).verdict == "deny" and hold(cast, agent="other").verdict == "require_approval"
    say(first, cast.dana, "reject", message="No.")
    assert hold(cast).verdict == "require_approval"


def test_what_expired_takes_no_room(cast: Cast) -> None:
    """HF-1: though no sweep came by."""
    limit(cast, open_per_agent=1)
    ask(cast, refund())
    set_forward(3601)
    assert hold(cast).verdict == "require_approval"


def test_what_is_asked_again_is_never_refused_for_its_number(cast: Cast) -> None:
    limit(cast, open_per_agent=1)
    lapsed = ask(cast, refund())
    assert hold(cast, asks_again=lapsed.public_id).verdict == "require_approval"


def test_what_needs_nobody_is_not_counted(cast: Cast) -> None:
    limit(cast, open_per_agent=1)
    ask(cast, refund())
    with rows.within(cast.northwind):
        assert gate.hold(gate.judge(propose(cast, refund(100)))).verdict == "allow"


def test_a_question_counts_like_a_call(cast: Cast) -> None:
    """HF-1: an agent that asks in words asks the same people."""
    limit(cast, open_per_agent=1)
    ask(cast, refund())
    asked = gate.Asked(
        workspace_id=cast.northwind.pk,
        subject="run_x:question:1:0",
        chain=rows.public_id("run", rows.uuid7()),
        agent="refund-desk",
        agent_id=rows.public_id("agt", rows.uuid7()),
        kind="question",
        title="Which?",
        value=b"{}",
        schema={"type": "string"},
        allowed_decisions=("respond", "reject"),
        team="finance",
    )
    with rows.within(cast.northwind):
        held = gate.ask(asked)
    assert held.verdict == "deny" and "already" in held.reason


def test_nobody_says_yes_faster_than_policy_lets_them(cast: Cast) -> None:
    """HF-1, CH-B122: per person, whatever the approvals; and only for a while."""
    limit(cast, yeses_per_minute=2)
    said = [say(ask(cast, refund()), cast.dana, "approve") for _ in range(3)]
    assert [type(one) for one in said] == [Decided, Decided, Refused]
    assert isinstance(said[2], Refused) and said[2].code == "too_fast"
    assert isinstance(say(ask(cast, refund()), cast.priya, "approve"), Decided)
    set_forward(61)
    assert isinstance(say(ask(cast, refund()), cast.dana, "approve"), Decided)


def test_an_edit_and_the_yes_that_it_is_are_one(cast: Cast) -> None:
    limit(cast, yeses_per_minute=2)
    say(ask(cast, refund()), cast.dana, "edit", edited=refund(41_000))
    assert isinstance(say(ask(cast, refund()), cast.dana, "approve"), Decided)


@pytest.mark.committed
def test_yeses_at_once_are_as_many(cast: Cast, together: Callable[..., list[Any]]) -> None:
    """HF-1: they wait for each other, and are counted one after the other."""
    limit(cast, yeses_per_minute=1)
    asked = [ask(cast, refund()) for _ in range(3)]
    told = together(*(partial(say, each, cast.dana, "approve") for each in asked))
    assert sum(isinstance(one, Decided) for one in told) == 1, told


def test_a_no_always_comes_in_time(cast: Cast) -> None:
    limit(cast, yeses_per_minute=1)
    say(ask(cast, refund()), cast.dana, "approve")
    assert isinstance(say(ask(cast, refund()), cast.dana, "reject", message="No."), Decided)
    edited = say(ask(cast, refund()), cast.dana, "edit", edited=refund(1000))
    assert isinstance(edited, Refused) and edited.code == "too_fast"


@pytest.mark.parametrize("limits", ["{}", "{open_per_agent: 0}", "{open: 3}", "{yeses_per_minute: many}"])
def test_limits_that_are_none_are_refused(limits: str) -> None:
    with pytest.raises(policies.PolicyFault) as refused:
        policies.read_document(f"limits: {limits}\n{casting.POLICY}")
    assert refused.value.pointer.startswith("/limits")


def test_a_flood_is_one_row_and_hides_nobody(cast: Cast, reads: Reads, monkeypatch: pytest.MonkeyPatch) -> None:
    """HF-1, AP-A7, CH-B122: the others are listed as always, and the digest leads to all it holds."""
    monkeypatch.setattr(floods, "MANY", 3)
    flood = [ask(cast, refund(6000 + number)) for number in range(4)]
    with rows.within(cast.northwind):
        other = gate.hold(gate.judge(replace(propose(cast, refund()), agent="quiet-desk")))
    page = reads(cast.dana).get("/w/northwind/").content.decode()
    assert page.count('<li id="apr_') == 1 and f'<li id="{other.approval_id}"' in page
    assert "asks 4 things" in page and "?agent=refund-desk" in page
    page = reads(cast.dana).get("/w/northwind/?agent=refund-desk").content.decode()
    assert page.count('<li id="apr_') == 4 and "asks 4 things" not in page
    say(flood[0], cast.dana, "approve")
    assert reads(cast.dana).get("/w/northwind/").content.decode().count('<li id="apr_') == 4


def test_a_digest_counts_the_risk_and_says_when_the_first_is_due(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(floods, "MANY", 1)
    first = ask(cast, refund())
    later = ask(cast, refund(), tool=replace(casting.REFUND, risk="low"))
    Approval.objects.filter(pk=later.pk).update(expires_at=rows.now() + timedelta(days=9))
    [one] = floods.digests(Approval.objects.all())
    assert (one.agent, one.count, one.high) == ("refund-desk", 2, 1)
    assert one.due == Approval.objects.get(pk=first.pk).ends_at


def test_a_yes_to_each_of_two_revisions_is_two(cast: Cast) -> None:
    """HF-1: of one approval, but said twice; an edit that is a yes as well is one."""
    limit(cast, yeses_per_minute=2)
    large = ask(cast, refund(200_000))
    say(large, cast.dana, "approve")
    assert isinstance(say(large, cast.priya, "edit", edited=refund(190_000)), Decided)
    assert isinstance(say(large, cast.dana, "approve"), Decided)
    third = say(ask(cast, refund()), cast.dana, "approve")
    assert isinstance(third, Refused) and third.code == "too_fast"
    assert isinstance(say(ask(cast, refund()), cast.priya, "approve"), Decided)
