"""Rivals of `bin/bench steps`: their packages in an environment of their own, each run as a program of its own.

What they need stands in `requirements-rivals.txt`; `.venv-rivals` is made from it the first time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from runtime.children import CannotStart
from runtime.install import BASE

VENV: Final = BASE / ".venv-rivals"
LIST: Final = BASE / "requirements-rivals.txt"
PROGRAMS: Final = {
    "langgraph_delta": ("tests.campaigns.rival_langgraph", "delta"),
    "dbos": ("tests.campaigns.rival_dbos",),
    "langgraph_full": ("tests.campaigns.rival_langgraph", "full"),
}
SIZES: Final = """
    SELECT COALESCE(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname || '.' || c.relname LIKE %s
"""


def grown(admin: Any, tables: str) -> int:
    """The bytes of tables, with their indexes and large values, by a pattern of their names."""
    return int(admin.execute(SIZES, [tables]).fetchone()[0])


def install() -> Path:
    """The Python that has the rivals. Raises CannotStart."""
    python, stamp = VENV / "bin" / "python", VENV / ".installed"
    if not stamp.exists() or stamp.read_text() != LIST.read_text():
        made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], capture_output=True, text=True)
        words = [str(python), "-m", "pip", "install", "--quiet", "-r", str(LIST)]
        done = subprocess.run(words, capture_output=True, text=True) if made.returncode == 0 else made
        if done.returncode:
            raise CannotStart(f"The rivals cannot be installed: {(done.stderr or done.stdout).strip()[-800:]}")
        stamp.write_text(LIST.read_text())
    return python


def measure(python: Path, name: str, dsn: str, steps: int, size: int) -> dict[str, float]:
    """Seconds and bytes of one run of a rival. Raises CannotStart with what it said if it fails."""
    module, *more = PROGRAMS[name]
    words = [str(python), "-m", module, dsn, str(steps), str(size), *more]
    done = subprocess.run(words, cwd=BASE, env={**os.environ, "PYTHONPATH": ""}, capture_output=True, text=True)
    if done.returncode:
        raise CannotStart(f"{name} failed: {done.stderr.strip()[-1500:]}")
    told: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return told
