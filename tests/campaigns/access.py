"""`bin/prove access`: every state of every page, in every look, to axe; `bin/screens` takes the pictures of them.

Both run `tests/scenes`, which makes the states really happen, and nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from runtime.children import CannotStart
from tests.programs import have_chromium
from tests.run import BASE, WORKERS, compiled

SCENES: Final = "tests/scenes"
SCREENS: Final = BASE / "var" / "screens"


def run(stage: None, options: argparse.Namespace) -> tuple[bool, dict[str, Any]]:
    """Look at all of them; ok when axe finds nothing serious, and nothing scrolls sideways. Raises CannotStart."""
    with tempfile.TemporaryDirectory(prefix="placet-access-") as folder:
        seen = Path(folder) / "seen.jsonl"
        passed = visit({"PLACET_LOOKS": "all", "PLACET_SEEN": str(seen)})
        lines = list(_read(seen))
    serious = [f"{line['state']} {line['look']}" for line in lines if line["serious"]]
    figures = {"pages": len({line["page"] for line in lines}), "states": len({line["state"] for line in lines})}
    return passed and not serious, figures | {"looks": len(lines), "serious": len(serious), "where": serious[:20]}


def visit(options: Mapping[str, str]) -> bool:
    """Run the scenes so; whether all of them passed. Raises CannotStart."""
    if not have_chromium():
        raise CannotStart("There is no browser to look with.")
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "DJANGO_"))}
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(WORKERS), SCENES]
    with compiled(), subprocess.Popen(words, cwd=BASE, env={**own, **options}, stdout=sys.stderr) as pytest:
        try:
            return pytest.wait() == 0
        except KeyboardInterrupt:
            pytest.send_signal(signal.SIGINT)  # so that it stops the servers that it started
            raise


def _read(file: Path) -> Iterator[dict[str, Any]]:
    if file.is_file():
        yield from map(json.loads, file.read_text("utf-8").splitlines())


def screens() -> int:
    """Take the pictures of everything; how the process ends."""
    SCREENS.mkdir(parents=True, exist_ok=True)
    passed = visit({"PLACET_LOOKS": "pictures", "PLACET_SCREENS": str(SCREENS)})
    print(f"{len(list(SCREENS.glob('*.png')))} pictures are in {SCREENS.relative_to(BASE)}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(screens())
