"""Recorded tools of published servers, with calls, edits and invalid edits: a folder beside this repository.

It is what ``--cases DIR`` names, else PLACET_CASES, else ../shared/cases/mcp-tools. Without one the tests that go over
it have nothing to go over, and the summary of the tests says so.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

USUAL = Path(__file__).resolve().parent.parent.parent / "shared" / "cases" / "mcp-tools"


def folder(named: str | Path | None = None) -> Path | None:
    """The case folder, or None if there is none at the place that was named, or at the usual one."""
    place = Path(named or os.environ.get("PLACET_CASES") or USUAL)
    return place if (place / "calls.json").is_file() else None


def servers(place: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each server with its tools' definitions."""
    for file in sorted(place.glob("*.json")):
        if file.name != "calls.json":
            server = json.loads(file.read_text("utf-8"))
            yield server["server"], server["tools"]


def calls(place: Path) -> list[dict[str, Any]]:
    """The calls: server, tool, arguments, edit, invalid_edit, invalid_at, why."""
    found: list[dict[str, Any]] = json.loads((place / "calls.json").read_text("utf-8"))
    return found


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cases", metavar="DIR", help="a folder of recorded tools and calls")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if folder(config.getoption("--cases")) is None:
        terminalreporter.write_line("No case folder was found: recorded tools were not tested (--cases, PLACET_CASES).")


@pytest.fixture(scope="session")
def case_servers(request: pytest.FixtureRequest) -> list[tuple[str, list[dict[str, Any]]]]:
    """The servers of the case folder; none without one."""
    place = folder(request.config.getoption("--cases"))
    return list(servers(place)) if place else []


@pytest.fixture(scope="session")
def case_calls(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    """The calls of the case folder; none without one."""
    place = folder(request.config.getoption("--cases"))
    return calls(place) if place else []
