"""`bin/test`: format, lint, types, checks, migrations, then every test, a real browser included; under ten minutes.

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
from collections.abc import Mapping
from pathlib import Path

from runtime.console import say
from runtime.embedded import Servers
from tests.programs import have_chromium, have_spin

BASE = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


def ran(name: str, *words: str, env: Mapping[str, str] | None = None) -> bool:
    """Run one check; its output is shown only if it fails."""
    began = time.monotonic()
    done = subprocess.run([str(BIN / words[0]), *words[1:]], cwd=BASE, env=env, capture_output=True, text=True)
    say(f"{'✓' if done.returncode == 0 else '✗'} {name:<28} {time.monotonic() - began:5.1f} s")
    if done.returncode:
        say(f"{done.stdout}{done.stderr}".replace("\n", "\n  "))
    return done.returncode == 0


def looked(environment: Mapping[str, str]) -> bool:
    """Everything before pytest; all of it runs, so that one look shows every fault."""
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


def main(*arguments: str) -> int:
    if not all([have_chromium(), have_spin()]):
        return 1
    pytest = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    if arguments:
        return subprocess.run([*pytest, *arguments], cwd=BASE).returncode
    began = time.monotonic()
    sound = look()
    passed = subprocess.run([*pytest, "-q", "-n", "2", "--dist", "worksteal"], cwd=BASE).returncode == 0
    say(f"{'All is well' if sound and passed else 'Something is wrong, see above'} · {time.monotonic() - began:.0f} s")
    return 0 if sound and passed else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
