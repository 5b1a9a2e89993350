"""The pages of standing grants: asked for from a call that was seen, read in plain words, and ended."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from approvals import policies
from approvals.approvals import Approval
from approvals.grants import Grant
from tests import cast as casting
from tests.approvals.pages.conftest import at
from tests.approvals.pages.test_person import words
from tests.approvals.test_grants import PATTERN, POLICY, give, hold
from tests.cast import Cast, refund
from tests.confirmed import confirmed

pytestmark = pytest.mark.usefixtures("heard")
GRANTS = "/w/northwind/grants"


@pytest.fixture(autouse=True)
def _policy(cast: Cast) -> None:
    policies.load(cast.northwind, POLICY, by="system")


@pytest.fixture
def dana(cast: Cast) -> Client:
    return confirmed(cast.dana)


def page_of(grant: Grant) -> str:
    return f"{GRANTS}/{grant.public_id}"


def form(**more: Any) -> dict[str, Any]:
    return {"lasts": "3600", "uses": "2", "sum": "90000", "which": "exactly", "pattern": ""} | more


def test_the_list_and_the_page_tell_a_grant_in_words_with_its_use(dana: Client, cast: Cast) -> None:
    """AZ-15: time-boxed, listed with what is used."""
    grant = give(cast)
    used = hold(cast)[0]
    assert "refund-desk used 1 of 3" in words(dana.get(GRANTS)) and "In force" in words(dana.get(GRANTS))
    page = words(dana.get(page_of(grant)))
    assert "may use payments.create_refund without asking" in page and "30000 of 100000 spent" in page
    assert "Exactly the arguments of the call that was seen" in page and "100,000 at most, of /amount" in page
    assert used.subject[:9] in page and "exactly" not in page and "Z " not in page


def test_the_page_of_a_call_leads_to_asking_and_asking_to_the_vote(dana: Client, cast: Cast) -> None:
    """Whoever asks says yes where everybody does: nothing is given by the form alone."""
    seen = casting.ask(cast, refund(30_000))
    assert at(seen, "/standing") in dana.get(at(seen)).content.decode()
    assert "for 1 hour" not in words(dana.get(at(seen, "/standing"))) and "3 at most" in words(
        dana.get(at(seen, "/standing"))
    )
    answer = dana.post(at(seen, "/standing"), form())
    asked = Approval.objects.get(kind="grant")
    assert answer["Location"] == at(asked) and asked.status == "pending"
    page = words(dana.get(at(asked)))
    assert "2 times at most" in page and "90,000 at most, of /amount" in page and "Instead of asking under rule" in page


def test_a_pattern_is_asked_for_and_shown(dana: Client, cast: Cast) -> None:
    seen = casting.ask(cast, refund(30_000))
    dana.post(at(seen, "/standing"), form(which="pattern", pattern=json.dumps(PATTERN)))
    page = words(dana.get(at(Approval.objects.get(kind="grant"))))
    assert "Those whose arguments fit a pattern" in page and "currency" in page


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"uses": "many"}, "A whole number."),
        ({"uses": "9"}, "allows 3 calls within 3600 seconds at most."),
        ({"which": "pattern", "pattern": "{"}, "JSON"),
        ({"which": "pattern", "pattern": "[]"}, "A JSON Schema is an object."),
        ({"which": "pattern", "pattern": '{"required": ["ghost"]}'}, "The pattern does not fit the call"),
    ],
)
def test_what_is_beyond_the_rule_is_refused_and_what_was_typed_stays(
    more: dict[str, str], said: str, dana: Client, cast: Cast
) -> None:
    seen = casting.ask(cast, refund(30_000))
    answer = dana.post(at(seen, "/standing"), form(**more))
    assert answer.status_code == 422 and said in words(answer) and 'value="90000"' in answer.content.decode()
    assert not Grant.objects.exists()


def test_who_may_not_decide_asks_for_none_and_ends_none(dana: Client, cast: Cast) -> None:
    """AZ-1."""
    riley, seen = confirmed(cast.riley), casting.ask(cast, refund(30_000))
    assert "Only who may decide under rule refunds" in words(riley.post(at(seen, "/standing"), form()))
    grant = give(cast)
    assert "Ended by those who decide such calls" in words(riley.get(page_of(grant)))
    assert riley.post(f"{page_of(grant)}/end").status_code == 403
    assert dana.post(f"{page_of(grant)}/end")["Location"] == page_of(grant)
    assert "It was ended early." in words(dana.get(page_of(grant))) and hold(cast)[1].verdict == "require_approval"


def test_a_call_that_no_rule_lets_people_allow_beforehand_has_no_such_page(dana: Client, cast: Cast) -> None:
    seen = casting.ask(cast, refund(200_000))
    assert dana.get(at(seen, "/standing")).status_code == 404 and "Ask for one" not in words(dana.get(at(seen)))
