"""Several at once: only what the policy lets, nothing unseen, each verdict through the one door by itself."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from approvals import policies, rows
from approvals.approvals import Approval
from approvals.ledger import entries
from approvals.pages import batch
from approvals.policies import PolicyFault
from tests.approvals.pages.conftest import Reads, tamper
from tests.cast import POLICY, Cast, ask, refund, say

pytestmark = pytest.mark.usefixtures("heard")
PAGE = "/w/northwind/batch"


def rule(cast: Cast, *more: str) -> None:
    """Refunds up to a thousand, of medium risk, may be answered together."""
    said = "\n    ".join(["deadline: 1h", "risk: medium", "batch: true", *more])
    text = POLICY.replace("deadline: 1h", said, 1)
    policies.load(cast.northwind, text, by=cast.omar.public_id, author=cast.omar)


@pytest.fixture
def pair(cast: Cast) -> list[Approval]:
    rule(cast)
    return [ask(cast, refund(11_100)), ask(cast, refund(22_200))]


def shown(client: Any, *asked: Approval) -> dict[str, list[str]]:
    """What the list before says: the values of the form, and the reasons of what is left out."""
    context = client.get(PAGE, {"pick": [one.public_id for one in asked]}).context
    return {"row": [one.value for one in context["taken"]], "left": [one.left_out for one in context["left"]]}


def results(answer: Any) -> list[tuple[str, str]]:
    return [(one.result, one.refused) for one in answer.context["done"]]


def test_the_list_before_decides_nothing_and_shows_every_argument(
    cast: Cast, reads: Reads, pair: list[Approval]
) -> None:
    """WB-2: a GET decides nothing, whatever it names."""
    answer = reads(cast.dana).get(PAGE, {"pick": [one.public_id for one in pair], "verdict": "approve"})
    html = answer.content.decode()
    assert all(words in html for words in ("€111.00", "€222.00", "ch_3PqT2eLk9fZ", "Approve 2", "Reject 2"))
    assert set(Approval.objects.values_list("status", flat=True)) == {"pending"}


def test_each_is_answered_by_itself_and_recorded_so(cast: Cast, reads: Reads, pair: list[Approval]) -> None:
    client = reads(cast.dana)
    answer = client.post(PAGE, {"row": shown(client, *pair)["row"], "verdict": "approve"})
    assert results(answer) == [("Approved", "")] * 2
    for one in pair:
        kinds = [each["kind"] for each in entries.read(cast.northwind.pk, one.chain)]
        assert kinds[-2:] == ["decision.made", "approval.approved"]


def test_a_rejection_wants_one_reason_which_all_are_told(cast: Cast, reads: Reads, pair: list[Approval]) -> None:
    client = reads(cast.dana)
    sent = {"row": shown(client, *pair)["row"], "verdict": "reject"}
    refused = client.post(PAGE, sent | {"comment": " "})
    assert refused.status_code == 422 and "Say why" in refused.content.decode()
    assert results(client.post(PAGE, sent | {"comment": "Not today."})) == [("Rejected", "")] * 2


def test_what_was_edited_or_settled_meanwhile_is_not_touched(cast: Cast, reads: Reads, pair: list[Approval]) -> None:
    """AP-D1: a yes is for the bytes that were shown."""
    client, third = reads(cast.dana), ask(cast, refund(33_300))
    sent = {"row": shown(client, *pair, third)["row"], "verdict": "approve"}
    Approval.objects.filter(pk=pair[0].pk).update(revision=1)
    say(pair[1], cast.priya, "reject", message="No.")
    forged = sent["row"][2].replace("~1~", "~2~")
    answer = results(client.post(PAGE, sent | {"row": [*sent["row"][:2], forged]}))
    assert [bool(result) for result, _ in answer] == [True, False, False]
    assert "Priya Nair rejected it" in answer[1][1] and "no such revision" in answer[2][1]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("", "lets it be answered by itself alone"),
        ("risk: medium\n    batch: false", "by itself alone"),
        ("risk: medium\n    require_message_on: [approve]", "by itself alone"),
    ],
)
def test_without_the_word_in_the_policy_none_is_taken(cast: Cast, reads: Reads, more: str, told: str) -> None:
    """By default, everything is answered on its own page."""
    text = POLICY.replace("deadline: 1h", f"deadline: 1h\n    {more or 'risk: low'}", 1)
    policies.load(cast.northwind, text, by=cast.omar.public_id, author=cast.omar)
    approval = ask(cast, refund())
    assert told in shown(reads(cast.dana), approval)["left"][0]


def test_what_wants_more_than_a_glance_is_left_out_with_the_reason(
    cast: Cast, reads: Reads, pair: list[Approval]
) -> None:
    """High risk, too long, another's, over, spoilt: each says why, and none of it can be sent all the same."""
    grave, long, own = ask(cast, refund(142_000)), ask(cast, refund(note="x " * 240)), ask(cast, refund())
    late, bad = ask(cast, refund()), ask(cast, refund())
    Approval.objects.filter(pk=late.pk).update(expires_at=rows.now() - timedelta(seconds=1))
    monkey = ask(cast, refund(), requester=cast.dana)
    tamper(bad)
    client = reads(cast.dana)
    batch.LENGTH_MOST, before = 300, batch.LENGTH_MOST  # type: ignore[misc]
    try:
        told = shown(client, grave, long, monkey, late, bad, own)
    finally:
        batch.LENGTH_MOST = before  # type: ignore[misc]
    assert len(told["row"]) == 1 and own.public_id in told["row"][0]
    words = ("The risk is high", "too long", "on your behalf", "deadline is over", "")
    assert all(word in reason for word, reason in zip(words, told["left"], strict=True))
    sent = [f"{grave.public_id}~1~{grave.revisions.get().digest}"]
    assert results(client.post(PAGE, {"row": sent, "verdict": "approve", "sure": "yes"}))[0][0] == ""
    assert Approval.objects.get(pk=grave.pk).status == "pending"


