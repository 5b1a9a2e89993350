"""The words of an approval: titles that cannot lie, measures, the name of the button."""

from __future__ import annotations

from typing import Any

import pytest

from approvals.channels.card import Card, card, number, risk_reason, waiting_for

SUMMARY = "Refund {/amount|money:/currency} to {/customer}"
ARGS = {"amount": 124_000, "currency": "eur", "customer": "Acme GmbH"}


def made(summary: str = SUMMARY, args: Any = ARGS, **more: Any) -> Card:
    return card(summary, "payments.create_refund", "Create a refund", args, **more)


def test_a_summary_is_filled_from_the_arguments_of_the_revision() -> None:
    """AP-X9: the title names the recipient and the amount, and follows an edit."""
    assert made().title == "Refund €1,240.00 to Acme GmbH"
    assert made(args={**ARGS, "amount": 142_000}).title == "Refund €1,420.00 to Acme GmbH"


def test_approve_names_the_act_with_its_amount() -> None:
    assert made().approve == "Approve €1,240.00 refund"
    assert made("Pay {/amount|money} out").approve == "Approve €1,240.00"
    assert made("Close {/customer}").approve == "Approve “Create a refund”"
    assert card("", "x", "A title that is far too long to stand on a button", {}).approve == "Approve this call"


def test_the_measure_is_the_amount_or_how_many() -> None:
    assert (made().measure, made().measured) == ("€1,240.00", "payments")
    many = made("E-mail {/to|count} people", {"to": ["a", "b"]})
    assert (many.measure, many.measured) == ("2", "to")
    assert (made("Close it").measure, made("Close it").measured) == ("", "payments")
    capped = made("Raise the cap to {/tokens|count} and {/money|money:EUR}", {"tokens": 20_000, "money": 4000})
    assert capped.title == "Raise the cap to 20,000 and €40.00" and capped.measure == "€40.00"


@pytest.mark.parametrize(
    ("args", "title"),
    [
        ({"amount": 124_000, "customer": "A"}, "Refund 124000 to A"),
        ({"amount": "124000", "currency": "eur", "customer": "A"}, "Refund 124000 to A"),
        ({"amount": 5, "currency": "jpy", "customer": None}, "Refund ¥5 to null"),
        ({"amount": -500, "currency": "eur", "customer": ["x"]}, "Refund −€5.00 to 1 entry"),
        ({"currency": "eur", "customer": {"a": 1}}, "Refund (no amount) to an object of 1"),
    ],
)
def test_what_is_no_amount_is_shown_as_it_is(args: dict[str, Any], title: str) -> None:
    assert made(args=args).title == title


def test_only_an_amount_that_can_be_read_is_a_measure_and_on_the_button() -> None:
    plain = made(args={**ARGS, "amount": "124000"})
    assert plain.measure == "" and plain.approve == "Approve “Create a refund”" and not plain.moves_money


def test_a_title_shows_invisible_characters_and_says_what_it_cut() -> None:
    """RN-5, RN-7, AP-X5, AP-X6: a value cannot turn the sentence around or hide its end."""
    turned = made(args={**ARGS, "customer": "Acme\u202eHbmG\u200b"})
    assert turned.title == "Refund €1,240.00 to Acme\\u{202e}HbmG\\u{200b}"
    long = made(args={**ARGS, "customer": "x" * 100})
    assert long.title.endswith("x… (+20 characters)")


def test_a_value_is_never_read_as_a_template() -> None:
    assert made(args={**ARGS, "customer": "{/amount|money}"}).title == "Refund €1,240.00 to {/amount|money}"


def test_a_secret_is_in_no_title() -> None:
    assert made("Log in as {/user} with {/password}", {"user": "a", "password": "p"}, secret=["/password"]).title == (
        "Log in as a with ••••"
    )
    assert "p" not in made("", {"password": "p"}, secret=["/password"]).title.removeprefix("Create a refund: password")


def test_a_tool_without_a_summary_gets_its_title_and_first_arguments() -> None:
    assert made("", {"a": 1, "b": [1, 2], "c": 3}).title == "Create a refund: a 1, b 2 entries"
    assert made("", {}).title == "Create a refund"


def test_the_state_says_who_is_awaited() -> None:
    assert waiting_for([("Finance", 2)], 0) == "Waiting for two of Finance"
    assert waiting_for([("Finance", 1), ("Legal", 1)], 0) == "Waiting for one of Finance and one of Legal"
    assert waiting_for([("Finance", 2)], 1) == "Waiting for one more"
    assert (number(3), number(12)) == ("three", "12")


def test_the_risk_is_followed_by_its_reason() -> None:
    assert risk_reason("keyed", moves_money=True) == "moves money, cannot be undone here"
    assert risk_reason("pure", moves_money=False) == "only reads"
