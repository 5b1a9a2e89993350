"""`bin/up` and `bin/down`, run for real in a folder of their own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from runtime.children import is_alive, until
from runtime.environment import read_env_file
from runtime.ports import free_port
from runtime.stack import BASE
from tests.throwaway import SERVERS, fresh_home

OURS = ("PLACET_", "DATABASE_", "REDIS_", "DJANGO_", "PORT")


class Place:
    """A home folder and the commands that work on it."""

    def __init__(self) -> None:
        self.home = fresh_home()
        self.port = free_port()

    def run(self, module: str, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", module, *words]
        return subprocess.run(argv, cwd=BASE, env=self.env(**variables), capture_output=True, text=True, timeout=180)

    def env(self, **variables: str) -> dict[str, str]:
        plain = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        return {**plain, "PLACET_HOME": str(self.home), "PORT": str(self.port), **variables}

    def up(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return self.run("runtime.boot", "up", "--detach", *words, **variables)

    def begin(self) -> subprocess.Popen[bytes]:
        """`bin/up` in the foreground, just begun."""
        argv = [sys.executable, "-m", "runtime.boot", "up"]
        return subprocess.Popen(argv, cwd=BASE, env=self.env(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def down(self) -> subprocess.CompletedProcess[str]:
        return self.run("runtime.down")

    def runs(self) -> int:
        """How many runs there are, asked as the application."""
        with psycopg.connect(read_env_file(self.home)["DATABASE_SWEEP_URL"]) as connection:
            return len(connection.execute("SELECT id FROM runtime_run").fetchall())

    def processes(self) -> list[int]:
        """The process that runs here and everything it started."""
        found = [json.loads((self.home / "up.json").read_text())["pid"]]
        for pid in found:
            with suppress(FileNotFoundError):  # a session of the database may end meanwhile
                found += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        return found

    def health(self) -> dict[str, str]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=10) as response:
            return json.load(response)

    def passwords(self) -> list[str]:
        return list(json.loads((self.home / "demo.json").read_text())["people"].values())

    def logged(self, *words: str) -> list[str]:
        """Those of the words that stand in some log."""
        logs = "".join(log.read_text(errors="replace") for log in (self.home / "log").iterdir())
        return [word for word in words if word in logs]

    def keys(self) -> str:
        return (self.home / "keys.json").read_text()


@pytest.fixture
def place() -> Iterator[Place]:
    made = Place()
    yield made
    made.down()
    made.up("--reset", PORT="none")
    shutil.rmtree(made.home)


def other_keys(keys: str) -> str:
    """The key file of another Placet."""
    return json.dumps({**json.loads(keys), "PLACET_KEYS": f"1:{os.urandom(32).hex()}"})


ALL_WELL = {"database": "ok", "broker": "ok", "workers": "ok", "sweep": "ok"}


@pytest.mark.lasts(60)
def test_up_killed_up_again_down_and_over(place):
    """Everything is killed outright; the next start goes on with the same data (AP-U1, DU-E12).

    No log has a password.
    """
    first = place.up()
    assert first.returncode == 0, first.stdout + first.stderr
    assert f"http://localhost:{place.port}" in first.stdout
    assert "dana@northwind.example" in first.stdout
    assert place.health() == ALL_WELL
    assert any(word in first.stdout for word in place.passwords()) and not place.logged(*place.passwords())
    keys, runs = place.keys(), place.runs()
    assert runs > 0

    killed = place.processes()
    for pid in killed:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert until(lambda: not any(map(is_alive, killed)), seconds=20)

    second = place.up()
    assert second.returncode == 0, second.stdout + second.stderr
    assert place.health() == ALL_WELL
    assert (place.keys(), place.runs()) == (keys, runs)

    again = place.up()
    assert (again.returncode, "runs here already" in again.stdout) == (0, True)

    running = place.processes()
    assert "Nothing was lost" in place.down().stdout
    assert until(lambda: not any(map(is_alive, running)), seconds=20)
    assert "not running" in place.down().stdout

    (place.home / "keys.json").write_text(other_keys(keys))
    refused = place.up()
    assert (refused.returncode, "is not the key 1 that these data were made with" in refused.stdout) == (1, True)

    place.up("--reset", PORT="none")
    assert not (place.home / "keys.json").exists()
    assert not (place.home / "servers.json").exists()


@pytest.mark.lasts(20)
def test_servers_that_the_environment_names_replace_the_embedded_ones(place, committed_db, broker):
    given = SERVERS.environment(committed_db)
    up = place.up(**given)
    assert up.returncode == 0, up.stdout + up.stderr
    assert ("Database" in up.stdout, "Broker" in up.stdout) == (False, False)
    assert place.health() == ALL_WELL
    assert not (place.home / "servers.json").exists()
    assert read_env_file(place.home)["DATABASE_URL"] == given["DATABASE_URL"]


def test_ctrl_c_while_it_starts_leaves_nothing_running(place):
    running = place.begin()
    assert until(lambda: (place.home / "log" / "prepare.log").exists(), seconds=30)
    started = place.processes()
    running.send_signal(signal.SIGINT)
    assert running.wait(30) == 0
    assert until(lambda: not any(map(is_alive, started)), seconds=20)


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"PLACET_ENV": "production"}, "run what the Procfile says"),
        ({"PORT": "eighty"}, "PORT is 'eighty'; it must be a number"),
        ({"DATABASE_URL": "postgresql://a:b@127.0.0.1/c"}, "DATABASE_OWNER_URL, DATABASE_SWEEP_URL must be set too"),
    ],
)
def test_a_variable_that_cannot_be_meant_is_a_sentence(place, variables, sentence):
    refused = place.up(**variables)
    assert refused.returncode == 1
    assert sentence in refused.stdout
    assert "Traceback" not in refused.stdout + refused.stderr


def test_reset_never_empties_a_database_of_someone_else(place):
    refused = place.up("--reset", DATABASE_URL="postgresql://a:b@127.0.0.1/c")
    assert "never empties a database" in refused.stdout


def test_a_busy_port_that_was_asked_for_is_a_sentence(place):
    with socket.create_server(("127.0.0.1", place.port)):
        refused = place.up()
    assert refused.returncode == 1
    assert f"Port {place.port} is taken" in refused.stdout


def test_a_lost_key_file_is_a_sentence_and_no_new_keys(place):
    (place.home / "postgres-18").mkdir()
    refused = place.up()
    assert "its keys seal the data here" in refused.stdout
    assert not (place.home / "keys.json").exists()
    (place.home / "postgres-18").rmdir()
