"""`bin/prove model`: every state of the protocol's model, in more and larger scenes than `bin/test` has time for.

Ok when every law holds in every scene and every mutant of the protocol is found. Needs Spin and a C compiler, some
gigabytes of memory and some minutes.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from runtime.children import CannotStart
from tests.campaigns.stage import tell
from tests.model import spin
from tests.programs import have_spin


def run(stage: None, options: argparse.Namespace) -> tuple[bool, dict[str, Any]]:
    """Search; ok when nothing is broken but in the mutants. Raises CannotStart where Spin is missing."""
    if not have_spin():
        raise CannotStart("The model cannot be checked without it.")
    with tempfile.TemporaryDirectory(prefix="placet-model-") as folder:
        checker = spin.Checker(Path(folder))
        states, broken = _scenes(checker)
        missed = _mutants(checker)
    figures = {"invariants": len(spin.LAWS), "states": states, "scenes": len(spin.LARGE), "broken": sorted(broken)}
    return not broken and not missed, figures | {"mutants": len(spin.MUTANTS), "missed": missed}


def _scenes(checker: spin.Checker) -> tuple[int, set[str]]:
    states, broken = 0, set[str]()
    for scene in spin.LARGE:
        found = checker.search(scene)
        tell(f"{scene.name}: {found.states:,} states, {', '.join(sorted(found.broken)) or 'every law holds'}")
        states += found.states
        broken |= found.broken
    return states, broken


def _mutants(checker: spin.Checker) -> list[str]:
    """The mutants that no law found."""
    missed = []
    for name, scene in spin.MUTANTS.items():
        found = checker.search(spin.Scene(name, *scene), name)
        tell(f"without it, {name}: {', '.join(sorted(found.broken)) or 'nothing is found'}")
        missed += [] if found.broken else [name]
    return missed