@pytest.mark.parametrize(
    "more", ["risk: high", "risk: low\n    assurance: fresh", "risk: low\n    require_message_on: [approve]"]
)
def test_a_rule_cannot_say_it_of_what_is_answered_by_itself(cast: Cast, more: str) -> None:
    text = POLICY.replace("deadline: 1h", f"deadline: 1h\n    batch: true\n    {more}", 1)
    with pytest.raises(PolicyFault, match="by itself") as fault:
        policies.load(cast.northwind, text, by=cast.omar.public_id, author=cast.omar)
    assert fault.value.pointer == "/rules/1/batch"


def test_sent_twice_it_is_answered_once(cast: Cast, reads: Reads, pair: list[Approval]) -> None:
    client = reads(cast.dana)
    sent = {"row": shown(client, *pair)["row"], "verdict": "approve"}
    client.post(PAGE, sent)
    assert results(client.post(PAGE, sent)) == [("Approved by you before", "")] * 2


def test_foreign_unknown_and_senseless_rows_are_as_if_they_were_not(
    cast: Cast, reads: Reads, pair: list[Approval]
) -> None:
    client, unknown = reads(cast.dana), rows.public_id("apr", rows.uuid7())
    html = client.get(PAGE, {"pick": [unknown, "x", "apr_0"]}).content.decode()
    assert "None of these" in html and unknown not in html
    assert results(client.post(PAGE, {"row": [unknown, "~~", pair[0].public_id], "verdict": "approve"}))[0][0] == ""
    assert client.post(PAGE, {"row": [], "verdict": "override"}).status_code == 422
    assert reads(cast.oskar).get(PAGE, {"pick": pair[0].public_id}).status_code == 404
    assert client.get(PAGE).status_code == 302


def test_more_than_twenty_wait_and_twenty_cost_what_two_do(cast: Cast, reads: Reads, pair: list[Approval]) -> None:
    client, costs = reads(cast.dana), list[int]()
    many = [*pair, *(ask(cast, refund(10_000 + number)) for number in range(20))]
    for asked in (many[:2], many):
        client.get(PAGE, {"pick": [one.public_id for one in asked]})
        with CaptureQueriesContext(connection) as queries:
            html = client.get(PAGE, {"pick": [one.public_id for one in asked]}).content.decode()
        costs.append(len(queries))
    assert costs[0] == costs[1]
    assert "2 more were selected" in html and "Approve 20" in html


def test_only_what_may_be_answered_together_has_a_box(cast: Cast, reads: Reads, pair: list[Approval]) -> None:
    grave = ask(cast, refund(142_000))
    html = reads(cast.dana).get("/w/northwind/").content.decode()
    assert [f'name="pick" value="{one.public_id}"' in html for one in (*pair, grave)] == [True, True, False]
    assert 'name="pick"' not in reads(cast.riley).get("/w/northwind/?tab=others").content.decode()
