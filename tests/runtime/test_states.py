"""The page of states and the tables in the code are one: the lifecycle test."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from approvals.approvals import Approval
from approvals.rows import Row
from runtime import calls, leases, runs
from runtime.breakpoints import Breakpoint
from runtime.calls import Call
from runtime.runs import Run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "states.md"
MODELS = {"Run": Run, "Call": Call, "Approval": Approval, "Breakpoint": Breakpoint}


def listed(name: str) -> list[tuple[str, str, str]]:
    """The rows of one table of the page."""
    section = PAGE.read_text("utf-8").partition(f"## {name}\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| (\w+) \| (\w+) \| (.+) \|$", section, re.MULTILINE)
    return [(source, target, why) for source, target, why in lines if source != "from"]


@pytest.mark.parametrize("name", MODELS)
def test_the_page_lists_exactly_the_moves_of_the_code(name: str) -> None:
    page = [(source, target) for source, target, _ in listed(name)]
    code = {(source, target) for source, targets in MODELS[name].MOVES.items() for target in targets}
    assert set(page) == code and len(page) == len(code)


@pytest.mark.parametrize("model", MODELS.values())
def test_every_status_can_be_reached_and_every_move_leads_to_a_status(model: type[Row]) -> None:
    column: Any = model._meta.get_field(model.STATE)
    statuses = {value for value, _ in column.choices}
    targets = {target for moves in model.MOVES.values() for target in moves}
    first = str(column.default)
    assert targets | {first} == statuses and set(model.MOVES) <= statuses


def test_groups_of_states_are_named_once_and_cover_all() -> None:
    ends = {status for status in Call.Status.values if status not in Call.MOVES}
    assert ends == calls.FINAL and set(Call.Status.values) == calls.OPEN | calls.FINAL
    assert {status for status in Run.Status.values if status not in Run.MOVES} == runs.FINAL
    assert runs.OPEN | runs.FINAL | {"failed", "parked"} == set(Run.Status.values) and runs.WAITING < runs.OPEN


def test_what_raw_sql_moves_is_listed_too() -> None:
    """The four statements that do not go through `rows.move`."""
    assert "'in_progress'" in leases.CLAIM and "in_progress" in Run.MOVES["ready"]
    for target in re.findall(r"(?:THEN|ELSE) '(\w+)'", leases.SUSPEND):
        assert target in Run.MOVES["in_progress"]
    for source in re.findall(r"'(suspended_approval|sleeping|parked)'", calls._POKE):
        assert "ready" in Run.MOVES[source]
    assert "status = 'sleeping'" in leases.SLEEP and "sleeping" in Run.MOVES["in_progress"]
