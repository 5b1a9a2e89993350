"""The settings under pytest: the real ones, in a throw-away home with servers of its own, one for each test process.

Only names and ports are chosen here; the servers start when a test first wants a database, so that tests which need
none pay nothing. The developer's `var/` is never read.
"""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import tempfile
from pathlib import Path

from runtime.embedded import Servers
from runtime.ports import free_port

MEMORY = Path("/dev/shm")
ENOUGH = 2 * 1024**3


def fresh_home() -> Path:
    """A new folder that the servers' user may enter; in memory where there is room, which clones databases ten times
    as fast."""
    roomy = MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ENOUGH
    home = Path(tempfile.mkdtemp(prefix="placet-test-", dir=MEMORY if roomy else None))
    home.chmod(0o711)
    return home


HOME = fresh_home()
SERVERS = Servers(HOME, durable=False)
SERVERS.postgres.port = free_port()
SERVERS.valkey.port = free_port()

os.environ.update(
    SERVERS.environment(),
    PLACET_HOME=str(HOME),
    PLACET_ENV="demo",
    PLACET_PROCESS="command",
    PLACET_SECRET_KEY=secrets.token_urlsafe(50),
    PLACET_KEYS=f"1:{secrets.token_hex(32)}",
    PLACET_LOG_LEVEL="WARNING",
    # pytest names this file as the settings; the processes that tests start read the real one.
    DJANGO_SETTINGS_MODULE="runtime.settings",
)
os.environ.pop("PORT", None)


@atexit.register
def clean() -> None:
    """Stop the servers and remove everything they wrote."""
    if HOME.exists():
        SERVERS.erase()
        shutil.rmtree(HOME, ignore_errors=True)


from runtime.settings import *  # noqa: E402, F403
