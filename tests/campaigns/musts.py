"""`bin/prove musts`: every rule that docs/musts.md calls built, with the tests that name it, and whether they pass.

The tests are run as `bin/test` runs them, and nothing else is. An id in a table counts for the tests that take the
table; one that stands anywhere else outside of a test counts for every test of its file.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

from runtime.children import CannotStart
from tests.campaigns.stage import tell
from tests.programs import have_chromium, have_spin
from tests.run import BASE, WORKERS, compiled

LINE: Final = re.compile(r"^\| ([A-Z]{2}-[0-9]+) \| (.+\.) \| (.+) \|$", re.MULTILINE)
NOT_YET: Final = "not yet"
Outcomes = Mapping[str, bool]
"""For each test that ran, ``file::function``, whether it passed, with every parameter that it takes."""


def run(stage: None, options: argparse.Namespace) -> tuple[bool, dict[str, Any]]:
    """Run them; ok when each built rule has a test and all of its tests pass. Raises CannotStart."""
    if not all([have_chromium(), have_spin()]):
        raise CannotStart("Some of the tests cannot run without it.")
    with compiled():
        return prove(BASE, WORKERS)


def prove(root: Path, workers: int = 0) -> tuple[bool, dict[str, Any]]:
    """The same for any folder that has a docs/musts.md and tests, with so many processes (0: with this one alone)."""
    named = claims(root)
    outcomes = results(root, sorted({test for tests in named.values() for test in tests}), workers)
    proved = {must: bool(tests) and all(_passed(test, outcomes) for test in tests) for must, tests in named.items()}
    for must, tests in named.items():
        for test in sorted(tests) or ["no test"]:
            tell(f"{must:<6} {test} {'passed' if _passed(test, outcomes) else 'DID NOT PASS'}")
    without = [must for must, holds in proved.items() if not holds]
    return not without, {"lines": len(proved), "with_test": len(proved) - len(without), "without_test": without}


# What is claimed


def page(root: Path) -> list[tuple[str, str, str]]:
    """Id, rule and state of every line of the page."""
    return LINE.findall((root / "docs" / "musts.md").read_text("utf-8"))


def claims(root: Path) -> dict[str, set[str]]:
    """For every rule that the page calls built the tests that name it, in the files that the page gives."""
    files = {must: re.findall(r"`([^`]+)`", state) for must, _, state in page(root) if state != NOT_YET}
    named: dict[str, dict[str, set[str]]] = {}
    for file in sorted({file for each in files.values() for file in each}):
        named[file] = _named(root, file)
    return {must: {test for file in each for test in named[file].get(must, ())} for must, each in files.items()}


def _named(root: Path, file: str) -> dict[str, set[str]]:
    """For every id in a file the tests that it stands for; none in a file that is not there."""
    found: dict[str, set[str]] = defaultdict(set)
    if not (root / file).is_file():
        return found
    text = (root / file).read_text("utf-8")
    parts = list(_parts(text))
    for name, part in parts:
        for must in re.findall(r"\b[A-Z]{2}-[0-9]+\b", part):
            found[must] |= {f"{file}::{test}" for test in _takers(name, parts)} or {file}
    return found


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """The statements of a module, each with its name if it has one, and all that stands between them."""
    lines, rest, last = text.splitlines(), list[str](), 0
    for node in ast.parse(text).body:
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        rest += lines[last : first - 1]
        last = node.end_lineno or first
        yield _name(node), "\n".join(lines[first - 1 : last])
    yield "", "\n".join([*rest, *lines[last:]])


def _name(node: ast.stmt) -> str:
    if isinstance(node, ast.FunctionDef):
        return node.name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return next((target.id for target in targets if isinstance(target, ast.Name)), "")


def _takers(name: str, parts: list[tuple[str, str]]) -> list[str]:
    """The tests that an id in the part of this name speaks of: itself, or those in which the name stands."""
    tests = [(each, part) for each, part in parts if each.startswith("test_")]
    if not name or name.startswith("test_"):
        return [name] if name else []
    return [each for each, part in tests if re.search(rf"\b{re.escape(name)}\b", part)]


# What passes


def results(root: Path, tests: list[str], workers: int) -> Outcomes:
    """Run these tests, showing their progress, and say which passed."""
    if not tests:
        return {}
    with tempfile.TemporaryDirectory(prefix="placet-musts-") as folder:
        report = Path(folder) / "report.xml"
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
        words += ["-n", str(workers), "--dist", "worksteal"] if workers else []
        own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "DJANGO_"))}
        with subprocess.Popen([*words, *tests], cwd=root, env=own, stdout=sys.stderr) as pytest:
            try:
                pytest.wait()
            except KeyboardInterrupt:
                pytest.send_signal(signal.SIGINT)  # so that it stops the servers that it started
                raise
        return _read(ElementTree.parse(report).iter("testcase")) if report.is_file() else {}


def _read(cases: Iterable[ElementTree.Element]) -> Outcomes:
    told: dict[str, bool] = {}
    for case in cases:
        test = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name', '').partition('[')[0]}"
        told[test] = told.get(test, True) and not any(child.tag in {"failure", "error", "skipped"} for child in case)
    return told


def _passed(test: str, outcomes: Outcomes) -> bool:
    """Whether a test passed or, of a whole file, every test of it."""
    if "::" in test:
        return outcomes.get(test, False)
    inside = [passed for each, passed in outcomes.items() if each.startswith(f"{test}::")]
    return bool(inside) and all(inside)
