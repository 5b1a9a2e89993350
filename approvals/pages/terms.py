"""The terms of a standing grant in plain words, one line for each of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime

from approvals.grants import Terms
from approvals.ledger import canonical


@dataclass(frozen=True)
class Line:
    """One term: what it is called, what it says, and the moment in it, if it is one."""

    label: str
    text: str
    moment: datetime | None = None
    literal: bool = False


def lines(terms: Terms) -> list[Line]:
    """Everything that people say yes to."""
    exactly = "Exactly the arguments of the call that was seen"
    told = [
        Line("Agent", terms.agent),
        Line("Tool", terms.tool, literal=True),
        Line("Which calls", exactly if terms.pattern is None else "Those whose arguments fit a pattern"),
        Line("Until", terms.until, parse_datetime(terms.until)),
        Line("How often", "Once" if terms.uses == 1 else f"{terms.uses:,} times at most"),
    ]
    if terms.sum_of:
        told.append(Line("Together", f"{terms.sum_at_most:,} at most, of {terms.sum_of}"))
    return [*told, Line("Instead of asking under rule", terms.rule, literal=True)]


def pattern(terms: Terms) -> str:
    """The pattern as text to read; nothing where none is meant."""
    return json.dumps(dict(terms.pattern), indent=2, ensure_ascii=False) if terms.pattern is not None else ""


def of_args(args: Mapping[str, Any]) -> dict[str, Any]:
    """The lines and the pattern of terms as people vote on them; nothing where these are none."""
    try:
        terms = Terms.read(canonical.encode(dict(args)))
    except (TypeError, KeyError, ValueError):
        return {}
    return {"lines": lines(terms), "pattern": pattern(terms)}
