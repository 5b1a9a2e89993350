"""What stands above the rules, written by a form."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from approvals import policies, policy_source
from approvals.pages.policy import top_form
from approvals.policies import read_document
from tests.approvals.pages.conftest import reads as reads
from tests.approvals.pages.policy.test_draft import begun, omar, the_draft, write
from tests.cast import POLICY, Cast

omar = omar
HEAD = """
masks: {payments.create_payout: [/iban, /beneficiary/birth_date]}
limits: {open_per_agent: 50}
freezes:
  nights: {days: [mon, tue], from: "22:00", to: "06:00", zone: Europe/Berlin}
  year-end: {from: "2026-12-20T18:00:00+01:00", until: "2027-01-04T06:00:00+01:00"}
shadow: {until: "2099-01-01T00:00:00Z"}
"""
FLOORS = "\nat_least: {high: {people: 2, require_message_on: [approve]}, low: {assurance: session}}\nrules: []\n"


@pytest.mark.parametrize("text", [POLICY + HEAD, POLICY, "policy: 1" + FLOORS])
def test_a_form_sent_as_it_is_says_what_the_document_said(text: str) -> None:
    whole = read_document(text)
    source = policy_source.source(whole)
    assert read_document(policy_source.text(top_form.put(source, top_form.typed(source)))) == whole


def test_masks_limits_freezes_and_the_shadow_need_no_json(cast: Cast, omar: Client) -> None:
    policies.load(cast.northwind, POLICY + HEAD, by="system")
    at = begun(omar)
    sent = top_form.typed(policy_source.source(read_document(the_draft().text)))
    sent |= {"masks": "payments.create_refund /charge", "yeses_per_minute": "10", "shadow": "", "freezes": ""}
    answer = omar.post(f"{at}/above", {"number": 1, **sent}, follow=True)
    assert "Saved." in answer.content.decode()
    now = read_document(the_draft().text)
    assert now["masks"] == {"payments.create_refund": ["/charge"]} and "shadow" not in now and "freezes" not in now
    assert now["limits"] == {"open_per_agent": 50, "yeses_per_minute": 10}
    assert now["rules"] == read_document(POLICY)["rules"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"masks": "payments.create_refund"}, "say a tool once"),
        ({"masks": "t iban"}, "/masks/t/0"),
        ({"freezes": "nights at night"}, "write “nights"),
        ({"freezes": "nights mon 22:00-06:00 Mars/Base"}, "IANA"),
        ({"open_per_agent": "many"}, "A whole number."),
        ({"shadow": "tomorrow"}, "a moment with its offset"),
        ({"high-people": "2", "shadow": "2099-01-01T00:00:00Z"}, "a shadow asks nobody"),
    ],
)
def test_a_mistake_is_told_and_nothing_is_lost(cast: Cast, omar: Client, wrong: dict[str, Any], told: str) -> None:
    at = begun(omar)
    answer = omar.post(f"{at}/above", {"number": 1, "low-people": "1", **wrong})
    html = answer.content.decode().replace("&#x27;", "'")
    assert answer.status_code == 422 and told in html and all(value in html for value in wrong.values())
    assert the_draft().number == 1


def test_what_the_form_cannot_say_is_changed_in_the_text(cast: Cast, omar: Client) -> None:
    at = begun(omar)
    write(omar, at, POLICY + 'masks: {"a b": [/iban]}\n')
    assert omar.get(f"{at}/above")["Location"] == f"{at}/text"
