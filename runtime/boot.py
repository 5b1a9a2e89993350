"""`bin/up`: from nothing to a running Placet, one line a step; then it watches until it is told to stop.

Ctrl-C, SIGTERM and `bin/down` end everything it started. If it is killed outright, its children end by themselves; the
next `bin/up` goes on with the same data, whatever was cut short.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
from types import FrameType
from typing import Final

from runtime.children import CannotStart, until
from runtime.console import say, step
from runtime.demo import services
from runtime.down import here, stop
from runtime.embedded import Servers
from runtime.environment import BadEnvironment
from runtime.home import Home
from runtime.ports import choose_port
from runtime.stack import BASE, Stack, of_the_demo

DATABASES: Final = ("DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_SWEEP_URL")
TURN: Final = 0.5


class Stopped(Exception):
    """Someone asked us to stop."""


class Boot:
    """One run of `bin/up`, holding what it started."""

    def __init__(self, home: Home, *, away: bool = False) -> None:
        self.home, self.away = home, away
        self.asked = threading.Event()
        self.watching = False
        self.servers: Servers | None = None
        self.own_database = False
        self.stack: Stack | None = None

    def run(self) -> int:
        """Start everything, tell, watch. Returns the exit status."""
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(sig, self._on_signal)
        try:
            self.start()
            self.watch()
        except Stopped:
            pass
        finally:
            for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(sig, signal.SIG_IGN)
            self.stop()
        return 0

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.asked.set()
        if not self.watching:
            raise Stopped

    def start(self) -> None:
        self.home.tell(pid=os.getpid())
        self.home.roll_logs()
        port = choose_port(os.environ.get("PORT", ""))
        environment = {"PLACET_ENV": "demo", **self.home.keys(), **self.start_servers()}
        extra, allowed = of_the_demo(self.home.path)
        environment["PLACET_ALLOW_ADDRESSES"] = allowed
        environment["PLACET_MAIL_URL"] = f"smtp://127.0.0.1:{services.mailbox(self.home.path).port}"
        environment["PLACET_URL"] = f"http://localhost:{port}"
        environment = {name: os.environ.get(name) or value for name, value in environment.items()}
        self.home.write_environment(environment)
        self.stack = Stack(self.home.path, environment, port=port, extra=extra, say=say)
        self.serve(self.stack, self.prepare(self.stack))

    def start_servers(self) -> dict[str, str]:
        """The embedded servers, or those that the environment names instead."""
        given = [name for name in DATABASES if os.environ.get(name)]
        if given and len(given) < len(DATABASES):
            missing = ", ".join(name for name in DATABASES if name not in given)
            raise CannotStart(
                f"{given[0]} is set, so {missing} must be set too: `manage.py roles` prints the three roles."
            )
        environment: dict[str, str] = {}
        if not given or not os.environ.get("REDIS_URL"):
            self.servers = Servers(self.home.path)
        if self.servers and not given:
            with step("Database") as notes:
                self.servers.postgres.start()
                notes.append(f"PostgreSQL {self.servers.postgres.major}, for demo and development")
            environment |= self.servers.postgres.environment()
            self.own_database = True
        if self.servers and not os.environ.get("REDIS_URL"):
            with step("Broker") as notes:
                self.servers.valkey.start()
                notes.append("Valkey")
            environment["REDIS_URL"] = self.servers.valkey.url
        return {**environment, **{name: os.environ[name] for name in (*DATABASES, "REDIS_URL") if os.environ.get(name)}}

    def prepare(self, stack: Stack) -> str:
        """Tables, checks, the demo's people; returns what the demo shows. Raises CannotStart with what went wrong."""
        with (self.home.log / "prepare.log").open("w+") as wrong:
            running = stack.begin("prepare", *(["--roles"] if self.own_database else []), stderr=wrong)
            try:
                text = follow(running, ("Tables", "Checks", "Demo"))
                failed = running.wait()
            finally:
                running.kill()
            wrong.seek(0)
            if failed:
                raise CannotStart("\n  ".join(["Placet cannot be prepared:", *wrong.read().splitlines()[-12:]]))
        return text

    def serve(self, stack: Stack, text: str) -> None:
        with step("Processes") as notes:
            stack.start()
            if not stack.wait_healthy(90, watch=True):
                said = stack.health() or "web does not answer"
                raise CannotStart(f"Placet does not get well: {said}. See {self.home.log}.")
            notes.append(", ".join(stack.children))
        self.home.tell(pid=os.getpid(), url=stack.url, text=text)
        if not self.away:
            greet(stack.url, text, ending="Ctrl-C" if sys.stdout.isatty() else "bin/down")

    def watch(self) -> None:
        self.watching = True
        while not self.asked.wait(TURN):
            if self.stack:
                self.stack.turn()
            if self.servers:
                self.servers.turn(say)

    def stop(self) -> None:
        """End what was started, in the opposite order."""
        if self.stack or self.servers:
            with step("Stopping"):
                if self.stack:
                    self.stack.stop()
                if self.servers:
                    self.servers.stop()


