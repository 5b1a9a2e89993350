"""`bin/bench steps`: steps a second and bytes a step, sealed and chained, beside LangGraph and DBOS on the same server;
reading any state of a long run; four workers beside one; the memory of a worker whose runs have grown large.

With `--rivals` every contender runs in turn, round after round, so that a slow minute of the machine hits all alike.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from runtime.children import until
from runtime.stack import BASE
from tests.campaigns import grower, rivals
from tests.campaigns.figures import milliseconds
from tests.campaigns.idle import family
from tests.campaigns.rivals import grown
from tests.campaigns.stage import Stage, tell

STEPS: Final = 1000
BYTES: Final = 2000
ROUNDS: Final = 3
READS: Final = 200
WORKERS: Final = 4
LARGE_RUNS: Final = 2
MOST: Final = {"bytes_per_step": 4000, "read_ms": 40, "read_last_ms": 60, "worker_rss_mb": 400}
LEAST: Final = {"four_workers_ratio": 1.5, "four_workers_delayed_ratio": 3.0}
OVER: Final = {"dbos": 1.5, "langgraph_delta": 1.0}
"""How many times the steps a second of each rival we want."""


def run(stage: Stage, options: argparse.Namespace) -> tuple[bool, dict[str, Any]]:
    """Measure all; ok when every target that was measured is met."""
    steps, size = options.n or STEPS, options.bytes or BYTES
    stage.stack.stop("runs", "sweep")  # they would take up the runs that are measured here
    with workers(stage, WORKERS) as hired:
        figures = contend(stage, hired[:1], steps, size, options.rounds or ROUNDS, with_rivals=options.rivals)
        tell(f"Reading {READS} states of a run of {steps * 5} steps …")
        figures |= reading(together(hired[:1], steps * 5, size)[0]["run"])
        tell(f"{WORKERS} workers beside one …")
        figures["four_workers_ratio"] = ratio(hired, steps, size)
        with delayed(stage):
            figures["four_workers_delayed_ratio"] = ratio(hired, max(steps // 2, 10), size)
    tell("A worker whose runs hold 10 MB each …")
    figures["worker_rss_mb"] = memory(stage, size, messages=min(5000, steps * 5))
    return not missed(figures), {**figures, "missed": missed(figures)}


def missed(figures: dict[str, Any]) -> list[str]:
    """The targets that were not met."""
    flat = {**figures, "bytes_per_step": figures["ours"]["bytes_per_step"]}
    found = [name for name, most in MOST.items() if flat[name] > most]
    found += [name for name, least in LEAST.items() if flat[name] < least]
    ours = figures["ours"]["steps_per_s"]
    return found + [
        name for name, times in OVER.items() if name in figures and ours < times * figures[name]["steps_per_s"]
    ]


# Steps a second


def contend(
    stage: Stage, hired: list[Worker], steps: int, size: int, rounds: int, *, with_rivals: bool
) -> dict[str, Any]:
    """Medians over the rounds of every contender. The full channel of LangGraph, whose bytes grow with the square of
    the steps, runs once."""
    python = rivals.install() if with_rivals else None
    taken: dict[str, list[dict[str, float]]] = {}
    for number in range(rounds):
        tell(f"Round {number + 1} of {rounds}: {steps} steps of {size} characters …")
        taken.setdefault("ours", []).append(ours(stage, hired, steps, size))
        for name in rivals.PROGRAMS if python else ():
            if name != "langgraph_full" or number == 0:
                assert python is not None
                taken.setdefault(name, []).append(rivals.measure(python, name, rival_database(stage), steps, size))
        tell("  " + ", ".join(f"{name} {steps / each[-1]['seconds']:.0f}/s" for name, each in taken.items()))
    return {name: summary(each, steps) for name, each in taken.items()}


def summary(taken: list[dict[str, float]], steps: int) -> dict[str, float]:
    rates = [steps / each["seconds"] for each in taken]
    return {
        "steps_per_s": round(statistics.median(rates), 1),
        "bytes_per_step": round(statistics.median(each["bytes"] for each in taken) / steps),
    }


def ours(stage: Stage, hired: list[Worker], steps: int, size: int) -> dict[str, float]:
    with stage.servers.postgres.connect("placet") as admin:
        before = grown(admin, "public.%")
        told = together(hired, steps, size)[0]
        return {"seconds": told["seconds"], "bytes": grown(admin, "public.%") - before}


def rival_database(stage: Stage) -> str:
    """The address of a database of the rivals' own, on the same server."""
    with stage.servers.postgres.connect() as admin:
        if admin.execute("SELECT FROM pg_database WHERE datname = 'rivals'").fetchone() is None:
            admin.execute("CREATE DATABASE rivals")
    return stage.servers.postgres.url("superuser", "rivals")


