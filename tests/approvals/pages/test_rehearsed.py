"""What the pages say of a rehearsal, before and after it is decided."""

from __future__ import annotations

import pytest
from django.utils import timezone

from approvals.approvals import Approval
from approvals.clearance import REHEARSED
from tests.approvals.pages.conftest import Reads, at
from tests.cast import Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")


def test_a_rehearsal_says_so_wherever_it_is_listed_and_read(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund(), rehearsal=True)
    inbox = reads(cast.dana).get("/w/northwind/").content.decode()
    page = reads(cast.dana).get(at(approval)).content.decode()
    assert "Rehearsal: " in inbox and "Rehearsal: " in page
    assert "What is rehearsed" in page and "nothing is sent: this is a rehearsal" in page
    assert "is sent straight away" not in page and "bytes run<" not in page


def test_a_rehearsal_that_would_have_gone_is_no_failure(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund(), rehearsal=True)
    say(approval, cast.dana, "approve")
    ended = {"outcome": "failed", "outcome_note": f"It was not sent. {REHEARSED}", "outcome_at": timezone.now()}
    Approval.objects.filter(pk=approval.pk).update(**ended)
    page = reads(cast.dana).get(at(approval)).content.decode()
    assert "Approved in rehearsal" in page and "It was a rehearsal: nothing was sent." in page
    assert "What went wrong" not in page
    history = reads(cast.dana).get("/w/northwind/ledger").content.decode()
    assert "rehearsed" in history and "failed</td>" not in history


def test_a_rehearsal_that_lacked_something_says_what(cast: Cast, reads: Reads) -> None:
    approval = ask(cast, refund(), rehearsal=True)
    say(approval, cast.dana, "approve")
    told = {
        "outcome": "failed",
        "outcome_note": "It was not sent. Policy now refuses this call.",
        "outcome_at": timezone.now(),
    }
    Approval.objects.filter(pk=approval.pk).update(**told)
    page = reads(cast.dana).get(at(approval)).content.decode()
    assert "Policy now refuses this call." in page and "Approved in rehearsal" not in page