def follow(running: subprocess.Popen[str], steps: tuple[str, ...]) -> str:
    """Show the steps of `manage.py prepare` as it reports them; returns the text it ends with, nothing if it fails."""
    try:
        for name in steps:
            with step(name):
                heard(running, "did")
        return heard(running, "text")
    except EOFError:
        return ""


def heard(running: subprocess.Popen[str], word: str) -> str:
    """The next thing it reports. Raises EOFError when it has ended."""
    if running.stdout is None or not (line := running.stdout.readline()):
        raise EOFError
    return str(json.loads(line)[word])


def greet(url: str, text: str, *, ending: str) -> None:
    """Where to go, who is there, what to try. It names passwords, so it is for a terminal and never for a log."""
    for line in ("", url, "", *text.rstrip().splitlines(), "", f"{ending} stops it; nothing is lost.", ""):
        say(line)


def detach(home: Home) -> int:
    """Start a Boot of its own session and follow what it says until it is healthy."""
    log = home.log / "up.log"
    since = log.stat().st_size if log.exists() else 0
    with log.open("ab") as output:
        argv = [sys.executable, "-m", "runtime.boot", "up", "--away"]
        child = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, cwd=BASE
        )
    with log.open("r", encoding="utf-8", errors="replace") as said:
        said.seek(since)

        def settled() -> bool:
            over = child.poll() is not None or is_healthy(home, child.pid)
            print(said.read(), end="", flush=True)
            return over

        until(settled, seconds=600, every=0.1)
    if is_healthy(home, child.pid):
        greet_again(home)
    elif child.poll() is None:
        raise CannotStart(f"Placet (process {child.pid}) is not healthy after ten minutes; see {home.log}.")
    return child.returncode or 0


def greet_again(home: Home) -> None:
    """What the process that runs here has to say to who comes; nothing before it is healthy."""
    facts = home.told()
    if "url" in facts:
        greet(facts["url"], facts["text"], ending="bin/down")


def is_healthy(home: Home, pid: int) -> bool:
    """Whether this very process told that all is up; a note of one that was killed does not count."""
    told = home.told()
    return told.get("pid") == pid and "url" in told


def up(home: Home, *, reset: bool, detached: bool, away: bool) -> int:
    """Start Placet in this folder. Raises CannotStart."""
    if reset:
        start_over(home)
    if os.environ.get("PLACET_ENV", "demo") != "demo":
        raise CannotStart(
            "bin/up is the demo. In production run what the Procfile says, with an environment of your own."
        )
    home.open()
    if detached and not home.is_locked():
        return detach(home)
    if not home.lock():
        say(f"Placet runs here already (process {home.told().get('pid', 'unknown')}).")
        greet_again(home)
        return 0
    return Boot(home, away=away).run()


def start_over(home: Home) -> None:
    """Stop what runs here and remove all it kept. Raises CannotStart if the data are not ours to remove."""
    if any(os.environ.get(name) for name in DATABASES):
        raise CannotStart(
            "--reset never empties a database that DATABASE_URL names. Do that yourself, then start without it."
        )
    if not stop(home):
        raise CannotStart(f"Placet (process {home.told().get('pid')}) runs here and does not stop.")
    if home.path.exists():
        home.open()
        with step("Starting over"):
            if (home.path / "servers.json").exists():
                Servers(home.path).erase()
            home.erase(made_here=home.path == BASE / "var")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="bin/up", description="Start Placet: database, broker, demo, web, workers, sweep."
    )
    parser.add_argument("verb", choices=["up"], help=argparse.SUPPRESS)
    parser.add_argument("--detach", action="store_true", help="return when it is healthy; bin/down stops it")
    parser.add_argument("--away", action="store_true", help=argparse.SUPPRESS)  # its words go to a log
    parser.add_argument("--reset", action="store_true", help="remove all data first")
    asked = parser.parse_args()
    try:
        return up(here(), reset=asked.reset, detached=asked.detach, away=asked.away)
    except (CannotStart, BadEnvironment, ValueError) as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("It goes on starting in the background; bin/down stops it.")
        return 130


if __name__ == "__main__":
    sys.exit(main())
