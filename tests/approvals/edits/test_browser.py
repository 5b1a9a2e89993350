"""The form in a real Chromium, with its scripts and without: what it sends is what tests elsewhere take it to send."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from approvals import gate
from approvals.approvals import Approval
from approvals.ledger import canonical
from approvals.revisions import args_of
from tests.approvals.edits.tools import ODD_NAMES, ODD_TEXTS
from tests.cast import REFUND_SCHEMA, Cast, ask

pytestmark = [pytest.mark.committed, pytest.mark.usefixtures("heard")]
PageAs = Callable[..., Page]

TEXTS = [
    *ODD_TEXTS,
    "\u200b\u202e",
    "\x0b\x0c\x1f\x7f\x85",
    "\ufeffbom",
    "\U0001f469\u200d\U0001f680",
    "\ufffe\uffff",
    "null",
    "é e\u0301",
]
SCHEMA: dict[str, Any] = REFUND_SCHEMA | {
    "properties": REFUND_SCHEMA["properties"]
    | {f"t{number}": {"type": "string"} for number in range(len(TEXTS))}
    | {
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
        "emails": {"type": "array", "items": {"type": "string"}},
        "level": {"type": ["string", "number"]},
        "api_key": {"type": "string"},
        "bag": {"type": "object"},
    }
}
TOOL = gate.ToolFacts("payments.create_refund", "Create a refund", "d" * 64, SCHEMA, "", "keyed", "medium")
ARGS: dict[str, Any] = {
    "charge": "ch_1",
    "amount": 142_000,
    "currency": "eur",
    "level": 1e21,
    "emails": ["a@x.example"],
    "api_key": "••••",
    "bag": {"password": "hunter2", "n": [1.5, None, {"": False}]},
    "map": {name: name for name in ODD_NAMES},
    **{f"t{number}": text for number, text in enumerate(TEXTS)},
}


def opened(approval: Approval, page: Page) -> Page:
    page.goto(f"/w/northwind/approvals/{approval.public_id}/edit")
    return page


def saved(approval: Approval, page: Page) -> Any:
    """Press the button that saves; the arguments of the revision in force."""
    with page.expect_navigation():
        page.click('button[value="save"]')
    assert "/edit" not in page.url, page.inner_text("main")
    approval.refresh_from_db()
    return canonical.parse(bytes(args_of(approval.revisions.select_related("ruling").get(number=approval.revision))))


@pytest.mark.parametrize("scripts", [True, False])
def test_an_untouched_form_is_a_plain_approval(cast: Cast, page_as: PageAs, scripts: bool) -> None:
    """AP-E1 AP-E5 CH-B143 WB-8 WB-9 JS-12: every odd text, name and number comes back as it was."""
    approval = ask(cast, ARGS, tool=TOOL)
    assert saved(approval, opened(approval, page_as(cast.dana, java_script_enabled=scripts))) == ARGS
    assert approval.revision == 1
    assert [vote.verdict for vote in approval.decisions.all()] == ["approve"]


@pytest.mark.parametrize("scripts", [True, False])
def test_an_edit_made_by_hand_arrives_exactly(cast: Cast, page_as: PageAs, scripts: bool) -> None:
    """AP-E1 AP-E4 JS-8: added, removed, replaced and chosen, with buttons that work without scripts."""
    approval = ask(cast, ARGS, tool=TOOL)
    page = opened(approval, page_as(cast.dana, java_script_enabled=scripts))
    page.click('button[value="append:/emails"]')
    page.fill('[name="f:/emails/1"]', "b@x.example")
    page.click('button[value="remove:/t0"]')
    page.click('button[value="replace:/api_key"]')
    page.fill('[name="f:/api_key"]', "new key")
    page.click('button[value="add:/note"]')
    page.fill('[name="f:/note"]', "two\nlines")
    page.fill('[name="f:/amount"]', "141000")
    expected = {name: value for name, value in ARGS.items() if name != "t0"}
    expected |= {
        "emails": ["a@x.example", "b@x.example"],
        "api_key": "new key",
        "note": "two\nlines",
        "amount": 141_000,
    }
    assert saved(approval, page) == expected


def test_the_return_key_saves_nothing(cast: Cast, page_as: PageAs) -> None:
    """AP-E2: in a field of one line it looks the form over, and a fault stands at its field."""
    approval = ask(cast, ARGS, tool=TOOL)
    page = opened(approval, page_as(cast.dana))
    page.fill('[name="f:/amount"]', "30r")
    with page.expect_navigation():
        page.press('[name="f:/amount"]', "Enter")
    assert page.input_value('[name="f:/amount"]') == "30r"
    assert page.get_attribute('[name="f:/amount"]', "aria-invalid") == "true"
    approval.refresh_from_db()
    assert approval.decisions.count() == 0
