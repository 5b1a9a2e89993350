"""One server process: started by us or found running, watched, ended. Which programs, `embedded.py` alone knows."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Final

from runtime.children import CannotStart, end, is_alive, spawn, tail, until
from runtime.ports import free_port

SLOWEST: Final = 60.0  # seconds until a server answers; it may have much to recover
RETRIED: Final = 5.0  # seconds during which one that ends at once is started again

# What Popen needs to start a process as another user; empty unless we are root.
Keeper = dict[str, Any]


class Server:
    """One server process: started by us, or found running and attached to."""

    name: str
    ending: signal.Signals

    def __init__(self, data: Path, log: Path, memory: dict[str, str], keeper: Keeper) -> None:
        self.data, self.log, self.memory, self.keeper = data, log / f"{self.name}.log", memory, keeper
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None
        self.attached: int | None = None
        self.wanted = False

    @property
    def pid(self) -> int | None:
        return self.process.pid if self.process else self.attached

    def alive(self) -> bool:
        if self.process:
            return self.process.poll() is None
        return self.attached is not None and is_alive(self.attached)

    def stop(self, sig: signal.Signals | None = None, patience: float = 30) -> None:
        """Ask it to end (`sig` replaces the polite signal) and wait for it; what does not end in time is killed."""
        if self.process:
            end(self.process, sig or self.ending, patience=patience)
        elif self.attached and is_alive(self.attached):
            os.kill(self.attached, sig or self.ending)
            until(lambda: not self.alive(), seconds=patience)
        self.process = self.attached = None
        self.wanted = False

    def kill(self) -> None:
        """End it outright, as a power cut would; for tests."""
        self.stop(signal.SIGKILL)

    def start(self) -> None:
        """Start it, or go on with one that runs on our data already. Raises CannotStart.

        The port, once known, stays: others hold it in their environment.
        """
        self.wanted = True
        if self.alive():
            return
        held = self.port
        if not self.attach():
            self.port = held or free_port()
            self.launch()

    def attach(self) -> bool:
        """Go on with a process that was left running on our data; False if there is none."""
        raise NotImplementedError

    def launch(self) -> None:
        """Start the process on `self.port`. Raises CannotStart."""
        raise NotImplementedError

    def answers(self) -> bool:
        """Whether what listens on `self.port` is this server, on our data."""
        raise NotImplementedError

    def run(self, argv: list[str | Path], *, retried: float = RETRIED) -> None:
        """Spawn and wait until it answers. One that ends at once is tried again for a while: after a kill its
        forerunner's children may still be leaving. Raises CannotStart with the last lines of the log."""
        began, since = time.monotonic(), self.log.stat().st_size if self.log.exists() else 0
        while True:
            env = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
            self.process = spawn(argv, log=self.log, cwd=self.data, env=env, ending=self.ending, **self.keeper)
            if until(lambda: self.answers() or not self.alive(), seconds=SLOWEST) and self.alive():
                return
            if self.alive() or time.monotonic() - began > retried:
                end(self.process, signal.SIGKILL, patience=5)
                raise CannotStart(f"{self.name} does not start. {self.log} says:\n{tail(self.log, since)}")
            time.sleep(0.2)

    def own(self, path: Path) -> None:
        if self.keeper:
            os.chown(path, self.keeper["user"], self.keeper["group"])


def keeper() -> Keeper:
    """Who runs the servers: ourselves, or `nobody` when we are root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def may_enter(folder: Path, keeper: Keeper) -> bool:
    """Whether the keeper can walk into a folder: tried, since modes alone do not tell."""
    argv = ["/bin/sh", "-c", 'cd -- "$1"', "sh", str(folder)]
    return subprocess.run(argv, capture_output=True, cwd="/", **keeper).returncode == 0


def command_line(pid: int) -> str:
    """What a process was started with, or nothing if that cannot be told."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        said = subprocess.run(["/bin/sh", "-c", f"ps -o command= -p {pid}"], capture_output=True, text=True)
        return said.stdout.strip()


def write_private(file: Path, text: str) -> None:
    """Put a file of mode 600 in place whole: written beside it, on the disk, then renamed."""
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    fresh.rename(file)
