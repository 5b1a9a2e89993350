"""Verifying the ledger from a page: begun by a press, done in parts, told in words."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import people, rows, verifications
from approvals.ledger import verify
from approvals.ledger.entries import Entry
from approvals.verifications import Verification
from approvals.votes import Refused
from tests.approvals.pages.conftest import Reads
from tests.cast import Cast, ask, refund, say
from tests.tampering import Tamper

pytestmark = pytest.mark.usefixtures("heard")
PAGE = "/w/northwind/ledger/verification"


@pytest.fixture
def auditor(cast: Cast) -> Any:
    people.grant(cast.riley, "audit", cast.northwind, by="system")
    return cast.riley


def begun(cast: Cast, auditor: Any) -> Verification:
    made = verifications.begin(cast.northwind, by=auditor)
    assert isinstance(made, Verification)
    return made


def done(cast: Cast, made: Verification) -> Verification:
    while verifications.go_on(cast.northwind.pk, made.pk):
        pass
    made.refresh_from_db()
    assert made.status == "done"
    return made


def test_a_press_begins_it_and_the_page_tells_how_far_it_is(cast: Cast, auditor: Any, reads: Reads) -> None:
    ask(cast, refund())
    client = reads(auditor)
    html = client.post(PAGE, follow=True).content.decode()
    assert "Verifying" in html and "0 of 2 chains" in html and 'value="0"' in html
    done(cast, verifications.last(cast.northwind.pk) or Verification())
    html = client.get(PAGE).content.decode()
    assert "Verified" in html and "in 2 chains" in html and "Verify again" in html and "every seal holds" in html


def test_one_who_neither_audits_nor_administers_is_told_so(cast: Cast, reads: Reads) -> None:
    client = reads(cast.dana)
    answer = client.post(PAGE)
    assert answer.status_code == 422 and "Only those who audit or administer" in answer.content.decode()
    assert "Verify now" not in client.get(PAGE).content.decode() and not Verification.objects.exists()


def test_there_is_one_at_a_time(cast: Cast, auditor: Any, reads: Reads) -> None:
    begun(cast, auditor)
    answer = reads(auditor).post(PAGE)
    assert answer.status_code == 422 and "being verified already" in answer.content.decode()
    assert isinstance(verifications.begin(cast.northwind, by=auditor), Refused)


@pytest.mark.committed
def test_it_finds_what_the_command_finds(cast: Cast, auditor: Any, reads: Reads, tamper: Tamper) -> None:
    """The same questions, in parts."""
    say(ask(cast, refund()), cast.dana, "approve")
    tamper("UPDATE approvals_entry SET kind = 'decision.lost' WHERE kind = 'decision.made'")
    told = [(one.chain, str(each)) for one in verify.verify_workspace(cast.northwind.pk) for each in one.findings]
    found = done(cast, begun(cast, auditor))
    assert [tuple(one) for one in found.findings] == told and found.faults == len(told) > 0
    html = reads(auditor).get(PAGE).content.decode()
    assert "Not as written" in html and "decision.lost in the table" in html and "/runs/run_" in html


def test_a_part_is_done_by_one_worker(cast: Cast, auditor: Any) -> None:
    """Whoever comes while somebody is at it goes away; a part whose worker died is done again."""
    made = begun(cast, auditor)
    Verification.objects.update(working_until=rows.now() + verifications.LEASE)
    assert not verifications.go_on(cast.northwind.pk, made.pk)
    Verification.objects.update(working_until=rows.now())
    assert verifications.go_on(cast.northwind.pk, made.pk)


def test_that_it_was_verified_is_in_the_ledger(cast: Cast, auditor: Any) -> None:
    found = done(cast, begun(cast, auditor))
    with rows.reading(cast.northwind):
        entry = Entry.objects.get(workspace=cast.northwind, kind="ledger.verified")
    assert auditor.public_id.encode() in bytes(entry.body) and found.public_id.encode() in bytes(entry.body)


def test_anchors_that_cannot_be_read_are_a_finding_and_no_end(
    cast: Cast, auditor: Any, reads: Reads, settings: Any, tmp_path: Any
) -> None:
    """A directory stands where their file should: the page is there, and the verification comes to its end."""
    settings.PLACET_ANCHORS = tmp_path
    found = done(cast, begun(cast, auditor))
    assert any("The anchors cannot be read" in text for _, text in found.findings)
    assert reads(auditor).get("/w/northwind/ledger/entries").status_code == 200
