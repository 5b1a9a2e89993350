"""Amounts: read as people read them, written so that no cent is in doubt, kept in minor units."""

from __future__ import annotations

import pytest

from approvals.edits import money


@pytest.mark.parametrize(
    ("minor", "code", "shown"),
    [
        (124000, "eur", "€1,240.00"),
        (5, "USD", "$0.05"),
        (-1250, "EUR", "−€12.50"),
        (1240, "JPY", "¥1,240"),
        (1240, "KWD", "KWD 1.240"),
        (100, "CHF", "CHF 1.00"),
    ],
)
def test_minor_units_are_read_with_their_places(minor: int, code: str, shown: str) -> None:
    """AP-X9: the amount of a currency, with as many places as it has."""
    assert money.readable(minor, code) == shown


@pytest.mark.parametrize(("minor", "code"), [(12.5, "EUR"), (True, "EUR"), ("12", "EUR"), (12, "euro"), (12, None)])
def test_what_is_no_amount_is_not_dressed_up(minor: object, code: object) -> None:
    """AP-X2: the literal is shown instead."""
    assert money.readable(minor, code) is None


@pytest.mark.parametrize("minor", [0, 5, 99, 100, 124000, -1250, 123456789])
@pytest.mark.parametrize("code", ["EUR", "JPY", "KWD"])
def test_figures_read_back_to_the_same_amount(minor: int, code: str) -> None:
    """JS-8: what the form shows is what it takes."""
    assert money.minor(money.figures(minor, code), code) == minor


@pytest.mark.parametrize(
    "text", ["1240", "124000", "1240.0", "1240.000", "1.240,00", "1,24.00", "€5.00", " 5.00", "+5.00", "5.٠٠", ""]
)
def test_a_doubtful_amount_is_refused(text: str) -> None:
    """JS-8 IN-E39 IN-E40: without its cents it might be meant in cents."""
    assert money.minor(text, "EUR") is None


def test_a_summary_names_its_money() -> None:
    """AP-X9: by pointer, each with its currency or the pointer of that."""
    summary = "Refund {/amount|money}, {/fee/value|money:/code} and {/tip|money:EUR} to {/customer}"
    assert money.hints(summary) == {"/amount": "/currency", "/fee/value": "/code", "/tip": "EUR"}
