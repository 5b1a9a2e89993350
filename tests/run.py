"""`bin/test`: format, lint, types, checks, migrations, and beside them every test, a real browser included; about ten
minutes on two cores.

Everything happens in a throw-away place with servers of its own; the developer's `var/` is never touched. With
arguments pytest alone runs, with these arguments.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Final

from runtime.console import say
from runtime.embedded import Servers
from tests.programs import have_chromium, have_spin

BASE = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PYTEST: Final = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
WORKERS: Final = 3
"""One more than this is meant for has cores: the long tests wait half of their time."""


def ran(name: str, *words: str, env: Mapping[str, str] | None = None) -> bool:
    """Run one check; its output is shown only if it fails."""
    began = time.monotonic()
    done = subprocess.run([str(BIN / words[0]), *words[1:]], cwd=BASE, env=env, capture_output=True, text=True)
    say(f"{'✓' if done.returncode == 0 else '✗'} {name:<28} {time.monotonic() - began:5.1f} s")
    if done.returncode:
        say(f"{done.stdout}{done.stderr}".replace("\n", "\n  "))
    return done.returncode == 0


def looked(environment: Mapping[str, str]) -> bool:
    """Everything but pytest; all of it runs, so that one look shows every fault."""
    production = {**environment, "PLACET_ENV": "production", "PLACET_HOSTS": "placet.example"}
    strict = ("--fail-level", "WARNING")
    results = [
        ran("format", "ruff", "format", "--check", "."),
        ran("lint", "ruff", "check", "."),
        ran("types", "mypy", env=environment),
        ran("migrations run", "python", "manage.py", "migrate", "--no-input", env=environment),
        ran(
            "migrations are complete", "python", "manage.py", "makemigrations", "--check", "--dry-run", env=environment
        ),
        ran("checks", "python", "manage.py", "check", "--database", "default", *strict, env=environment),
        ran("checks of a production", "python", "manage.py", "check", "--deploy", *strict, env=production),
    ]
    return all(results)


def look() -> bool:
    """`looked`, with servers in a throw-away place."""
    home = Path(tempfile.mkdtemp(prefix="placet-checks-"))
    home.chmod(0o711)
    servers = Servers(home, durable=False)
    try:
        servers.start()
        drawn = {"PLACET_SECRET_KEY": secrets.token_urlsafe(60), "PLACET_KEYS": f"1:{secrets.token_hex(32)}"}
        return looked({**os.environ, **servers.environment(), **drawn, "PLACET_HOME": str(home), "PLACET_ENV": "demo"})
    finally:
        servers.erase()
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def compiled() -> Iterator[None]:
    """Keep what Python compiles for the length of the run, also where it is told to leave nothing beside the sources:
    the tests start hundreds of processes, and compiling is most of what a start takes."""
    with tempfile.TemporaryDirectory(prefix="placet-compiled-") as folder:
        if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
            os.environ["PYTHONPYCACHEPREFIX"] = folder
        yield


def everything() -> bool:
    """The checks and pytest beside each other; whether both found nothing."""
    words = [*PYTEST, "-q", "-n", str(WORKERS), "--dist", "worksteal"]
    with subprocess.Popen(words, cwd=BASE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pytest:
        told = Thread(target=lambda: [print(line, end="", flush=True) for line in pytest.stdout or ()])
        told.start()
        sound = look()
        told.join()
    return sound and pytest.returncode == 0


def main(*arguments: str) -> int:
    if not all([have_chromium(), have_spin()]):
        return 1
    with compiled():
        if arguments:
            return subprocess.run([*PYTEST, *arguments], cwd=BASE).returncode
        began = time.monotonic()
        well = everything()
        say(f"{'All is well' if well else 'Something is wrong, see above'} · {time.monotonic() - began:.0f} s")
        return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
