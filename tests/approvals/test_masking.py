"""What a policy masks beside a schema's secrets: on every surface, for calls of then and of now."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from approvals import gate, policies, rows
from approvals.approvals import Approval
from approvals.decisions import Refused
from approvals.ledger import canonical
from tests.approvals.pages.conftest import Reads, at
from tests.approvals.pages.conftest import reads as reads
from tests.approvals.test_policy_words import RULE, fault, read
from tests.cast import REFUND, Cast, ask, propose, refund, say

pytestmark = pytest.mark.usefixtures("heard")

CHARGE = "ch_3PqT2eLk9fZ"
MASKS = {"payments.create_refund": ["/charge", "/note"]}


def load(cast: Cast, **top: Any) -> None:
    policies.load(cast.northwind, canonical.encode({"policy": 1, "rules": [RULE]} | top), by="system")


def surfaces(approval: Approval, reads: Reads, person: Any) -> dict[str, str]:
    """What each surface says of the approval."""
    api = f"/api/v1/workspaces/northwind/approvals/{approval.public_id}"
    pages = [at(approval), at(approval, "/edit"), at(approval, "/edit?mode=json"), "/w/northwind/", api]
    pages += ["/w/northwind/ledger", "/api/v1/workspaces/northwind/approvals"]
    client = reads(person)
    answers = {page: client.get(page, follow=True) for page in pages}
    assert {page: answer.status_code for page, answer in answers.items()} == dict.fromkeys(pages, 200)
    return {page: answer.content.decode() for page, answer in answers.items()}


def test_what_a_policy_masks_is_on_no_surface(cast: Cast, reads: Reads) -> None:
    """Like a secret of the schema's: title, arguments, raw JSON, form, lists and API."""
    load(cast, masks=MASKS)
    approval = ask(cast, refund(note="Iban NL91"))
    for page, told in surfaces(approval, reads, cast.dana).items():
        assert CHARGE not in told and "NL91" not in told, page


def test_a_mask_of_today_hides_what_was_asked_before_it(cast: Cast, reads: Reads) -> None:
    load(cast)
    approval = ask(cast, refund())
    assert CHARGE in reads(cast.dana).get(at(approval)).content.decode()
    load(cast, masks=MASKS)
    assert all(CHARGE not in told for told in surfaces(approval, reads, cast.dana).values())


def test_a_mask_of_the_policy_that_ruled_stays(cast: Cast, reads: Reads) -> None:
    load(cast, masks=MASKS)
    approval = ask(cast, refund())
    load(cast)
    assert all(CHARGE not in told for told in surfaces(approval, reads, cast.dana).values())
    say(approval, cast.dana, "edit", edited=refund(41_000))
    assert all(CHARGE not in told for told in surfaces(approval, reads, cast.dana).values()), "after an edit as well"


def test_what_is_masked_survives_an_edit_untouched(cast: Cast) -> None:
    """The bytes that run are whole: a mask hides, it does not change."""
    load(cast, masks=MASKS)
    approval = ask(cast, refund())
    say(approval, cast.dana, "edit", edited=refund(9))
    approval.refresh_from_db()
    answer = gate.clearance(approval.workspace_id, approval.subject, approval.revisions.get(number=2).digest)
    assert isinstance(answer, gate.Cleared) and canonical.parse(answer.args)["charge"] == CHARGE


def test_no_fault_quotes_what_is_masked(cast: Cast) -> None:
    load(cast, masks={"payments.create_refund": ["/currency"]})
    approval = ask(cast, refund())
    answer = say(approval, cast.dana, "edit", edited=refund(currency="hidden-value"))
    assert isinstance(answer, Refused) and "hidden-value" not in f"{answer.message} {answer.faults}"
    with rows.within(cast.northwind):
        held = gate.hold(gate.judge(propose(cast, refund(currency="hidden-value"))))
    assert held.verdict == "deny" and "hidden-value" not in held.reason


@pytest.mark.parametrize(("kind", "value"), [("string", "DE02120300"), ("array", ["DE02120300"])])
def test_no_fault_quotes_a_secret_of_another_branch(cast: Cast, kind: str, value: Any) -> None:
    """The part of the schema that does not say so speaks of the same value."""
    load(cast)
    none = {"enum": ["none"]}
    iban = {"type": kind, "x-secret": True}
    then = {"properties": {"iban": {"items": none} if kind == "array" else none}}
    branch = {"if": {"properties": {"sort": {"const": "b"}}}, "then": then}
    schema = {"type": "object", "properties": {"sort": {"enum": ["a", "b"]}, "iban": iban}} | branch
    approval = ask(cast, {"sort": "a", "iban": value}, tool=replace(REFUND, schema=schema, summary=""))
    answer = say(approval, cast.dana, "edit", edited={"sort": "b", "iban": value})
    assert isinstance(answer, Refused) and "DE02120300" not in f"{answer.message} {answer.faults}"


def test_a_run_is_masked_by_what_ruled_there_and_by_today(cast: Cast) -> None:
    load(cast, masks=MASKS)
    approval = ask(cast, refund())
    load(cast, masks={"payments.create_refund": ["/amount"]})
    masked = gate.masked(cast.northwind.pk, approval.chain)
    assert masked == {"payments.create_refund": ("/amount", "/charge", "/note")}
    facts = gate.ToolFacts(**{**vars(REFUND), "masked": masked["payments.create_refund"]})
    shown = gate.covered(facts, refund())
    assert shown["charge"] == {"$kept": "/charge"} and shown["amount"] == {"$kept": "/amount"}


def test_a_policy_that_was_tampered_with_masks_everything(cast: Cast) -> None:
    load(cast, masks=MASKS)
    approval = ask(cast, refund())
    version = policies.Policy(workspace=cast.northwind, version=9, document=b"{}", digest="0" * 64, mac=cast.policy.mac)
    version.save(force_insert=True)
    facts = gate.ToolFacts(**{**vars(REFUND), "masked": gate.masked(cast.northwind.pk, approval.chain)[REFUND.name]})
    assert CHARGE not in str(gate.covered(facts, refund()))


@pytest.mark.parametrize(
    "masks", [{}, {"t": []}, {"t": ["charge"]}, {"t": "/charge"}, {"t": ["/a", "/a"]}, {"t": ["/a~"]}]
)
def test_a_mask_that_names_no_place_is_refused(masks: Any) -> None:
    assert fault(masks=masks).pointer.startswith("/masks")
    assert read(RULE, masks=MASKS)
