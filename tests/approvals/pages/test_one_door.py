"""Every way of deciding leads through one door: what holds at one of them holds at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from approvals.approvals import Approval
from approvals.decisions import Decision
from approvals.ledger import entries
from approvals.people import Person
from tests.approvals.pages.conftest import Reads, at, form_of
from tests.cast import Cast, ask, refund

pytestmark = pytest.mark.usefixtures("heard")
EDITED = refund(1_000)


def _page(client: Client, approval: Approval) -> Any:
    return client.post(at(approval, "/decision"), form_of(approval, verdict="approve"))


def _form(client: Client, approval: Approval) -> Any:
    sent = form_of(approval, mode="json", do="save", message="", text=json.dumps(EDITED))
    return client.post(at(approval, "/edit"), sent)


def _api(client: Client, approval: Approval, **more: Any) -> Any:
    seen = form_of(approval)
    body = {"verdict": "approve", "revision": seen["revision"], "action_digest": seen["digest"], **more}
    path = f"/api/v1/workspaces/northwind/approvals/{approval.public_id}/decisions"
    return client.post(path, json.dumps(body), "application/json")


def _api_edit(client: Client, approval: Approval) -> Any:
    return _api(client, approval, verdict="edit", edited_action={"name": approval.tool, "args": EDITED})


WAYS: dict[str, Callable[[Client, Approval], Any]] = {
    "page": _page,
    "form": _form,
    "api": _api,
    "api edit": _api_edit,
}


def refused(cast: Cast, client: Client, way: str, requester: Person) -> list[str]:
    """The codes in the ledger after somebody tried this way, on a call asked on behalf of the requester."""
    approval = ask(cast, refund(), requester=requester)
    WAYS[way](client, approval)
    approval.refresh_from_db()
    assert (approval.status, approval.revision, Decision.objects.count()) == ("pending", 1, 0)
    found = entries.read(approval.workspace_id, approval.chain)
    return [entry["code"] for entry in found if entry["kind"] == "decision.refused"]


@pytest.mark.parametrize("way", WAYS)
def test_nobody_says_yes_to_what_is_asked_on_their_behalf(cast: Cast, reads: Reads, way: str) -> None:
    """CH-B106, AZ-2: at each entry, and each attempt is on record or never came as far."""
    assert refused(cast, reads(cast.dana), way, cast.dana) in (["self_review"], [])


@pytest.mark.parametrize("way", WAYS)
def test_who_has_no_right_gets_nowhere(cast: Cast, reads: Reads, way: str) -> None:
    """CH-B106, AZ-1, CH-B30: a member of the workspace who may not decide."""
    assert refused(cast, reads(cast.omar), way, cast.riley) in (["not_allowed"], [])


@pytest.mark.parametrize("way", WAYS)
def test_another_may(cast: Cast, reads: Reads, way: str) -> None:
    """CH-B106: the same requests are good for who is allowed."""
    approval = ask(cast, refund())
    WAYS[way](reads(cast.dana), approval)
    approval.refresh_from_db()
    assert (approval.status, approval.revision) == ("approved", 1 + ("edit" in way or way == "form"))
