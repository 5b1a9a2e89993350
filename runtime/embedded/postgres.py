"""PostgreSQL: made with SCRAM and UTF-8, started on a loopback port, its roles and database kept as they should be."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from runtime import roles
from runtime.children import CannotStart, is_alive, until
from runtime.embedded import programs
from runtime.server import Keeper, Server, command_line

if TYPE_CHECKING:
    import psycopg

DATABASE: Final = "placet"
ROLES: Final = {"owner": "placet_owner", "application": "placet", "sweep": "placet_sweep"}
DURABLE: Final = (
    "max_connections=200",
    "scram_iterations=512",  # for random passwords of 192 bits
    "log_line_prefix=%m [%p] %q%a ",
    # A small machine's memory: no copies for replicas, no helpers for what never happens here.
    "shared_buffers=32MB",
    "wal_level=minimal",
    "max_wal_senders=0",
    "max_logical_replication_workers=0",
)
THROWAWAY: Final = ("fsync=off", "full_page_writes=off", "max_wal_size=256MB", "autovacuum=off")


class Postgres(Server):
    name = "postgres"
    ending = signal.SIGINT  # a fast shut-down: sessions end, nothing committed is lost

    def __init__(self, place: Path, log: Path, memory: dict[str, str], keeper: Keeper, durable: bool) -> None:
        self.programs = programs.postgres(place, keeper)
        self.major = programs.major(self.programs, keeper)
        super().__init__(place / f"postgres-{self.major}", log, memory, keeper)
        self.options = (*DURABLE, *(() if durable else THROWAWAY), *(("io_method=sync",) if self.major >= 18 else ()))

    def url(self, role: str, database: str = DATABASE) -> str:
        """The address of a database for a role: owner, application, sweep or superuser."""
        name = ROLES.get(role, "postgres")
        return f"postgresql://{name}:{self.memory[role]}@127.0.0.1:{self.port}/{database}"

    def environment(self, database: str = DATABASE) -> dict[str, str]:
        """The addresses for the three roles, as the variables that name them."""
        names = {"DATABASE_URL": "application", "DATABASE_OWNER_URL": "owner", "DATABASE_SWEEP_URL": "sweep"}
        return {variable: self.url(role, database) for variable, role in names.items()}

    def connect(self, database: str = "postgres") -> psycopg.Connection[Any]:
        """A connection as the superuser of this server, every statement its own transaction."""
        import psycopg  # here, so that the supervisor of bin/up, which never connects, stays small

        return psycopg.connect(self.url("superuser", database), autocommit=True, connect_timeout=5)

    def answers(self) -> bool:
        """Whether it takes connections: the pid file of our own process says `ready`."""
        pid, _, status = self._pid_file()
        return pid == self.pid and status == "ready"

    def _pid_file(self) -> tuple[int, int, str]:
        """Process, port and status as PostgreSQL wrote them; zeros if it did not, or not wholly."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
            return int(lines[0]), int(lines[3]), lines[7].strip() if len(lines) > 7 else ""
        except (FileNotFoundError, IndexError, ValueError):
            return 0, 0, ""

    def launch(self) -> None:
        self._initialise()
        options = (*self.options, "listen_addresses=127.0.0.1", "unix_socket_directories=", f"port={self.port}")
        flags = [word for option in options for word in ("-c", option)]
        self.run([self.programs / "postgres", "-D", self.data, *flags])

    def attach(self) -> bool:
        """Go on with a postmaster that runs on our data already; clear away the pid file of one that does not."""
        pid, port, _ = self._pid_file()
        if pid and is_alive(pid) and str(self.data) in command_line(pid):
            self.process, self.attached, self.port = None, pid, port
            if until(lambda: self.answers() or not self.alive(), seconds=10) and self.alive():
                return True
            if self.alive():
                raise CannotStart(f"Another PostgreSQL (process {pid}) is stuck on {self.data}. Stop it first.")
            self.attached = None
        # It has ended, or the number belongs to a stranger now: PostgreSQL would refuse to start because of it.
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        return False

    def _initialise(self) -> None:
        if (self.data / "PG_VERSION").exists():
            return
        others = sorted(path.name for path in self.data.parent.glob("postgres-[0-9]*") if path.name != self.data.name)
        if others:
            raise CannotStart(
                f"{self.data.parent} holds data of PostgreSQL {others[0][9:]}, and this is {self.major}. "
                "Carry them over with pg_dump and pg_restore, or start over with --reset."
            )
        # Made beside its place and renamed whole: a start that was cut short leaves no half database behind.
        fresh = self.data.with_name(f"new-{self.data.name}")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        self.own(fresh)
        self._initdb(fresh)
        shutil.rmtree(self.data, ignore_errors=True)
        fresh.rename(self.data)

    def _initdb(self, fresh: Path) -> None:
        builtin = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"] if self.major >= 17 else []
        with tempfile.NamedTemporaryFile("w", dir=fresh.parent) as password:
            password.write(self.memory["superuser"])
            password.flush()
            self.own(Path(password.name))
            words = [
                "--username=postgres",
                "--auth=scram-sha-256",
                f"--pwfile={password.name}",
                "--encoding=UTF8",
                "--locale=C",
            ]
            argv: list[str | Path] = [
                self.programs / "initdb",
                "-D",
                fresh,
                *words,
                *builtin,
                "--no-instructions",
                "--no-sync",
            ]
            done = subprocess.run(argv, capture_output=True, text=True, cwd=fresh, **self.keeper)
        if done.returncode:
            raise CannotStart(f"initdb cannot make a database in {fresh}: {done.stderr.strip()[-500:]}")

    def prepare(self) -> None:
        """Make the database and the three roles, whatever a start that was cut short left out."""
        made = [roles.working(name, self.memory[role]) for role, name in ROLES.items() if role != "owner"]
        owner = roles.Role(ROLES["owner"], self.memory["owner"])
        with self.connect() as connection:
            for role in (owner, *made):
                for statement in roles.role_statements(role):
                    connection.execute(statement.encode())
            connection.execute(roles.membership_statement(owner.name, ROLES["sweep"]).encode())
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
                connection.execute(roles.create_database(DATABASE, owner.name).encode())
            for statement in roles.database_statements(DATABASE, owner.name, [role.name for role in made]):
                connection.execute(statement.encode())
