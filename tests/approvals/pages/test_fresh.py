"""A decision that needs a fresh sign-in: through "confirm it is you" and back, with nothing lost and nothing done."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from approvals import policies
from approvals.approvals import Approval
from tests.approvals.pages.conftest import at, form_of
from tests.approvals.test_signin import old, sign_in
from tests.cast import PASSWORD, POLICY, Cast, ask, refund

pytestmark = pytest.mark.usefixtures("heard")


@pytest.fixture
def asked(cast: Cast) -> Approval:
    policies.load(
        cast.northwind,
        POLICY.replace("editable: [/amount, /note]", "editable: [/amount, /note]\n    assurance: fresh"),
        by="system",
        author=cast.omar,
    )
    return ask(cast, refund())


def test_an_old_session_decides_nothing_and_is_led_to_confirm(asked: Approval, cast: Cast) -> None:
    """WB-6, IN-M14: judged when the form arrives; the page itself was shown to a fresh session."""
    client, _ = sign_in(cast.dana)
    assert client.get(at(asked)).status_code == 200
    form = form_of(asked, verdict="approve", comment="Seen the photos,\r\nand the invoice.")
    old(client)
    answer = client.post(at(asked, "/decision"), form)
    assert unquote(answer["Location"]) == f"/accounts/confirm/?next={at(asked)}"
    assert not asked.decisions.exists()
    answer = client.post("/accounts/confirm/", {"password": PASSWORD, "next": at(asked)}, follow=True)
    html = answer.content.decode()
    assert "Seen the photos,\nand the invoice." in html and "nothing is decided yet" in html
    assert not asked.decisions.exists()


def test_the_second_press_decides_and_says_how_sure_it_was(asked: Approval, cast: Cast) -> None:
    client, _ = sign_in(cast.dana)
    form = form_of(asked, verdict="approve", comment="Seen.")
    old(client)
    client.post(at(asked, "/decision"), form)
    client.post("/accounts/confirm/", {"password": PASSWORD, "next": at(asked)})
    client.post(at(asked, "/decision"), form)
    decision = asked.decisions.get()
    assert (decision.assurance, decision.methods) == ("fresh", "password")
    assert "draft" not in client.session


def test_confirming_for_one_decision_does_not_outlast_five_minutes(asked: Approval, cast: Cast) -> None:
    """CH-B119: a confirmation is not a property of the whole session."""
    client, _ = sign_in(cast.dana)
    old(client)
    client.post("/accounts/confirm/", {"password": PASSWORD})
    old(client)
    client.post(at(asked, "/decision"), form_of(asked, verdict="approve"))
    assert not asked.decisions.exists()


def test_an_edit_stays_on_its_page_while_one_confirms(asked: Approval, cast: Cast) -> None:
    client, _ = sign_in(cast.dana)
    old(client)
    body = '{"charge": "ch_3PqT2eLk9fZ", "amount": 41000, "currency": "eur"}'
    fields = form_of(asked, mode="json", text=body, do="save", message="One less.")
    answer = client.post(at(asked, "/edit"), fields)
    html = answer.content.decode()
    assert answer.status_code == 422 and "41000" in html and "One less." in html
    assert "Confirm in a new tab" in html and not asked.decisions.exists()
