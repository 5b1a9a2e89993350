"""`ledger verify` also looks at the rows that the ledger explains: each forgery is a sentence."""

from __future__ import annotations

import pytest

from approvals import evidence, outcomes, rows
from approvals.cast import form
from approvals.decisions import Decision
from approvals.ledger import canonical, entries, verify
from approvals.policies import Policy
from approvals.revisions import current_revision
from tests.cast import Cast, ask, refund, say
from tests.tampering import Tamper

pytestmark = pytest.mark.committed


@pytest.fixture
def settled(cast: Cast, heard: object) -> Cast:
    """One approval that Dana approved, one that is pending."""
    say(ask(cast, refund()), cast.dana, "approve")
    ask(cast, refund(50_000))
    failed = ask(cast, refund(60_000))
    say(failed, cast.dana, "approve")
    with rows.within(cast.northwind):
        outcomes.report(cast.northwind.pk, failed.chain, failed.subject, "failed", note="No.", checkpoint_mac="")
        form(cast.northwind, "legal", "Legal", by="system")
    assert found(cast) == []
    return cast


def found(cast: Cast) -> list[str]:
    return list(evidence.unproven(cast.northwind.pk))


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE approvals_ruling SET verdict = 'allow'", "ruling rul_"),
        ("UPDATE approvals_policy SET document = '{\"rules\":[]}'", "version 1 of the policy is not as it was"),
        ("UPDATE approvals_policy SET mac = ''", "version 1 of the policy is not as it was"),
        ("UPDATE approvals_policy SET mac = '\\x000963'", "is not as it was"),
        ("UPDATE approvals_decision SET verdict = 'reject'", "decision dec_"),
        ("UPDATE approvals_decision SET decided_at = decided_at - interval '1 day'", "decision dec_"),
        ("DELETE FROM approvals_decision", "decision 1 of per_"),
        ("UPDATE approvals_approval SET teams = '{}'", "does not ask those whom its rule names"),
        ("UPDATE approvals_approval SET required = 0", "does not ask those whom its rule names"),
        (
            "UPDATE approvals_approval SET status = 'approved' WHERE status = 'pending'",
            "and by the ledger it is pending",
        ),
        ("UPDATE approvals_approval SET status = 'pending'", "is pending, and by the ledger it is approved"),
        ("DELETE FROM approvals_approval WHERE status = 'pending'", "was opened and is gone"),
        ("UPDATE approvals_revision SET digest = repeat('0', 64)", "is not the one that was ruled on"),
        ("UPDATE approvals_approval SET outcome_note = 'All well.' WHERE outcome = 'none'", "told in other words"),
        ("UPDATE approvals_approval SET outcome_note = '' WHERE outcome = 'failed'", "told in other words"),
        ("UPDATE approvals_team SET name = 'Interns' WHERE slug = 'legal'", "is called Interns (legal), and by the"),
        ("DELETE FROM approvals_team WHERE slug = 'legal'", "team legal was formed and is gone"),
    ],
)
def test_a_row_written_past_placet_is_named(settled: Cast, tamper: Tamper, statement: str, sentence: str) -> None:
    """DU-L31, T31, AU-2."""
    tamper(statement)
    assert any(sentence in text for text in found(settled)), found(settled)


def test_a_vote_that_no_entry_made_is_named(settled: Cast) -> None:
    """T31: also one that carries the code of another."""
    approval = ask(settled, refund(60_000))
    forged = Decision.objects.first()
    assert forged is not None
    forged.pk, forged.approval, forged.digest = rows.uuid7(), approval, current_revision(approval).digest
    forged.save(force_insert=True)
    texts = found(settled)
    assert f"decision {forged.public_id} is not as it was written." in texts
    assert any(text.startswith("no entry made decision 1") for text in texts)


def test_an_approval_that_no_entry_opened_is_named(settled: Cast, tamper: Tamper) -> None:
    tamper("DELETE FROM approvals_entry WHERE kind = 'approval.opened'")
    assert sum(text.startswith("no entry opened apr_") for text in found(settled)) == 3


def test_what_is_signed_with_a_key_that_is_not_here_is_said(settled: Cast, tamper: Tamper) -> None:
    """SC-2: neither yes nor no."""
    tamper("UPDATE approvals_ruling SET mac = '\\x0009' || substr(mac, 3)")
    assert any("cannot be checked: PLACET_KEYS has no key 9" in text for text in found(settled))


def test_verify_asks_it_and_survives_entries_that_cannot_be_read(settled: Cast, tamper: Tamper) -> None:
    """T31: an unreadable entry hides nothing else."""
    assert Policy.objects.count() == 1
    tamper("UPDATE approvals_entry SET body = %s WHERE kind = 'approval.opened'", canonical.encode({"kind": "x"}))
    texts = [str(finding) for each in verify.verify_workspace(settled.northwind.pk) for finding in each.findings]
    assert any("cannot be compared with the rows" in text for text in texts)
    assert any("its content was changed" in text for text in texts)
    assert entries.read(settled.northwind.pk, "workspace")
