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

from runtime.children import is_alive, until
from runtime.stack import BASE
from tests.campaigns.blows import COME_TO, VICTIMS, plan
from tests.campaigns.figures import percentile

PROGRAM = [sys.executable, "-m", "tests.campaigns"]


def small(*names: str, seconds: float) -> list[dict[str, Any]]:
    """Run these in small on one stage and return their figures; shows their progress if the test fails."""
    done = subprocess.run([*PROGRAM, "small", *names], cwd=BASE, capture_output=True, text=True, timeout=seconds)
    print(done.stderr, done.stdout)
    figures = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(each["ok"] for each in figures) is (done.returncode == 0)
    assert [each["name"] for each in figures] == [f"small {name}" for name in names]
    return figures


@pytest.mark.lasts(120)
def test_every_process_may_be_killed_and_each_refund_is_paid_once() -> None:
    """AP-D3, AP-P6, AP-U1, RL-11: SIGKILL at every point and at random; one effect, nothing lost, all complete.
    DU-L21, DU-C4: also of parallel calls of every effect class, and no answer of a model is paid for twice.
    AP-U16: FLUSHALL while ten approvals wait for a worker; all run within two sweeps of its coming, once each.
    DU-E1: some are held, some decided and on their way, when the database restarts and every connection ends."""
    (figures,) = small("kill", seconds=1200)
    assert figures["ok"] and figures["rounds"] == 20
    assert figures["duplicate_effects_keyed"] == figures["unfinished"] == figures["lost_decisions"] == 0
    assert figures["sends_without_decision"] == figures["repaid_model_calls"] == figures["offending"] == 0


@pytest.mark.lasts(120)
def test_the_other_campaigns_hold_in_small() -> None:
    """AP-D1, AP-D16, DS-1, AZ-4, AU-3: races over HTTP, then decide, step, cancel and expire on the same few runs.
    AP-E1, AP-E2, AP-E4, AP-E7, AP-E8, AP-E9, AP-X1, AP-X2: our own tools, in the shapes that published ones have.
    CH-B126: each is shown whole, and what arrives is what was shown. Each edit is made once more by hand, in a browser.
    T31, DU-L31, DU-S6, DU-S12, AU-4, AU-5, IN-A4, IN-A6: rows changed past Placet; each caught, nothing sent.
    CH-B105: a list costs as many questions to the database as an empty one, however many wait.
    Whether the figures of the benchmarks are good is for a quiet machine to say."""
    names = ("decide", "idle", "inbox", "race", "steps", "tools", "forms", "tamper")
    decide, idle, inbox, race, steps, tools, forms, tamper = small(*names, seconds=1200)
    assert decide["n"] == 5 and 0 < decide["p50_ms"] <= decide["p95_ms"] and decide["celery_p50_ms"] > 0
    assert idle["runs"] >= 5 and 0 < idle["rss_mb"] < 700 and idle["cpu_percent"] >= 0
    assert inbox["queries"] == inbox["queries_when_empty"] and inbox["ledger_entries"] > 100
    assert steps["ours"]["steps_per_s"] > 0 and 0 < steps["ours"]["bytes_per_step"] <= 4000  # DU-L47
    assert steps["read_ms"] > 0 and steps["four_workers_ratio"] > 0 and 0 < steps["worker_rss_mb"] < 400
    assert race["ok"] and race["rounds"] == 12
    assert race["double_winners"] == race["stuck_quorums"] == race["deadlocks"] == race["sent_wrongly"] == 0
    assert race["deciders"] == 16 and sum(race["ended"].values()) == 12
    assert tools["ok"] and (tools["admitted"], tools["calls"], tools["exact"]) == (10, 11, 11)
    assert tools["invalid_edits"] == tools["refused_edits_at_field"] == 10
    assert forms["ok"] and forms["rendered"] == 10 and forms["calls"] == forms["exact"] == 10
    assert tamper["ok"] and tamper["classes"] == tamper["caught"] >= 30 and tamper["dispatched"] == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.lasts(15)
def test_an_interrupted_campaign_leaves_nothing_behind(number: signal.Signals, tmp_path: Path) -> None:
    with begun("prove", "race", tmp_path=tmp_path) as process:
        assert until(lambda: len(children(process.pid)) >= 2, seconds=180)
        started = children(process.pid)
        process.send_signal(number)
        assert process.wait(120) == 130
    assert until(lambda: not any(map(is_alive, started)), seconds=20)
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
    assert {blow.point for blow in blows if blow.victim == "runs"} >= COME_TO
    at_random = Counter(blow.victim for blow in blows if not blow.point)
    assert set(at_random) == set(VICTIMS) and sum(at_random.values()) >= 30
    assert any(blow.sleep for blow in blows) and any(blow.throw for blow in blows)


def test_a_seed_gives_the_same_plan_again() -> None:
    assert plan(40, random.Random(7)) == plan(40, random.Random(7)) != plan(40, random.Random(8))


def test_a_percentile_is_one_of_the_values() -> None:
    assert [percentile([3, 1, 2, 4], part) for part in (50, 95, 100)] == [2, 4, 4]
    assert percentile([], 95) == 0
