"""Placet's processes, started as the Procfile says and watched: each can be killed and restarted by name."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

from runtime.children import end, spawn, until
from runtime.demo import services
from runtime.embedded import Servers
from runtime.ports import is_free
from runtime.server import Server

BASE: Final = Path(__file__).resolve().parent.parent
PROCFILE: Final = BASE / "Procfile"
SERVERS: Final = ("database", "broker")
STEADY: Final = 30.0  # seconds after which an earlier fall is forgotten
SLOWEST: Final = 30.0  # seconds between two attempts at most


def commands(procfile: Path = PROCFILE) -> dict[str, tuple[str, ...]]:
    """What the Procfile runs, by name, as arguments of a shell that replaces itself."""
    lines = (line.partition(":") for line in procfile.read_text().splitlines() if line.strip())
    return {name.strip(): ("/bin/sh", "-c", f"exec {command.strip()}") for name, _, command in lines}


@dataclass
class Child:
    """One process: what to run, and how it fared."""

    name: str
    argv: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict, repr=False)
    process: subprocess.Popen[bytes] | None = None
    wanted: bool = False
    started: float = 0.0
    falls: int = 0
    due: float = 0.0

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None


class Stack:
    """Web, workers and sweep (and whatever `extra` adds), each a real process with the given environment.

    `environment` holds the variables of `runtime/settings.py`; `port` is where web listens. Nothing is restarted unless
    `turn` is called now and then: a test that kills a process decides itself when it comes back. With `servers`, the
    names `database` and `broker` can be started and killed like the rest; they are never part of "all".
    """

    def __init__(
        self,
        home: Path,
        environment: Mapping[str, str],
        *,
        port: int,
        extra: Iterable[Child] = (),
        servers: Servers | None = None,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.log, self.port, self.servers, self.say = home / "log", port, servers, say
        wanted = {**os.environ, "DJANGO_SETTINGS_MODULE": "runtime.settings", **environment}
        path = os.pathsep.join((str(Path(sys.executable).parent), wanted.get("PATH", os.defpath)))
        own_words = {
            "PLACET_HOME": str(home),
            "PATH": path,
            "PYTHONUNBUFFERED": "1",
            "MALLOC_ARENA_MAX": "2",
            "PORT": str(port),
        }
        self.environment = {**wanted, **own_words}
        self.environment.pop("PLACET_PROCESS", None)
        own = [Child(name, argv) for name, argv in commands().items()]
        self.children = {child.name: child for child in (*extra, *own)}

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def start(self, *names: str) -> None:
        """Start the named processes, all if none is named; one that runs already goes on."""
        for server in (self._server(name) for name in names):
            if server:
                server.start()
        for child in self._named(names):
            child.wanted = True
            if not child.alive:
                self._spawn(child)

    def stop(self, *names: str, patience: float = 15) -> None:
        """End them politely, all at once; one that has not ended after `patience` seconds is killed."""
        children = self._named(names)
        for child in children:
            child.wanted = False
            if child.alive and child.process:
                child.process.send_signal(signal.SIGTERM)
        if not until(lambda: not any(child.alive for child in children), seconds=patience):
            for child in children:
                self.kill(child.name)

    def kill(self, name: str, sig: signal.Signals = signal.SIGKILL) -> None:
        """End one process outright and wait until it is gone; it stays away until `start`."""
        if server := self._server(name):
            server.stop(sig)
            return
        child = self.children[name]
        child.wanted = False
        if child.process:
            end(child.process, sig, patience=15)

    def restart(self, name: str) -> None:
        self.kill(name)
        self.start(name)

    def alive(self, name: str) -> bool:
        server = self._server(name)
        return server.alive() if server else self.children[name].alive

    def wait_until_ended(self, name: str, seconds: float = 30) -> bool:
        """Wait for a process to end by itself, at a crash point for one; False if it still runs."""
        return until(lambda: not self.alive(name), seconds=seconds)

    def turn(self) -> None:
        """Start again what has fallen, later each time it falls soon after its start, and say so."""
        now = time.monotonic()
        for child in self.children.values():
            if not child.wanted or child.alive:
                continue
            if not child.due:
                child.falls = 1 if now - child.started > STEADY else child.falls + 1
                pause = min(SLOWEST, 0.5 * 2 ** (child.falls - 1))
                child.due = now + pause
                status = child.process.returncode if child.process else "?"
                self.say(
                    f"{child.name} has ended (status {status}); it starts again in {pause:g} s. See {self._log(child)}"
                )
            elif now >= child.due:
                self._spawn(child)

    def health(self) -> dict[str, Any]:
        """What /healthz says; nothing if web does not answer. `ok` is true only for status 200."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=5) as response:
                return {**json.load(response), "ok": response.status == 200}
        except urllib.error.HTTPError as error:
            try:
                return {**json.load(error), "ok": False}
            except ValueError:
                return {}
        except (OSError, ValueError):
            return {}

    def wait_healthy(self, seconds: float = 120, watch: bool = False) -> bool:
        """Wait until /healthz is 200; with `watch`, what falls meanwhile is started again."""

        def healthy() -> bool:
            if watch:
                self.turn()
            return bool(self.health().get("ok"))

        return until(healthy, seconds=seconds, every=0.1)

    def begin(self, *words: str, stderr: IO[str]) -> subprocess.Popen[str]:
        """Begin a command of `manage.py`; its output is read line by line."""
        argv = [sys.executable, str(BASE / "manage.py"), *words]
        how: dict[str, Any] = {"env": self.environment, "cwd": BASE, "start_new_session": True}
        return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=stderr, text=True, **how)

    def manage(self, *words: str, **how: Any) -> subprocess.CompletedProcess[str]:
        """Run `manage.py` with this stack's environment and return its status and output."""
        argv = [sys.executable, str(BASE / "manage.py"), *words]
        return subprocess.run(argv, env=self.environment, cwd=BASE, capture_output=True, text=True, **how)

    def _named(self, names: tuple[str, ...]) -> list[Child]:
        if not names:
            return list(self.children.values())
        return [self.children[name] for name in names if not self._server(name)]

    def _server(self, name: str) -> Server | None:
        if self.servers is None or name not in SERVERS:
            return None
        return self.servers.postgres if name == "database" else self.servers.valkey

    def _spawn(self, child: Child) -> None:
        env = {**self.environment, **child.env}
        child.process = spawn(child.argv, log=self._log(child), cwd=BASE, env=env, ending=signal.SIGTERM)
        child.started, child.due = time.monotonic(), 0.0

    def _log(self, child: Child) -> Path:
        return self.log / f"{child.name}.log"


def of_the_demo(home: Path) -> tuple[list[Child], str]:
    """The processes that the demo adds, and the addresses that a tool may therefore reach (PLACET_ALLOW_ADDRESSES).

    A service whose port a stranger holds gets another; one of our own may still be leaving, so we wait a little.
    """
    found = []
    for service in services.services(home):
        free = until(partial(is_free, service.port), seconds=3)
        found.append(service if free else services.move_port(home, service.name))
    children = [Child(service.name, service.argv, dict(service.env)) for service in found]
    return children, ",".join(service.address for service in found)
