"""Freezes: windows that are dated or come back every week, by the clock of a zone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from approvals.policy_freezes import frozen_until
from tests.approvals.test_policy_words import RULE, fault, read

NIGHTS = {"days": ["mon", "tue", "wed", "thu", "fri"], "from": "22:00", "to": "06:00", "zone": "Europe/Berlin"}
WEEKEND = {"days": ["sat", "sun"], "from": "00:00", "to": "23:59", "zone": "UTC"}
YEAR_END = {"from": "2026-12-20T18:00:00+01:00", "until": "2027-01-04T06:00:00Z"}


def until(now: str, *windows: Any) -> str:
    end = frozen_until(windows, datetime.fromisoformat(now).replace(tzinfo=UTC))
    return end.strftime("%Y-%m-%dT%H:%M") if end else ""


@pytest.mark.parametrize(
    ("now", "windows", "end"),
    [
        ("2026-12-20T16:59", [YEAR_END], ""),
        ("2026-12-20T17:00", [YEAR_END], "2027-01-04T06:00"),
        ("2027-01-04T06:00", [YEAR_END], ""),
        ("2026-11-30T20:59", [NIGHTS], ""),
        ("2026-11-30T21:00", [NIGHTS], "2026-12-01T05:00"),
        ("2026-12-05T04:59", [NIGHTS], "2026-12-05T05:00"),  # Saturday morning belongs to Friday's night
        ("2026-12-05T21:30", [NIGHTS], ""),
        ("2026-12-04T22:00", [NIGHTS, WEEKEND], "2026-12-05T23:59"),  # one after the other, without a gap
        ("2026-03-28T22:30", [{**NIGHTS, "days": ["sat"]}], "2026-03-29T04:00"),  # the clocks go forward in between
        ("2027-03-28T00:45", [{**NIGHTS, "days": ["sat"], "to": "02:30"}], "2027-03-28T01:00"),  # to an hour left out
        ("2027-03-28T01:00", [{**NIGHTS, "days": ["sun"], "from": "02:30", "to": "04:00"}], "2027-03-28T02:00"),
        ("2027-03-28T00:59", [{**NIGHTS, "days": ["sun"], "from": "02:30", "to": "04:00"}], ""),
        ("2026-10-24T21:00", [{**NIGHTS, "days": ["sat"]}], "2026-10-25T05:00"),  # and back
    ],
)
def test_a_window_holds_its_moments_and_no_other(now: str, windows: list[Any], end: str) -> None:
    assert until(now, *windows) == end


@pytest.mark.parametrize(
    ("window", "place", "rule"),
    [
        ({"from": "2026-12-20", "until": "2026-12-21"}, "/from", "instant"),
        ({"from": "2026-12-20T18:00:00", "until": YEAR_END["until"]}, "/from", "instant"),
        ({"from": "2026-13-20T18:00:00Z", "until": YEAR_END["until"]}, "/from", "instant"),
        ({"from": "0001-01-01T00:00:00+01:00", "until": YEAR_END["until"]}, "/from", "instant"),
        ({"from": YEAR_END["until"], "until": YEAR_END["from"]}, "/until", "window"),
        ({**NIGHTS, "zone": "Europe/Atlantis"}, "/zone", "zone"),
        ({**NIGHTS, "zone": "../../etc/passwd"}, "/zone", "zone"),
        ({**NIGHTS, "to": "22:00"}, "/to", "window"),
        ({**NIGHTS, "to": "24:00"}, "/to", "pattern"),
        ({**NIGHTS, "days": ["monday"]}, "/days/0", "enum"),
        ({**NIGHTS, "days": []}, "/days", "minItems"),
        ({"from": "22:00", "to": "06:00"}, "/until", "required"),
    ],
)
def test_a_window_that_is_none_is_refused_at_its_place(window: Any, place: str, rule: str) -> None:
    found = fault(freezes={"f": window})
    assert found.pointer.startswith("/freezes/f") and found.message
    assert (found.pointer, found.rule) == (f"/freezes/f{place}", rule) or rule in {
        "required",
        "pattern",
        "enum",
        "minItems",
    }


def test_a_rule_names_windows_of_its_document_and_keeps_them_whole() -> None:
    rules = read(RULE | {"freeze": ["nights"]}, freezes={"nights": NIGHTS, "year-end": YEAR_END})
    assert rules[0]["freeze"] == [{"name": "nights", **NIGHTS}]
    assert fault(RULE | {"freeze": ["days"]}, freezes={"nights": NIGHTS}).pointer == "/rules/0/freeze/0"
    assert fault(RULE | {"freeze": ["nights"]}).pointer == "/rules/0/freeze/0"


def test_a_call_that_is_allowed_outright_may_be_frozen_as_well() -> None:
    allow = {"id": "a", "match": {}, "verdict": "allow", "freeze": ["nights"]}
    assert read(allow, freezes={"nights": NIGHTS})[0]["freeze"][0]["name"] == "nights"
    assert fault(allow | {"verdict": "deny"}, freezes={"nights": NIGHTS}).pointer == "/rules/0/freeze"


def test_windows_that_leave_no_moment_are_refused() -> None:
    every = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    day = {"days": every, "from": "06:00", "to": "18:00", "zone": "UTC"}
    night = {"days": every, "from": "18:00", "to": "06:00", "zone": "UTC"}
    found = fault(RULE | {"freeze": ["day", "night"]}, freezes={"day": day, "night": night})
    assert found.pointer == "/rules/0/freeze" and "no moment" in found.message
