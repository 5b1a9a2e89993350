"""What a yes takes where the risk is high: the sentence confirmed, and time to read, by the server's word."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from approvals import policies, rows
from approvals.approvals import Approval
from approvals.pages import care
from tests.approvals.pages.conftest import Reads, at, form_of
from tests.cast import POLICY, REFUND, Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")
LOW = replace(REFUND, risk="low")


def fields(html: str) -> dict[str, str]:
    """The hidden fields of the page's form."""
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', html))


def later(approval: Approval, seconds: float) -> str:
    """The field of a form that was made so many seconds ago."""
    digest = approval.revisions.get(number=approval.revision).digest
    return care.signed(digest, rows.now() - timedelta(seconds=seconds))


def test_at_high_risk_a_yes_names_the_sentence_and_looks_like_a_danger(cast: Cast, reads: Reads) -> None:
    """HF-3: the sentence stands beside the box, and nothing is ticked or ready beforehand."""
    html = reads(cast.dana).get(at(ask(cast, refund()))).content.decode()
    assert re.search(r'name="sure" value="yes" aria-describedby.+I have read it: <b>Refund', html)
    assert "approve grave" in html and 'data-read="3"' in html and "checked" not in html
    low = reads(cast.dana).get(at(ask(cast, refund(), tool=LOW))).content.decode()
    assert 'name="sure"' not in low and "grave" not in low


def test_a_yes_that_was_not_confirmed_is_refused_at_the_box_and_keeps_what_was_typed(cast: Cast, reads: Reads) -> None:
    """HF-3: by the server, whatever the browser does."""
    approval = ask(cast, refund())
    sent = form_of(approval, verdict="approve", comment="Photos match.", sure="")
    answer = reads(cast.dana).post(at(approval, "/decision"), sent)
    html = answer.content.decode()
    assert answer.status_code == 422 and 'id="sure-fault" role="alert"' in html and "Photos match." in html
    assert not approval.decisions.exists()
    assert fields(html)["opened"] == sent["opened"], "the time that was read counts on"


@pytest.mark.parametrize("seconds", [0, 2, -60])
def test_a_hasty_yes_is_told_to_read_on_and_loses_nothing(cast: Cast, reads: Reads, seconds: int) -> None:
    """WB-5: the page says when it was made, and the server holds to it; a moment to come is none either."""
    approval = ask(cast, refund())
    sent = form_of(approval, verdict="approve", comment="Photos match.", opened=later(approval, seconds))
    answer = reads(cast.dana).post(at(approval, "/decision"), sent)
    html = answer.content.decode()
    assert answer.status_code == 429 and "read on, then press again" in html and "Photos match." in html
    assert fields(html)["opened"] == sent["opened"] and 'value="yes" checked' in html
    assert not approval.decisions.exists()


def test_the_page_s_own_form_is_good_after_the_time(cast: Cast, reads: Reads, monkeypatch: Any) -> None:
    """WB-5: from the page to the verdict, without a script."""
    approval, client = ask(cast, refund()), reads(cast.dana)
    sent = fields(client.get(at(approval)).content.decode()) | {"verdict": "approve", "sure": "yes"}
    assert client.post(at(approval, "/decision"), sent).status_code == 429
    now = rows.now() + timedelta(seconds=3)
    monkeypatch.setattr("approvals.pages.care.rows.now", lambda: now)
    assert client.post(at(approval, "/decision"), sent).status_code == 302


@pytest.mark.parametrize("opened", ["", "x", "eyJhdCI6MX0:x", None])
def test_a_moment_that_we_did_not_sign_is_none(cast: Cast, reads: Reads, opened: str | None) -> None:
    """WB-5: neither is one that was signed for other bytes."""
    approval = ask(cast, refund())
    opened = later(ask(cast, refund(41_000)), 60) if opened is None else opened
    answer = reads(cast.dana).post(at(approval, "/decision"), form_of(approval, verdict="approve", opened=opened))
    assert answer.status_code == 429 and not approval.decisions.exists()


