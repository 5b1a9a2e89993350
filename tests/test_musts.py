"""docs/musts.md and the tests say the same about what holds."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "musts.md"
GROUPS = ["SI", "SM", "DS", "ID", "RN", "OB", "IN", "EM", "WB", "AZ", "WA", "BD", "JS", "AU", "SC", "RL", "HF"]
ID = re.compile(rf"\b(?:{'|'.join(GROUPS)})-[0-9]+\b")
LINE = re.compile(r"^\| ([A-Z]{2}-[0-9]+) \| (.+\.) \| (.+) \|$", re.MULTILINE)


def page() -> list[tuple[str, str, str]]:
    """Id, rule and state of every line."""
    return LINE.findall(PAGE.read_text("utf-8"))


def named_in_tests() -> dict[str, set[str]]:
    """For every id the test files that name it, as the page writes them."""
    named: dict[str, set[str]] = defaultdict(set)
    for file in (ROOT / "tests").rglob("*.py"):
        for must in ID.findall(file.read_text("utf-8")):
            named[must].add(str(file.relative_to(ROOT)))
    return named


def test_every_id_has_one_line_and_none_is_left_out() -> None:
    ids = [must for must, _, _ in page()]
    assert len(ids) == len(set(ids))
    for group in GROUPS:
        numbers = [int(must.partition("-")[2]) for must in ids if must.startswith(f"{group}-")]
        assert numbers == list(range(1, len(numbers) + 1)), f"{group} has a gap"
    assert len(ids) == 208
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|")]
    assert len(rows) == len(ids) + 2 * len(GROUPS), "a row cannot be read"


def test_what_is_built_is_named_in_the_test_files_that_the_page_gives() -> None:
    named = named_in_tests()
    for must, _, state in page():
        if state != "not yet":
            files = re.findall(r"`([^`]+)`", state)
            assert state.startswith("built: ") and files, f"{must} has the state {state!r}"
            assert set(files) <= named[must], f"{must} is not named in {set(files) - named[must]}"


def test_what_a_test_names_is_built() -> None:
    states = {must: state for must, _, state in page()}
    missing = {
        must: sorted(files) for must, files in named_in_tests().items() if states.get(must, "not yet") == "not yet"
    }
    assert not missing
