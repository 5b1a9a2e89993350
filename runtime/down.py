"""`bin/down`: ask the process that runs Placet here to end, and wait until it has."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from runtime.children import until
from runtime.console import say
from runtime.home import Home

BASE = Path(__file__).resolve().parent.parent
PATIENCE = 90.0


def here() -> Home:
    """The home folder that the environment names, `var/` by default."""
    return Home(Path(os.environ.get("PLACET_HOME") or BASE / "var"))


def stop(home: Home) -> bool:
    """End what runs in this folder; False if it has not ended in time. True as well if nothing ran."""
    pid = home.told().get("pid")
    if not home.is_locked():
        return True
    if isinstance(pid, int):
        os.kill(pid, signal.SIGTERM)
    return until(lambda: not home.is_locked(), seconds=PATIENCE, every=0.1)


def main() -> int:
    home = here()
    if not home.is_locked():
        say("Placet is not running here.")
        return 0
    if stop(home):
        say("Stopped. Nothing was lost: bin/up goes on where this ended.")
        return 0
    say(f"Placet (process {home.told().get('pid')}) has not ended after {PATIENCE:.0f} s; see {home.log}.")
    return 1


if __name__ == "__main__":
    sys.exit(main())
