"""`prove musts`: which tests an id stands for, and when a rule that is called built is not."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tests.campaigns import musts
from tests.run import BASE

PAGE = """\
| Id | What holds | State |
|---|---|---|
| XX-1 | It passes. | built: `tests/test_some.py` |
| XX-2 | One of its cases fails. | built: `tests/test_some.py` |
| XX-3 | Nobody tests it. | built: `tests/test_some.py` |
| XX-4 | It is not claimed. | not yet |
| XX-5 | Its test is skipped. | built: `tests/test_some.py` |
| XX-6 | Its file is gone. | built: `tests/test_gone.py` |
| XX-7 | It stands in a table. | built: `tests/test_some.py` |
| XX-8 | Every test of its file has to pass. | built: `tests/test_whole.py` |
"""
TESTS = '''\
from unittest import SkipTest

import pytest

TABLE = [("XX-7", 1), ("XX-7", 2)]


def test_one():
    """XX-1: it does."""


@pytest.mark.parametrize("value", [1, 2])
def test_two(value):
    """XX-2"""
    assert value == 1


def test_four():
    """XX-4 is nothing that the page claims."""
    raise AssertionError


def test_five():
    """XX-5"""
    raise SkipTest("never")


@pytest.mark.parametrize(("must", "value"), TABLE)
def test_seven(must, value):
    assert value
'''
WHOLE = '"""XX-8"""\n\n\ndef test_here():\n    pass\n\n\ndef test_there():\n    pass\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "docs" / "musts.md").write_text(PAGE)
    (tmp_path / "tests" / "test_some.py").write_text(TESTS)
    (tmp_path / "tests" / "test_whole.py").write_text(WHOLE)
    return tmp_path


def test_a_built_rule_without_a_passing_test_is_listed(folder: Path) -> None:
    """A case that fails, a test that is skipped, a file that is gone: none of them proves anything."""
    ok, figures = musts.prove(folder)
    assert (ok, figures) == (
        False,
        {"lines": 7, "with_test": 3, "without_test": ["XX-2", "XX-3", "XX-5", "XX-6"]},
    )


def test_all_is_well_where_each_has_one(folder: Path) -> None:
    lines = [line for line in PAGE.splitlines() if line[2:6] not in {"XX-2", "XX-3", "XX-5", "XX-6"}]
    (folder / "docs" / "musts.md").write_text("\n".join(lines))
    assert musts.prove(folder) == (True, {"lines": 3, "with_test": 3, "without_test": []})


def test_what_stands_beside_the_tests_counts_for_all_of_them(folder: Path) -> None:
    assert musts.claims(folder)["XX-8"] == {"tests/test_whole.py"}
    assert musts.claims(folder)["XX-7"] == {"tests/test_some.py::test_seven"}
    (folder / "tests" / "test_whole.py").write_text(dedent(WHOLE) + "\n\ndef test_bad():\n    raise AssertionError\n")
    assert "XX-8" in musts.prove(folder)[1]["without_test"]


def test_every_rule_of_ours_that_is_built_has_a_test_to_run() -> None:
    claimed = musts.claims(BASE)
    assert len(claimed) > 90
    assert [must for must, tests in claimed.items() if not tests] == []
