"""Edits in the record: what was changed is kept as JSON Patch, sealed, signed with the edit, digested in the ledger."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from approvals import approvals, erasure, evidence, rows
from approvals.approvals import Approval
from approvals.decisions import Decided, Decision
from approvals.edits import patch
from approvals.ledger import canonical, entries
from approvals.ledger.sealing import Erased
from tests.cast import REFUND, REFUND_SCHEMA, Cast, ask, refund, say
from tests.tampering import Tamper

pytestmark = pytest.mark.usefixtures("heard")
SECRET = "s3cr3t-of-the-bank"
KEYED = replace(
    REFUND, schema=REFUND_SCHEMA | {"properties": REFUND_SCHEMA["properties"] | {"api_key": {"type": "string"}}}
)


def edited(cast: Cast, **args: Any) -> tuple[Approval, Decision]:
    """An approval of a call with a secret whose amount was changed, and the edit."""
    approval = ask(cast, refund(90_000, api_key=SECRET), tool=KEYED)
    after = {"amount": 1_000, "api_key": SECRET} | args
    assert say(approval, cast.dana, "edit", edited=refund(**after)) == Decided("approved", 2, 1, 1)
    return approval, Decision.objects.get(approval=approval, verdict="edit")


def test_an_edit_is_kept_as_what_it_changed(cast: Cast) -> None:
    """AZ-5, BD-8: one step for one field, which leads from the one revision to the other."""
    approval, edit = edited(cast)
    steps = patch.parse(edit.clear_patch())
    assert steps == [{"op": "replace", "path": "/amount", "value": 1_000}]
    first, second = (canonical.parse(approvals.args_of(each)) for each in approvals.revisions(approval))
    assert patch.applied(steps, first) == second


def test_a_masked_secret_survives_an_edit_untouched(cast: Cast) -> None:
    """IN-E49, WB-9, DU-S7: it is in the new bytes, and nowhere in the record of the edit."""
    approval, edit = edited(cast)
    assert canonical.parse(approvals.args_of(approvals.revisions(approval)[1]))["api_key"] == SECRET
    assert SECRET.encode() not in edit.clear_patch()
    assert SECRET not in str(entries.read(approval.workspace_id, approval.chain))


def test_the_ledger_has_the_digest_of_the_patch_alone(cast: Cast) -> None:
    """AU-8: content is sealed outside of it."""
    approval, edit = edited(cast)
    made = [entry for entry in entries.read(approval.workspace_id, approval.chain) if entry["kind"] == "decision.made"]
    assert [entry.get("patch_digest", "") for entry in made] == [canonical.sha256_hex(edit.clear_patch()), ""]
    assert b"amount" not in bytes(edit.patch)


def test_what_is_no_edit_has_no_patch(cast: Cast) -> None:
    """JS-12: an edit that changes nothing is a plain yes."""
    say(ask(cast, refund()), cast.dana, "edit", edited=refund())
    assert [(one.verdict, one.patch_digest, bytes(one.patch)) for one in Decision.objects.all()] == [
        ("approve", "", b"")
    ]


@pytest.mark.committed
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE approvals_decision SET patch = '' WHERE verdict = 'edit'",
        "UPDATE approvals_decision SET patch = set_byte(patch, 30, get_byte(patch, 30) # 1) WHERE verdict = 'edit'",
        "UPDATE approvals_decision SET patch = message WHERE verdict = 'edit'",
        "UPDATE approvals_decision SET patch_digest = repeat('0', 64) WHERE verdict = 'edit'",
    ],
    ids=["emptied", "changed", "swapped", "digest"],
)
def test_a_patch_that_was_changed_past_placet_is_named(cast: Cast, tamper: Tamper, statement: str) -> None:
    """T31, AU-2."""
    approval, edit = edited(cast)
    assert list(evidence.unproven(cast.northwind.pk)) == []
    tamper(statement)
    told = f"the edit {edit.public_id} is not what became of {approval.public_id}."
    assert told in list(evidence.unproven(cast.northwind.pk))


def test_it_is_erased_with_what_people_wrote(cast: Cast) -> None:
    """AU-8: its digest stays."""
    approval, edit = edited(cast)
    with rows.within(cast.northwind):
        erasure.erase(cast.northwind.pk, approval.chain)
    edit.refresh_from_db()
    with pytest.raises(Erased):
        edit.clear_patch()
    assert edit.patch_digest and edit.holds() and list(evidence.unproven(cast.northwind.pk)) == []
