"""The folder `var/`: keys, the environment for other terminals, the lock of whoever runs here, and starting over."""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final

from runtime.children import CannotStart
from runtime.environment import ENV_FILE
from runtime.server import write_private

KEYS: Final = "keys.json"
RUNNING: Final = "up.json"
LOCK: Final = "up.lock"


class Home:
    """One `var/`. `open` makes it or says in a sentence why it cannot be used."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.log = self.path / "log"
        self._lock: IO[bytes] | None = None

    def open(self) -> None:
        """Make the folder. Raises CannotStart if it is someone else's, or no folder."""
        try:
            self.path.mkdir(mode=0o711, parents=True, exist_ok=True)
            self.log.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise CannotStart(f"{self.path} cannot be made: {error.strerror}.") from error
        if (owner := self.path.stat().st_uid) != os.geteuid():
            raise CannotStart(
                f"{self.path} belongs to {_name(owner)}: start Placet as {_name(owner)}, or move the folder away."
            )

    # Who runs here

    def lock(self) -> bool:
        """Hold the folder for this process until it ends, however it ends; False if another process holds it."""
        held = (self.path / LOCK).open("ab")
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            held.close()
            return False
        self._lock = held
        (self.path / RUNNING).unlink(missing_ok=True)
        return True

    def is_locked(self) -> bool:
        try:
            with (self.path / LOCK).open("rb") as held:
                fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def tell(self, **facts: Any) -> None:
        """Leave word for other terminals: `pid`, and once healthy `url`."""
        write_private(self.path / RUNNING, json.dumps(facts))

    def told(self) -> dict[str, Any]:
        """What the process that runs here has told, or nothing."""
        try:
            facts: dict[str, Any] = json.loads((self.path / RUNNING).read_text())
        except (FileNotFoundError, ValueError):
            return {}
        return facts

    # What it keeps

    def keys(self) -> dict[str, str]:
        """Django's secret and Placet's root keys: drawn at random once, before there is any data."""
        file = self.path / KEYS
        if not file.exists():
            if self._has_data():
                raise CannotStart(
                    f"{file} is gone, but its keys seal the data here. Put it back, or start over with --reset."
                )
            drawn = {"PLACET_SECRET_KEY": secrets.token_urlsafe(50), "PLACET_KEYS": f"1:{secrets.token_hex(32)}"}
            write_private(file, json.dumps(drawn, indent=1))
        try:
            keys = json.loads(file.read_text())
            return {name: str(keys[name]) for name in ("PLACET_SECRET_KEY", "PLACET_KEYS")}
        except (ValueError, KeyError, TypeError) as error:
            raise CannotStart(f"{file} is damaged. Put a copy back, or start over with --reset.") from error

    def _has_data(self) -> bool:
        """Whether a database was made already, here or in the folder outside that `servers.json` names."""
        try:
            place = Path(json.loads((self.path / "servers.json").read_text())["place"])
        except (FileNotFoundError, ValueError, KeyError):
            place = self.path
        return any(place.glob("postgres-*"))

    def write_environment(self, values: Mapping[str, str]) -> None:
        """Leave the variables for `manage.py` in other terminals."""
        lines = ["# Written by bin/up at every start.", *(f"{name}={value}" for name, value in sorted(values.items()))]
        write_private(self.path / ENV_FILE, "\n".join(lines) + "\n")

    def roll_logs(self, limit: int = 10_000_000) -> None:
        """Put aside logs that have grown large; one older one of each is kept."""
        for log in self.log.glob("*.log"):
            if log.stat().st_size > limit:
                log.replace(log.with_suffix(".log.1"))

    def erase(self, *, made_here: bool) -> None:
        """Remove everything in the folder. A folder elsewhere is only emptied if Placet's keys show that it is ours."""
        if not made_here and not (self.path / KEYS).exists():
            raise CannotStart(f"{self.path} does not look like a folder that Placet made; nothing was removed.")
        for path in self.path.iterdir():
            if path.name != LOCK:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
