"""Valkey: one append-only file and a password, on a loopback port."""

from __future__ import annotations

import re
import shutil
import signal
import socket
from pathlib import Path

from runtime.children import CannotStart
from runtime.embedded import programs
from runtime.server import Keeper, Server, write_private


class Valkey(Server):
    name = "valkey"
    ending = signal.SIGTERM

    def __init__(self, place: Path, log: Path, memory: dict[str, str], keeper: Keeper) -> None:
        super().__init__(place / "valkey", log, memory, keeper)
        self.program = programs.valkey(place, keeper)

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

    @property
    def settings(self) -> Path:
        return self.data / "valkey.conf"

    def launch(self) -> None:
        self.data.mkdir(mode=0o700, exist_ok=True)
        self.own(self.data)
        write_private(self.settings, self._settings())
        self.own(self.settings)
        try:
            self.run([self.program, self.settings], retried=1)
        except CannotStart:
            # It cannot read what it kept, a newer version's file for one. Messages are hints: rows are the queue.
            shutil.rmtree(self.data / "kept", ignore_errors=True)
            self.run([self.program, self.settings])

    def attach(self) -> bool:
        """Go on with a server that runs on our data already: it alone knows our password."""
        try:
            self.port = int(re.findall(r"^port (\d+)$", self.settings.read_text(), re.MULTILINE)[0])
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
