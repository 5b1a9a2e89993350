"""What the ledger tells of an approval counts, whatever was done to its rows: nobody's yes comes back to life."""

from __future__ import annotations

from dataclasses import replace

import pytest

from approvals import approvals, gate, people, rows
from approvals.approvals import Approval
from approvals.decisions import Decided, Refused
from tests.cast import Cast, ask, propose, refund, say
from tests.tampering import Tamper

pytestmark = [pytest.mark.usefixtures("heard"), pytest.mark.committed]
BACK = "UPDATE approvals_approval SET status = 'pending', decided_at = NULL, decided_by_id = NULL"
SETTLED = "UPDATE approvals_approval SET status = 'approved', decided_at = now()"


def code(approval: Approval, *, number: int = 0) -> str:
    """What clearance says of a revision, the current one where none is named."""
    seen = Approval.objects.get(pk=approval.pk)
    digest = seen.revisions.get(number=number or seen.revision).digest
    answer = gate.clearance(seen.workspace_id, seen.subject, digest)
    return answer.code if isinstance(answer, gate.NotCleared) else "cleared"


def refused(answer: Decided | Refused) -> bool:
    return isinstance(answer, Refused) and answer.code == "tampered"


@pytest.mark.parametrize("column", ["mac = mac || '\\x00'", "decided_via = 'chat'", "digest = repeat('0', 64)"])
def test_a_taking_back_that_was_spoilt_brings_no_yes_back(cast: Cast, tamper: Tamper, column: str) -> None:
    """AU-2: a row that is there, but not as it was written, is as good as gone."""
    approval = ask(cast, refund(200_000))
    say(approval, cast.dana, "approve")
    say(approval, cast.dana, "retract")
    tamper(f"UPDATE approvals_decision SET {column} WHERE verdict = 'retract'")
    assert refused(say(approval, cast.priya, "approve"))
    tamper(SETTLED)
    assert code(approval) == "tampered"


@pytest.mark.parametrize("end", ["rejected", "cancelled", "expired"])
def test_what_had_ended_is_not_decided_anew(cast: Cast, tamper: Tamper, end: str) -> None:
    """DS-6: an end is final, and the entry of it is what says so."""
    approval = ask(cast, refund())
    if end == "rejected":
        say(approval, cast.dana, "reject", message="Never.")
    else:
        with rows.within(cast.northwind):
            approvals.settle(Approval.objects.get(pk=approval.pk), end, by="system")
    tamper(BACK)
    assert refused(say(approval, cast.priya, "approve"))
    tamper(SETTLED)
    assert code(approval) == "tampered"


def test_votes_that_an_edit_voided_stay_void(cast: Cast, tamper: Tamper) -> None:
    """AZ-5: which revision is the last is not the row's to say."""
    people.grant(cast.omar, "decide", cast.finance, by="system")
    approval = ask(cast, refund(200_000))
    say(approval, cast.dana, "approve")
    say(approval, cast.priya, "edit", edited=refund(150_000))
    tamper("UPDATE approvals_approval SET revision = 1")
    assert refused(say(approval, cast.omar, "approve"))
    tamper(SETTLED)
    assert code(approval, number=1) == "tampered"


def test_what_was_asked_again_does_not_run_by_the_older_yes(cast: Cast, tamper: Tamper) -> None:
    """The newer approval is the one that counts, however it ends."""
    approval = ask(cast, refund())
    say(approval, cast.dana, "approve")
    assert code(approval) == "cleared"
    call = replace(propose(cast, refund()), subject=approval.subject, chain=approval.chain)
    with rows.within(cast.northwind):
        gate.hold(gate.judge(replace(call, asks_again=approval.public_id)))
    assert code(approval) == "tampered"


def test_what_became_of_the_call_is_no_turn(cast: Cast) -> None:
    """An outcome that was reported stands among the entries of the approval, and stops nothing."""
    approval = ask(cast, refund())
    say(approval, cast.dana, "approve")
    with rows.within(cast.northwind):
        gate.report(cast.northwind.pk, approval.chain, approval.subject, "unknown")
    assert code(approval) == "cleared"
