"""What is known of a matter beside what is asked: when a call was sent, under which key; what a budget has left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.utils.dateparse import parse_datetime

from approvals.pages.amounts import amount

if TYPE_CHECKING:
    from approvals.pages.told import Told


@dataclass(frozen=True)
class Fact:
    """One line: its name, a word beside that, and the value: a text, something literal, or a time."""

    name: str
    value: str = ""
    note: str = ""
    when: datetime | None = None
    literal: bool = False
    open: bool = False


@dataclass(frozen=True)
class Sending:
    """One sending whose outcome is asked about."""

    number: int
    sent: datetime | None
    note: str


def facts(asked: Told) -> list[Fact]:
    """All that is known; empty for most kinds."""
    return [*_of_sendings(asked), *_of_budget(asked.context.get("budget") or [])]


def sendings(asked: Told) -> list[Sending]:
    """The sendings that people are asked about, where they are."""
    told = asked.context.get("attempts") or [] if asked.settles else []
    return [Sending(each["attempt"], parse_datetime(each["sent"]), each["note"]) for each in told]


def _of_sendings(asked: Told) -> Iterator[Fact]:
    found = sendings(asked)
    for each in found:
        yield Fact(f"Attempt {each.number} left", when=each.sent)
        yield Fact("Its answer", "none recorded", note=each.note, open=True)
    if found:
        yield Fact("No sending can arrive any more since", when=asked.approval.created_at)
        yield Fact("Key sent along", str(asked.context.get("key", "")), "look for it there", literal=True)


def _of_budget(shares: list[dict[str, Any]]) -> Iterator[Fact]:
    for share in shares:
        unit = share["unit"]
        yield Fact(f"Cap on {unit}", amount(unit, share["cap"], share["currency"]))
        yield Fact("Used", amount(unit, share["used"], share["currency"]))
        if share["held"]:
            yield Fact("Held by calls under way", amount(unit, share["held"], share["currency"]))
        yield Fact("Wanted next", amount(unit, share["wanted"], share["currency"]), open=True)
