"""Every campaign in small, with a fixed seed, against real processes; and what a campaign leaves behind: nothing."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from runtime.children import until
from runtime.crashpoints import POINTS
from runtime.stack import BASE
from tests.campaigns.blows import VICTIMS, plan
from tests.campaigns.figures import percentile

PROGRAM = [sys.executable, "-m", "tests.campaigns"]


def campaign(*words: str, seconds: float) -> dict[str, Any]:
    """Run one and return its last line; shows its progress if the test fails."""
    done = subprocess.run([*PROGRAM, *words], cwd=BASE, capture_output=True, text=True, timeout=seconds)
    print(done.stderr, done.stdout)  # noqa: T201
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert figures["ok"] is (done.returncode == 0)
    return figures


def test_every_process_may_be_killed_and_each_refund_is_paid_once() -> None:
    """AP-D3, AP-P6, AP-U1, RL-11: SIGKILL at every point and at random; one effect, nothing lost, all complete."""
    figures = campaign("prove", "kill", "--rounds", "20", "--seed", "2", "--hasten", seconds=580)
    assert figures["ok"] and figures["rounds"] == 20
    assert figures["duplicate_effects_keyed"] == figures["unfinished"] == figures["lost_decisions"] == 0


def test_of_two_at_the_same_instant_one_wins_and_nobody_is_stuck() -> None:
    """AP-D1, AP-D16, DS-1, AZ-4, AU-3: races over HTTP, then decide, step, cancel and expire on the same few runs."""
    figures = campaign("prove", "race", "--rounds", "30", "--seed", "1", seconds=400)
    assert figures["ok"] and figures["rounds"] == 30
    assert figures["double_winners"] == figures["stuck_quorums"] == figures["deadlocks"] == 0


def test_few_idle_runs_are_measured() -> None:
    """The figures are there; whether they are good is for a quiet machine to say."""
    figures = campaign("bench", "idle", "--runs", "5", "--period", "2", seconds=200)
    assert figures["runs"] >= 5 and 0 < figures["rss_mb"] < 700 and figures["cpu_percent"] > 0


def test_few_decisions_are_measured() -> None:
    figures = campaign("bench", "decide", "--rounds", "5", seconds=200)
    assert figures["n"] == 5 and 0 < figures["p50_ms"] <= figures["p95_ms"] and figures["celery_p50_ms"] > 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_campaign_leaves_nothing_behind(number: signal.Signals, tmp_path: Path) -> None:
    with begun("prove", "race", tmp_path=tmp_path) as process:
        assert until(lambda: len(children(process.pid)) >= 2, seconds=60)
        started = children(process.pid)
        process.send_signal(number)
        assert process.wait(60) == 130
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]
    assert list(tmp_path.iterdir()) == []


@contextmanager
def begun(*words: str, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A campaign that makes its place in the given folder."""
    tmp_path.chmod(0o711)
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen([*PROGRAM, *words], cwd=BASE, env=env, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found]


@pytest.mark.parametrize("rounds", [1, 11, 20, 100])
def test_a_plan_has_as_many_blows_as_rounds(rounds: int) -> None:
    assert len(plan(rounds, random.Random(1))) == rounds


def test_a_plan_comes_to_every_point_and_every_process() -> None:
    blows = plan(100, random.Random(1))
    assert {blow.point for blow in blows if blow.victim == "runs"} >= POINTS
    at_random = Counter(blow.victim for blow in blows if not blow.point)
    assert set(at_random) == set(VICTIMS) and sum(at_random.values()) >= 30
    assert any(blow.sleep for blow in blows)


def test_a_seed_gives_the_same_plan_again() -> None:
    assert plan(40, random.Random(7)) == plan(40, random.Random(7)) != plan(40, random.Random(8))


def test_a_percentile_is_one_of_the_values() -> None:
    assert [percentile([3, 1, 2, 4], part) for part in (50, 95, 100)] == [2, 4, 4]
    assert percentile([], 95) == 0