# Workers


Worker = subprocess.Popen[str]


@contextmanager
def workers(stage: Stage, count: int) -> Iterator[list[Worker]]:
    """So many workers that advance a run each whenever they are told to, warmed up."""
    words = [sys.executable, "-m", "tests.campaigns.grower"]
    env = {**stage.stack.environment, "PLACET_PROCESS": "command", "PLACET_LOG_LEVEL": "ERROR"}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    hired = [subprocess.Popen(words, cwd=BASE, env=env, **pipes) for _ in range(count)]
    try:
        together(hired, 20, 200)
        yield hired
    finally:
        for each in hired:
            each.kill()
            each.communicate()


def together(hired: list[Worker], steps: int, size: int) -> list[dict[str, Any]]:
    """Let each of them advance a run of its own, all at once; what they say at the end."""
    for each in hired:
        say(each, f"{steps} {size}")
    assert all(heard(each) == "ready" for each in hired), "a worker did not start"
    for each in hired:
        say(each, "go")
    return [json.loads(heard(each)) for each in hired]


def say(worker: Worker, line: str) -> None:
    assert worker.stdin is not None
    worker.stdin.write(f"{line}\n")
    worker.stdin.flush()


def heard(worker: Worker) -> str:
    assert worker.stdout is not None
    return worker.stdout.readline().strip()


def ratio(hired: list[Worker], steps: int, size: int) -> float:
    """How many times the steps a second of one worker all of them take together; medians of two turns each."""
    rates: dict[int, list[float]] = {1: [], len(hired): []}
    for _ in range(2):
        for count in rates:
            slowest = max(told["seconds"] for told in together(hired[:count], steps, size))
            rates[count].append(count * steps / slowest)
    return round(statistics.median(rates[len(hired)]) / statistics.median(rates[1]), 2)


@contextmanager
def delayed(stage: Stage) -> Iterator[None]:
    """Every commit waits 3 ms for others to join it: a disk on which a flush is dear."""
    with stage.servers.postgres.connect() as admin:
        for setting in ("commit_delay = 3000", "commit_siblings = 0"):
            admin.execute(f"ALTER SYSTEM SET {setting}".encode())
        admin.execute("SELECT pg_reload_conf()")
        try:
            yield
        finally:
            admin.execute("ALTER SYSTEM RESET ALL")
            admin.execute("SELECT pg_reload_conf()")


# Reading


def reading(run_id: str) -> dict[str, float]:
    """Milliseconds to read the state at evenly spread checkpoints of one run, in any order, and at the last."""
    from approvals import rows
    from runtime.runs import Run

    found = Run.objects.get(pk=str(rows.parse_id(Run.PREFIX, run_id)))
    head = found.head_seq
    every = max(2, head // READS)
    spread = list(range(every, head + 1, every))
    random.Random(1).shuffle(spread)
    read(found, head)
    taken, lasts = [read(found, seq) for seq in spread], [read(found, head) for _ in range(5)]
    return {"read_ms": milliseconds(statistics.median(taken)), "read_last_ms": milliseconds(statistics.median(lasts))}


def read(run: Any, seq: int) -> float:
    """Seconds to read the state after a checkpoint; nothing is kept from one reading to the next."""
    from runtime import checkpoints

    began = time.perf_counter()
    folded = checkpoints.read(run.workspace_id, run.pk, seq)
    took = time.perf_counter() - began
    assert len(folded.state["messages"]) == seq - 1
    return took


# Memory


def memory(stage: Stage, size: int, *, messages: int) -> int:
    """The most memory, in MB, that a real worker had resident while it advanced runs of so many messages."""
    from runtime.runs import Run

    modules = stage.stack.environment.get("PLACET_MODULES", "runtime.demo.tickets,runtime.demo.mail,runtime.demo.desk")
    stage.stack.environment["PLACET_MODULES"] = f"{modules},{grower.__name__}"
    many = max(1, messages // 10)
    begun = [grower.begin(10 + 60, size, many=many, bulk=messages).pk for _ in range(LARGE_RUNS)]
    stage.stack.start("runs", "sweep")
    ended = Run.objects.filter(pk__in=begun, status="completed")
    assert until(lambda: ended.count() == len(begun), seconds=300, every=0.2), "the large runs do not end"
    worker = stage.stack.children["runs"].process
    assert worker is not None
    peak = max(_peak(pid) for pid in family(worker.pid))
    stage.stack.stop("runs", "sweep")
    return round(peak / 1024)


def _peak(pid: int) -> int:
    """The most that was ever resident, in kB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)
