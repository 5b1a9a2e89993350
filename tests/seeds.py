"""A database that was migrated once, kept for later test processes: making one takes most of what a short run takes.

Whatever the schema is made of is part of its name, so that one of other code is never taken. It lies in the clone
(`.test-seed/`), where git does not look, and may be removed at any time.
"""

from __future__ import annotations

import fcntl
import hashlib
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from runtime.embedded import Servers
from runtime.server import write_private

BASE: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = BASE / ".test-seed"
SOURCES: Final = (
    "requirements.txt",
    "approvals/apps.py",
    "approvals/migrations/*.py",
    "approvals/rows/*.py",
    "runtime/apps.py",
    "runtime/embedded/*.py",
    "runtime/migrations/*.py",
    "runtime/models.py",
    "runtime/roles.py",
    "tests/databases.py",
    "tests/seeds.py",
)


def digest() -> str:
    """What names a seed: all that its schema is made of, with the look-ups that modules declare."""
    from approvals.rows.entrances import ENTRANCES

    made = hashlib.sha256(f"{platform.python_version()} {sorted(map(repr, ENTRANCES))}".encode())
    for pattern in SOURCES:
        for path in sorted(BASE.glob(pattern)):
            made.update(f"{path.relative_to(BASE)}\0".encode() + path.read_bytes())
    return made.hexdigest()[:32]


def sow(servers: Servers, migrate: Callable[[], None]) -> None:
    """Start the servers with a migrated database: a copy of the one that is kept, else a new one, which is kept."""
    kept = FOLDER / f"{servers.postgres.data.name}-{digest()}"
    with _alone():
        if not (kept / "superuser").exists():
            _keep(servers, migrate, kept)
            return
        servers.memory["superuser"] = (kept / "superuser").read_text()
        _copy(kept / "data", servers.postgres.data)
    servers.start()


def _keep(servers: Servers, migrate: Callable[[], None], kept: Path) -> None:
    servers.start()
    migrate()
    servers.postgres.stop()
    for older in FOLDER.glob(f"{servers.postgres.data.name}-*"):
        shutil.rmtree(older)
    kept.mkdir()
    _copy(servers.postgres.data, kept / "data")
    # Last: a copy without it was cut short.
    write_private(kept / "superuser", servers.memory["superuser"])
    servers.postgres.start()


def _copy(source: Path, target: Path) -> None:
    """With owner and mode, which PostgreSQL insists on."""
    subprocess.run(["cp", "-Rp", source, target], check=True)


@contextmanager
def _alone() -> Iterator[None]:
    """One test process at a time: the first makes the seed, the others wait for it."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
