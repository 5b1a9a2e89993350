"""Processes by name: started, killed, restarted, and never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.children import is_alive, until
from runtime.stack import BASE, Child, Stack, commands

SLEEPS = (sys.executable, "-c", "import signal\nprint('up', flush=True)\nsignal.pause()")
FALLS = (sys.executable, "-c", "raise SystemExit(3)")


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def small(tmp_path, said) -> Iterator[Stack]:
    """A stack of two processes that need nothing."""
    made = Stack(tmp_path, {}, port=1, extra=[Child("sleeper", SLEEPS), Child("faller", FALLS)], say=said.append)
    yield made
    made.stop()


def test_the_procfile_is_what_runs():
    assert set(commands()) == {"web", "runs", "sweep"}
    assert all("PLACET_PROCESS=" in command[-1] or "manage.py" in command[-1] for command in commands().values())


def test_one_process_is_killed_and_started_by_name(small):
    small.start("sleeper")
    first = small.children["sleeper"].process.pid
    small.kill("sleeper")
    assert not small.alive("sleeper")
    small.start("sleeper")
    assert small.children["sleeper"].process.pid != first


def test_what_falls_is_started_again_later_each_time(small, said, monkeypatch):
    clock = iter(range(0, 100_000, 5))
    monkeypatch.setattr("runtime.stack.time.monotonic", lambda: next(clock))
    small.start("faller")
    for _ in range(3):
        small.children["faller"].process.wait()
        small.turn()
        small.turn()
    assert [line.split(" in ")[1].split(" s.")[0] for line in said] == ["0.5", "1", "2"]
    assert "status 3" in said[0]


def test_what_was_killed_on_purpose_stays_away(small):
    small.start("sleeper")
    small.kill("sleeper")
    small.turn()
    assert not small.alive("sleeper")


def test_one_that_ignores_the_polite_signal_is_killed(tmp_path):
    stubborn = "import signal\nsignal.signal(15, signal.SIG_IGN)\nprint('deaf', flush=True)\nsignal.pause()"
    made = Stack(tmp_path, {}, port=1, extra=[Child("deaf", (sys.executable, "-c", stubborn))])
    made.start("deaf")
    assert until(lambda: "deaf" in (tmp_path / "log" / "deaf.log").read_text(), seconds=20)
    made.stop("deaf", patience=0.2)
    assert not made.alive("deaf")


def test_no_process_outlives_a_parent_that_is_killed_outright(tmp_path):
    parent = f"""
import signal
from pathlib import Path
from runtime.stack import Child, Stack
stack = Stack(Path({str(tmp_path)!r}), {{}}, port=1, extra=[Child("sleeper", {SLEEPS!r})])
stack.start("sleeper")
print(stack.children["sleeper"].process.pid, flush=True)
signal.pause()
"""
    with subprocess.Popen([sys.executable, "-c", parent], cwd=BASE, stdout=subprocess.PIPE, text=True) as running:
        child = int(next(iter(running.stdout or ())))
        os.kill(running.pid, signal.SIGKILL)
    assert until(lambda: not is_alive(child), seconds=10)


@pytest.mark.lasts(25)
def test_the_whole_of_placet_heals_after_every_kill(stack: Stack):
    """AP-U1, DU-E1: web, workers, sweep, broker and database are killed outright, one after the other."""
    stack.start()
    assert stack.wait_healthy()
    for name in ("runs", "sweep", "web", "broker", "database"):
        stack.kill(name)
        assert not stack.alive(name)
        stack.start(name)
        assert stack.wait_healthy(), name
    assert {"web", "runs", "sweep", "payments"} <= set(stack.children)
    assert all(stack.alive(name) for name in stack.children)


def test_logs_hold_no_query_string_and_no_password(stack: Stack):
    stack.start("web")
    assert until(lambda: bool(stack.health()), seconds=60)
    with urllib.request.urlopen(f"{stack.url}/accounts/login/?next=/&token=in-the-query", timeout=20):
        pass
    stack.stop("web")
    written = Path(stack.log / "web.log").read_text()
    assert "GET /accounts/login/" in written
    assert "in-the-query" not in written
