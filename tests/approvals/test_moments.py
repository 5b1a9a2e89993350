"""From when an approved call may go, how long the yes is good for, and who stops it in between."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from approvals import approvals, gate, people, policies, rows
from approvals.approvals import Approval, Resolution
from approvals.decisions import Decided, Refused, standing
from approvals.ledger import canonical, entries
from tests.approvals.pages.conftest import Reads, at, form_of
from tests.approvals.pages.conftest import reads as reads
from tests.approvals.test_asked_of_verdicts import code
from tests.cast import Cast, ask, refund, say
from tests.clock import set_forward as later
from tests.tampering import Tamper

pytestmark = pytest.mark.usefixtures("heard")

FOR_EVER = {"from": "2020-01-01T00:00:00Z", "until": "2120-01-01T00:00:00Z"}
ALLOW = {"id": "a", "match": {}, "verdict": "allow"}


def load(cast: Cast, *, top: dict[str, Any] | None = None, **words: Any) -> None:
    """Put a policy in force of one rule, with these words, that asks finance; or of a rule of another verdict."""
    rule = {"id": "r", "match": {}, "verdict": "require_approval", "approvals": [{"team": "finance"}], "deadline": "1h"}
    rule = words if "verdict" in words else rule | words
    policies.load(cast.northwind, canonical.encode({"policy": 1, "rules": [rule]} | (top or {})), by="system")


def approved(cast: Cast, **words: Any) -> Approval:
    """A refund with its yes, under a rule with these words."""
    load(cast, **words)
    approval = ask(cast, refund())
    say(approval, cast.dana, "approve")
    return approval


def clearance(approval: Approval) -> gate.Cleared | gate.NotCleared:
    digest = approvals.current_revision(approval).digest
    return gate.clearance(approval.workspace_id, approval.subject, digest)


def cleared(approval: Approval) -> str:
    answer = clearance(approval)
    return answer.code if isinstance(answer, gate.NotCleared) else "cleared"


# Holding it back


def test_what_was_approved_waits_until_the_hold_is_over(cast: Cast) -> None:
    approval = approved(cast, hold_after="10m")
    answer = clearance(approval)
    assert isinstance(answer, gate.NotCleared) and answer.code == "not_yet" and not answer.lapsed
    assert answer.until is not None and abs(answer.until - rows.now() - timedelta(minutes=10)) < timedelta(minutes=1)
    later(601)
    assert cleared(approval) == "cleared"


def test_the_longer_hold_of_then_and_of_today_counts(cast: Cast) -> None:
    approval = approved(cast, hold_after="10m")
    load(cast, hold_after="30m")
    later(601)
    assert cleared(approval) == "not_yet"
    load(cast)
    assert cleared(approval) == "cleared"


def test_a_hold_longer_than_the_deadline_does_not_use_the_yes_up(cast: Cast) -> None:
    """AP-U10: what a rule says of the time counts, else the deadline that was hashed."""
    approval = approved(cast, hold_after="2h")
    later(2 * 3600 + 60)
    assert cleared(approval) == "cleared"
    later(3 * 3600 + 60)
    assert cleared(approval) == "expired"


@pytest.mark.parametrize(("after", "said"), [(599, "cleared"), (601, "expired")])
def test_a_yes_grows_stale(cast: Cast, after: int, said: str) -> None:
    """AP-U10, DS-9: then people are asked again; also where the deadline is far off."""
    approval = approved(cast, valid_for="10m")
    later(after)
    assert cleared(approval) == said


def test_a_yes_may_be_good_for_longer_than_people_had(cast: Cast) -> None:
    """AP-U9: each rule has times of its own."""
    approval = approved(cast, valid_for="1d")
    later(2 * 3600)
    assert cleared(approval) == "cleared"


def test_a_freeze_of_today_holds_what_was_approved_before_it(cast: Cast) -> None:
    approval = approved(cast)
    load(cast, freeze=["audit"], top={"freezes": {"audit": FOR_EVER}})
    answer = clearance(approval)
    assert isinstance(answer, gate.NotCleared) and answer.message == "Nothing is sent during audit."
    assert answer.until is not None and answer.until.year == 2120
    load(cast)
    assert cleared(approval) == "cleared"


def test_in_a_freeze_nobody_is_asked_again_until_it_is_over(cast: Cast) -> None:
    """Grown stale meanwhile, people are asked once, when it could go; and not at every look."""
    approval = approved(cast, valid_for="10m")
    load(cast, freeze=["audit"], valid_for="10m", top={"freezes": {"audit": FOR_EVER}})
    later(3600)
    assert cleared(approval) == "not_yet"
    load(cast, valid_for="10m")
    assert cleared(approval) == "expired"


def test_a_freeze_holds_what_policy_allows_outright(cast: Cast) -> None:
    load(cast, **ALLOW, freeze=["audit"], top={"freezes": {"audit": FOR_EVER}})
    from tests.cast import propose

    proposal = propose(cast, refund())
    with rows.within(cast.northwind):
        held = gate.hold(gate.judge(proposal))
    answer = gate.clearance(cast.northwind.pk, proposal.subject, held.digest or "")
    assert isinstance(answer, gate.NotCleared) and answer.code == "not_yet"


# Stopping it


def test_anyone_who_may_decide_stops_it_and_the_machine_is_told(cast: Cast, heard: list[Resolution]) -> None:
    """HF-2: a second look, after the yes."""
    approval = approved(cast, hold_after="10m")
    assert say(approval, cast.priya, "stop", message="Wrong account.") == Decided("approved", 1, 1, 1)
    told = heard[-1]
    assert (told.status, told.message, told.decided_by) == ("stopped", "Wrong account.", "Priya Nair")
    assert cleared(approval) == "stopped" and not gate.NotCleared("stopped", "").lapsed
    kinds = [each["kind"] for each in entries.read(approval.workspace_id, approval.chain)]
    assert kinds[-2:] == ["decision.made", "approval.stopped"]


def test_whoever_gave_the_yes_may_stop_it_too(cast: Cast) -> None:
    approval = approved(cast, hold_after="10m")
    assert code(say(approval, cast.dana, "stop")) == "taken"
    later(601)
    assert cleared(approval) == "stopped"


def test_a_stop_needs_no_more_than_the_right(cast: Cast) -> None:
    """It lets nothing run, so it takes no sign-in; who may not decide may not stop either."""
    approval = approved(cast, hold_after="10m")
    assert code(say(approval, cast.riley, "stop")) == "not_allowed"
    people.revoke(cast.priya, "decide", cast.finance, by="system")
    assert code(say(approval, cast.priya, "stop")) == "not_allowed"
    assert code(say(approval, cast.dana, "stop", digest="0" * 64)) == "wrong_digest"


def test_only_what_was_approved_is_stopped_and_once(cast: Cast) -> None:
    """DS-6: it does not open again, and the approval says who approved."""
    load(cast, hold_after="10m")
    waiting = ask(cast, refund())
    answer = say(waiting, cast.dana, "stop")
    assert isinstance(answer, Refused) and answer.code == "too_late" and "reject it" in answer.message
    approval = approved(cast, hold_after="10m")
    say(approval, cast.priya, "stop")
    answer = say(approval, cast.dana, "stop")
    assert isinstance(answer, Refused) and "Priya Nair stopped it" in answer.message
    approval.refresh_from_db()
    assert approval.status == "approved"


@pytest.mark.committed
def test_a_stop_that_is_taken_away_past_placet_is_still_in_the_ledger(cast: Cast, tamper: Tamper) -> None:
    """AU-2: approvals alone see a vote that is gone; the machine reads the ledger before it sends."""
    from approvals import evidence

    approval = approved(cast, hold_after="10m")
    say(approval, cast.priya, "stop")
    tamper("DELETE FROM approvals_decision WHERE verdict = 'stop'")
    assert any("is gone" in each for each in evidence.unproven(cast.northwind.pk))


def test_every_yes_is_as_young_as_valid_for_says(cast: Cast) -> None:
    """One that was given long before the last is no younger for it."""
    load(cast, valid_for="10m", approvals=[{"team": "finance", "count": 2}])
    approval = ask(cast, refund())
    say(approval, cast.dana, "approve")
    later(50 * 60)
    assert isinstance(say(approval, cast.priya, "approve"), Decided)
    assert cleared(approval) == "expired"


# The page


def test_the_page_says_until_when_and_stops_it(cast: Cast, reads: Reads) -> None:
    approval = approved(cast, hold_after="10m")
    html = reads(cast.priya).get(at(approval)).content.decode()
    assert "Approved, not sent yet" in html and 'value="stop"' in html and "may be stopped until it is sent" in html
    assert 'value="stop"' not in reads(cast.riley).get(at(approval)).content.decode()
    sent = form_of(approval, verdict="stop", comment="Wrong account.")
    assert reads(cast.priya).post(at(approval, "/decision"), sent).status_code == 302
    assert not standing(approval, cast.dana).may_stop
    assert "stopped it before it was sent" in reads(cast.dana).get(at(approval)).content.decode()
