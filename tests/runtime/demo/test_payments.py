"""The payments service keeps the contract that the tests of Placet itself lean on: it must not forgive or forget."""

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from runtime.demo import payments as service
from runtime.demo import shop
from tests.runtime.demo.process import Payments

REFUND = {"charge": "ch_88213", "amount": 31000, "currency": "EUR", "customer": "Brightwater Interiors"}


def test_same_key_and_body_has_one_effect_and_one_answer(payments: Payments) -> None:
    """AP-D3, AP-D16: the second sending of an approved call repeats the answer, not the refund."""
    first = payments.call("payments.create_refund", REFUND, key="k1")
    again = payments.call("payments.create_refund", REFUND, key="k1")
    assert first.status_code == again.status_code == 200
    assert first.json() == again.json()
    assert again.headers["Idempotent-Replayed"] == "true"
    counts = payments.counts()
    assert (counts["calls"], counts["refunds"], counts["refunded"]) == (2, 1, 31000)
    assert counts["by_key"]["k1"] == {"tool": "payments.create_refund", "calls": 2, "refunds": 1, "amount": 31000}


def test_same_key_with_another_body_is_a_conflict(payments: Payments) -> None:
    """AP-A5: a key never answers for another request, and another tool is another request."""
    payments.call("payments.create_refund", {**REFUND, "amount": 100}, key="k1")
    other = payments.call("payments.create_refund", {**REFUND, "amount": 200}, key="k1")
    assert (other.status_code, other.json()["error"]["code"]) == (409, "key_reused")
    assert payments.call("payments.get_charge", {**REFUND, "amount": 100}, key="k1").status_code == 409
    assert payments.counts()["refunded"] == 100


def test_fifty_callers_with_one_key_make_one_refund(payments: Payments) -> None:
    """AP-D1: simultaneous sendings meet at the effect, and each gets the same answer."""
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: payments.call("payments.create_refund", REFUND, key="k1"), range(50)))
    assert {answer.text for answer in answers} == {answers[0].text}
    assert (payments.counts()["calls"], payments.counts()["refunds"]) == (50, 1)


def test_a_call_without_a_key_is_done_each_time(payments: Payments) -> None:
    """The count would show a duplicate if Placet ever made one."""
    for _ in range(2):
        payments.call("payments.create_refund", {**REFUND, "amount": 100})
    assert payments.counts()["refunds"] == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"webhook_signature": "v1,AAAA"},
        {"webhook_signature": ""},
        {"webhook_id": "msg_other"},
        {"webhook_timestamp": "1"},
        {"webhook_timestamp": "99999999999999999999"},
        {"webhook_timestamp": "\u00b2"},
    ],
)
def test_an_unsigned_call_is_counted_and_refused(payments: Payments, changes: dict[str, str]) -> None:
    """SC-5: id, time and body are all under the signature."""
    answer = payments.call("payments.create_refund", REFUND, key="k1", **changes)
    assert answer.status_code == 401
    assert (payments.counts()["calls"], payments.counts()["refunds"]) == (1, 0)


def test_a_second_signature_in_the_header_may_be_the_right_one(payments: Payments) -> None:
    """Standard Webhooks: a list of signatures, so that secrets can be rotated."""
    sent = payments.call("payments.get_charge", {"charge": "ch_88213"}).request
    sent.headers["webhook-signature"] = "v1,AAAA " + sent.headers["webhook-signature"]
    assert payments.client.send(sent).status_code == 200


def test_half_a_request_is_no_call(payments: Payments) -> None:
    """A worker killed between head and body has called nothing: the books never show bytes that nobody allowed."""
    with socket.create_connection(("127.0.0.1", payments.service.port), timeout=10) as caller:
        caller.sendall(b'POST /tools/payments.create_refund HTTP/1.1\r\nHost: x\r\nContent-Length: 90\r\n\r\n{"amo')
        caller.shutdown(socket.SHUT_WR)
        assert caller.recv(1000) == b""
    assert payments.counts()["calls"] == 0


def test_the_effect_outlives_a_kill_and_the_key_still_answers(payments: Payments) -> None:
    """AP-D3, AP-U1: kill -9 after the effect; the same key is answered from the books."""
    first = payments.call("payments.create_refund", REFUND, key="k1")
    payments.kill()
    payments.start()
    assert payments.call("payments.create_refund", REFUND, key="k1").json() == first.json()
    assert (payments.counts()["calls"], payments.counts()["refunds"]) == (2, 1)


def test_a_dropped_answer_leaves_the_effect(payments: Payments) -> None:
    """The case that Placet must call unknown or settle by its key: done, and nobody was told."""
    payments.knobs(drop_after=1)
    with pytest.raises(httpx.RemoteProtocolError):
        payments.call("payments.create_refund", REFUND, key="k1")
    assert payments.counts()["refunds"] == 1
    assert payments.call("payments.create_refund", REFUND, key="k1").headers["Idempotent-Replayed"] == "true"


def test_a_failure_before_the_effect_can_be_tried_again(payments: Payments) -> None:
    payments.knobs(fail_before=1)
    assert payments.call("payments.create_refund", REFUND, key="k1").status_code == 503
    assert payments.call("payments.create_refund", REFUND, key="k1").status_code == 200


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"amount": 31001}, 422, "amount_too_large"),
        ({"amount": 0}, 422, "bad_amount"),
        ({"amount": True}, 422, "bad_amount"),
        ({"amount": 1.5}, 422, "bad_amount"),
        ({"currency": "SEK"}, 422, "other_currency"),
        ({"charge": "ch_none"}, 404, "no_such_charge"),
        ({"charge": None}, 404, "no_such_charge"),
    ],
)
def test_a_refund_that_makes_no_sense_is_refused(
    payments: Payments, changes: dict[str, object], status: int, code: str
) -> None:
    answer = payments.call("payments.create_refund", {**REFUND, **changes}, key="k1")
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert payments.counts()["refunds"] == 0


def test_two_keys_cannot_refund_more_than_was_paid(payments: Payments) -> None:
    assert payments.call("payments.create_refund", REFUND, key="k1").status_code == 200
    assert payments.call("payments.create_refund", REFUND, key="k2").status_code == 422
    charge = payments.call("payments.get_charge", {"charge": "ch_88213"}).json()
    assert (charge["amount"], charge["refunded"]) == (31000, 31000)


def test_a_ticket_added_while_it_runs_can_be_refunded(payments: Payments, tmp_path: Path) -> None:
    """`manage.py demo ticket` needs no restart of the service."""
    made = shop.add(tmp_path / "demo", shop.ticket(tmp_path / "demo", "T-4471"), amount=99000)
    args = {"charge": made["charge"]["id"], "amount": 99000, "currency": "EUR"}
    assert payments.call("payments.create_refund", args, key="k1").status_code == 200


def test_the_knobs_are_not_there_by_default(tmp_path: Path) -> None:
    with service.Service(0, b"s" * 32, tmp_path) as plain:
        assert plain.with_knobs is False


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_!!", "whsec_YQ==", "c2VjcmV0"])
def test_a_weak_secret_does_not_start(secret: str) -> None:
    """An empty secret would let everyone sign."""
    with pytest.raises(ValueError, match="signing secret"):
        service.secret_bytes(secret)
