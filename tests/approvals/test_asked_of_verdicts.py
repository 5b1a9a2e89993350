"""How sure it is who decides, and what a rule asks of a verdict beside the right to give it."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import approvals, gate, policies
from approvals.approvals import Approval
from approvals.assurance import CLICK, Assurance
from approvals.decisions import Decided, Decision, Refused
from approvals.ledger import canonical, entries
from tests.cast import Cast, ask, refund, say
from tests.tampering import Tamper

pytestmark = pytest.mark.usefixtures("heard")

SESSION = Assurance("session", ("password",))
FRESH = Assurance("fresh", ("password", "totp"))


def under(cast: Cast, *, count: int = 1, **words: Any) -> Approval:
    """A refund that is asked about under a rule with these words."""
    _rule(cast, count=count, **words)
    return ask(cast, refund())


def _rule(cast: Cast, *, count: int = 1, **words: Any) -> None:
    rule = {"id": "r", "match": {}, "verdict": "require_approval", "approvals": [{"team": "finance", "count": count}]}
    policies.load(cast.northwind, canonical.encode({"policy": 1, "rules": [rule | words]}), by="system")


def code(answer: Decided | Refused) -> str:
    return answer.code if isinstance(answer, Refused) else "taken"


def cleared(approval: Approval) -> str:
    digest = approvals.current_revision(approval).digest
    answer = gate.clearance(approval.workspace_id, approval.subject, digest)
    return answer.code if isinstance(answer, gate.NotCleared) else "cleared"


@pytest.mark.parametrize(
    ("required", "given", "said"),
    [
        ("click", CLICK, "taken"),
        ("session", CLICK, "needs_assurance"),
        ("session", SESSION, "taken"),
        ("fresh", SESSION, "needs_assurance"),
        ("fresh", FRESH, "taken"),
    ],
)
def test_a_yes_needs_the_assurance_of_its_rule(cast: Cast, required: str, given: Assurance, said: str) -> None:
    """HF-2: a rule of high risk may ask for a sign-in of a moment ago."""
    approval = under(cast, assurance=required)
    assert code(say(approval, cast.dana, "approve", assurance=given)) == said
    assert code(say(under(cast, assurance=required), cast.dana, "edit", edited=refund(9), assurance=given)) == said


def test_a_no_needs_none(cast: Cast) -> None:
    approval = under(cast, assurance="fresh")
    assert code(say(approval, cast.dana, "reject", message="No.")) == "taken"


def test_what_was_sure_is_signed_and_in_the_ledger(cast: Cast) -> None:
    approval = under(cast, assurance="session")
    say(approval, cast.dana, "approve", assurance=FRESH)
    said = Decision.objects.get()
    assert (said.assurance, said.methods, said.holds()) == ("fresh", "password totp", True)
    [told] = [each for each in entries.read(approval.workspace_id, approval.chain) if each["kind"] == "decision.made"]
    assert (told["assurance"], told["methods"]) == ("fresh", "password totp")


def test_a_refused_attempt_is_in_the_ledger(cast: Cast) -> None:
    approval = under(cast, assurance="fresh")
    say(approval, cast.dana, "approve")
    assert entries.read(approval.workspace_id, approval.chain)[-1]["code"] == "needs_assurance"


def test_a_click_is_signed_as_it_always_was(cast: Cast) -> None:
    """Decisions from before there was an assurance hold: nothing is signed where there is nothing to say."""
    say(ask(cast, refund()), cast.dana, "approve")
    said = Decision.objects.get()
    assert (said.assurance, said.methods, said.holds()) == ("", "", True)


@pytest.mark.committed
def test_a_forged_assurance_opens_nothing(cast: Cast, tamper: Tamper) -> None:
    """AU-2, SC-6: a yes that was given by a click does not become one of a fresh sign-in."""
    approval = under(cast)
    say(approval, cast.dana, "approve")
    assert cleared(approval) == "cleared"
    tamper("UPDATE approvals_decision SET assurance = 'fresh'")
    assert cleared(approval) == "tampered"


def test_a_rule_of_today_that_asks_for_more_takes_no_click(cast: Cast) -> None:
    """The call goes back to people: the yes was good for the rule of its day."""
    approval = under(cast)
    say(approval, cast.dana, "approve")
    _rule(cast, assurance="session")
    assert cleared(approval) == "votes_fall_short"


def test_an_edit_is_held_to_what_the_rule_of_the_edited_call_asks(cast: Cast) -> None:
    """AZ-5: also where a rule that asks for less let the edit through."""
    approval = under(cast)
    _rule(cast, assurance="fresh", require_message_on=["approve"])
    assert code(say(approval, cast.dana, "edit", edited=refund(9), message="Half.")) == "needs_assurance"
    assert code(say(approval, cast.dana, "edit", edited=refund(9), assurance=FRESH)) == "needs_message"
    assert code(say(approval, cast.dana, "edit", edited=refund(9), assurance=FRESH, message="Half.")) == "taken"


# Words


@pytest.mark.parametrize(
    ("wanted", "verdict", "said"),
    [
        (["approve"], "approve", "needs_message"),
        (["approve"], "edit", "needs_message"),
        (["edit"], "edit", "needs_message"),
        (["edit"], "approve", "taken"),
        (["reject"], "approve", "taken"),
        (["approve"], "reject", "needs_message"),
    ],
)
def test_a_rule_names_the_verdicts_that_need_words(cast: Cast, wanted: list[str], verdict: str, said: str) -> None:
    """HF-2: a reason in words where the rule wants one; a no needs one anywhere. An edit that is a yes needs both."""
    more: dict[str, Any] = {"edited": refund(9)} if verdict == "edit" else {}
    approval = under(cast, require_message_on=wanted)
    assert code(say(approval, cast.dana, verdict, **more)) == said
    assert code(say(approval, cast.priya, verdict, message="Checked.", **more)) in {"taken", "too_late"}
