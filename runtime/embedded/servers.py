"""Both servers of one home folder: their passwords, where their data lie, starting, ending, erasing."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Final

from runtime.children import CannotStart
from runtime.embedded.postgres import DATABASE, ROLES, Postgres
from runtime.embedded.valkey import Valkey
from runtime.server import keeper, may_enter, write_private

FILE: Final = "servers.json"
OUTSIDE: Final = (Path("/var/lib"), Path("/var/tmp"))


class Servers:
    """PostgreSQL and Valkey for one home folder. `durable=False` trades safety against power cuts for speed (tests)."""

    def __init__(self, home: Path, *, durable: bool = True) -> None:
        self.home, self.durable = home.resolve(), durable
        self.keeper = keeper()
        self.memory = self._remember()
        self.place = Path(self.memory["place"])

    @cached_property
    def postgres(self) -> Postgres:
        return Postgres(self.place, self.home / "log", self.memory, self.keeper, self.durable)

    @cached_property
    def valkey(self) -> Valkey:
        return Valkey(self.place, self.home / "log", self.memory, self.keeper)

    def _remember(self) -> dict[str, str]:
        """Passwords and the place of the data: drawn once, before anything that depends on them."""
        file = self.home / FILE
        if file.exists():
            try:
                memory: dict[str, str] = json.loads(file.read_text())
            except ValueError as error:
                raise CannotStart(f"{file} is damaged. Put a copy back, or start over with --reset.") from error
            if memory["place"] != str(self.home) and not Path(memory["place"]).is_dir():
                raise CannotStart(
                    f"The data of {self.home} should lie in {memory['place']}, which is gone. Put it back, or --reset."
                )
            return memory
        self.home.mkdir(parents=True, exist_ok=True)
        if any(self.home.glob("postgres-*")):
            raise CannotStart(f"{file} with the database's passwords is gone. Put it back, or start over with --reset.")
        names = ("superuser", *ROLES, "broker")
        memory = {"place": str(self._place()), **{name: secrets.token_urlsafe(24) for name in names}}
        write_private(file, json.dumps(memory, indent=1))
        return memory

    def _place(self) -> Path:
        if not self.keeper or may_enter(self.home, self.keeper):
            return self.home
        for parent in OUTSIDE:
            if parent.is_dir() and may_enter(parent, self.keeper):
                place = Path(tempfile.mkdtemp(prefix="placet-", dir=parent))
                os.chown(place, self.keeper["user"], self.keeper["group"])
                return place
        raise CannotStart(
            f"The user nobody can enter neither {self.home} nor {OUTSIDE[0]}: give PostgreSQL by DATABASE_URL."
        )

    def start(self) -> None:
        """Start what is not running, attach to what is; then make database and roles what they should be."""
        self.postgres.start()
        self.postgres.prepare()
        self.valkey.start()

    def turn(self, say: Callable[[str], None]) -> None:
        """Start again what has fallen, on the same port, and say so. What cannot start is tried at the next turn."""
        for server in (self.__dict__.get(name) for name in ("postgres", "valkey")):
            if server is None or not server.wanted or server.alive():
                continue
            say(f"{server.name} has ended; it starts again. See {server.log}")
            try:
                server.start()
            except CannotStart as error:
                say(str(error))

    def stop(self) -> None:
        """End politely what was started or attached to."""
        for name in ("valkey", "postgres"):
            if name in self.__dict__:
                self.__dict__[name].stop()

    def erase(self) -> None:
        """Stop, and remove everything the servers wrote."""
        self.stop()
        written = [path for kind in ("*postgres-*", "valkey", "programs-*") for path in self.place.glob(kind)]
        outside = [self.place] if self.place != self.home and self.place.name.startswith("placet-") else []
        for path in (*written, *outside):
            shutil.rmtree(path, ignore_errors=True)
        (self.home / FILE).unlink(missing_ok=True)

    def environment(self, database: str = DATABASE) -> dict[str, str]:
        """The addresses, as the variables that name them."""
        return {**self.postgres.environment(database), "REDIS_URL": self.valkey.url}
