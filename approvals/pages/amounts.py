"""Amounts of a budget's units in words."""

from __future__ import annotations

from approvals.edits import money
from approvals.pages import clock


def amount(unit: str, count: int, currency: str = "") -> str:
    """So much of a unit of a budget, as people read it; money in minor units of its currency."""
    if unit == "money":
        return money.readable(count, currency) or f"{count:,}"
    return clock.span(count) if unit == "seconds" else f"{count:,}"