def test_more_to_read_takes_longer() -> None:
    """WB-5: never less than what `oversight` calls very quick, and never long."""
    assert [care.seconds(length) for length in (0, 300, 301, 600, 601, 90_000)] == [3, 3, 6, 6, 12, 12]


@pytest.mark.parametrize("text", [refund(), refund(41_000)])
def test_saving_an_edit_that_is_a_yes_takes_the_same_care(cast: Cast, reads: Reads, text: Any) -> None:
    """HF-3, WB-5: also one that changes nothing."""
    approval, client = ask(cast, refund()), reads(cast.dana)
    assert 'name="sure"' in client.get(at(approval, "/edit")).content.decode()
    sent = form_of(approval, mode="json", do="save", message="", text=json.dumps(text))
    for more, told in (({"sure": ""}, "sure-fault"), ({"opened": later(approval, 1)}, "read on")):
        answer = client.post(at(approval, "/edit"), sent | more)
        assert answer.status_code == 422 and told in answer.content.decode()
    assert not approval.decisions.exists() and client.post(at(approval, "/edit"), sent).status_code == 302


def test_an_edit_that_raises_the_risk_is_confirmed(cast: Cast, reads: Reads) -> None:
    """HF-3: the risk that counts is the one of what would run."""
    raised = POLICY.replace("editor_may_approve: true", "editor_may_approve: true\n    risk: high")
    policies.load(cast.northwind, raised, by="system", author=cast.omar)
    approval, client = ask(cast, refund(), tool=LOW), reads(cast.dana)
    sent = form_of(approval, mode="json", do="save", message="", text=json.dumps(refund(142_000)), sure="")
    assert 'name="sure"' in client.post(at(approval, "/edit"), sent).content.decode()
    assert not approval.decisions.exists()
    assert client.post(at(approval, "/edit"), sent | {"sure": "yes"}).status_code == 302


def test_who_may_not_decide_hears_that_and_nothing_of_care(cast: Cast, reads: Reads) -> None:
    """AZ-1: the attempt is on record, as ever."""
    approval = ask(cast, refund())
    sent = form_of(approval, verdict="approve", sure="", opened="")
    assert reads(cast.omar).post(at(approval, "/decision"), sent).status_code == 403


@pytest.mark.parametrize("verdict", ["reject", "respond"])
def test_what_lets_nothing_run_takes_no_care(cast: Cast, reads: Reads, verdict: str) -> None:
    """A no is never made hard."""
    approval = ask(cast, refund())
    sent = form_of(approval, verdict=verdict, comment="No.", sure="", opened="")
    assert reads(cast.dana).post(at(approval, "/decision"), sent).status_code not in {422, 429}


def test_no_cut_of_the_page_can_approve_before_all_of_it_is_there(cast: Cast, reads: Reads) -> None:
    """WB-5: a page that is still arriving has no way to say yes before its last argument, and none is left out."""
    note = "wet " * 80 + "the very end"
    html = reads(cast.dana).get(at(ask(cast, refund(note=note)))).content.decode()
    button = html.index('name="verdict" value="approve"')
    assert all(html.index(shown) < button for shown in ("the very end", "ch_3PqT2eLk9fZ", "Raw JSON", "wet wet"))
    assert html.index('name="opened"') < button and 'name="verdict"' not in html[: html.index("the very end")]


def test_every_verdict_of_a_page_passes_the_one_place() -> None:
    """HF-3, WB-5: no other page calls `decide`."""
    pages = Path(settings.BASE_DIR, "approvals", "pages").glob("*.py")
    assert [page.name for page in pages if "decisions.decide(" in page.read_text("utf-8")] == ["care.py"]


def test_a_vote_that_comes_in_leaves_the_box_alone(cast: Cast, reads: Reads) -> None:
    """WB-5: news for an open page bring neither a new box nor a new wait."""
    approval, client = ask(cast, refund(142_000)), reads(cast.priya)
    say(approval, cast.dana, "approve")
    news = client.get(at(approval) + "?seen=old&form=1", headers={"HX-Request": "true"}).content.decode()
    assert "approve grave" in news and "data-read" not in news and 'name="sure"' not in news
