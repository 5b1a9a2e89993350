"""`bin/bench idle`: what the whole stack takes while many runs wait for people and nobody comes.

Memory is the sum of the proportional set sizes (PSS) of all processes, so that a page which ten PostgreSQL processes
share is counted once; plain resident sizes would count it ten times. Processor time is that of one core.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any, Final

from runtime.children import until
from runtime.runs import Run
from runtime.stack import Child
from tests.campaigns import furniture
from tests.campaigns.stage import DANA, WORKSPACE, Stage, tell
from tests.campaigns.visitors import visitors

RUNS: Final = 10_000
PERIOD: Final = 60.0
SETTLE: Final = 20.0
MOST_MB: Final = 700
MOST_PERCENT: Final = 5.0
TICKS: Final = os.sysconf("SC_CLK_TCK")
HELPERS: Final = 1
"""Further workers while the runs are made; they are gone when it is measured."""


def run(stage: Stage, options: argparse.Namespace) -> tuple[bool, dict[str, Any]]:
    """Make the runs, let the dust settle, watch; ok when memory and processor time stay under their targets."""
    count, period = options.runs or RUNS, options.period or PERIOD
    stage.start()
    began = time.monotonic()
    make(stage, count)
    tell(f"{count} runs wait after {time.monotonic() - began:.0f} s; their inbox is opened, then nobody comes …")
    dana = visitors(stage.stack.url, stage.home, WORKSPACE, DANA)[0]
    inbox = time.monotonic()
    assert dana.client.get(f"/w/{WORKSPACE}/").status_code == 200
    inbox_ms = round((time.monotonic() - inbox) * 1000)
    with stage.servers.postgres.connect("placet") as admin:
        admin.execute("VACUUM (ANALYZE)")
    time.sleep(min(SETTLE, period))
    used, parts = watch(stage, period)
    memory = {name: round(sum(map(pss, family(pid))) / 2**20) for name, pid in processes(stage).items()}
    megabytes, still = sum(memory.values()), waiting()
    figures = {
        "runs": still,
        "rss_mb": megabytes,
        "rss_is": "sum of PSS",
        "cpu_percent": round(used * 100, 2),
        "memory_mb": memory,
        "cpu_percent_of": {name: round(part * 100, 2) for name, part in parts.items()},
        "first_inbox_ms": inbox_ms,
    }
    return megabytes < MOST_MB and used * 100 < MOST_PERCENT and still >= count, figures


def make(stage: Stage, count: int) -> None:
    """Start so many runs, each of which asks for one approval, and let real workers bring them there."""
    for number in range(HELPERS):
        own = stage.stack.children["runs"]
        helper = Child(f"helper-{number}", own.argv)
        stage.stack.children[helper.name] = helper
        stage.stack.start(helper.name)
    for number in range(count):
        furniture.play(("campaign.note", {"text": f"Note {number}: nobody has looked at it yet."}))
        if (number + 1) % 1000 == 0:
            tell(f"{number + 1} started, {waiting()} wait …")
    assert until(lambda: waiting() >= count, seconds=1800, every=1), "the runs do not come to rest"
    for number in range(HELPERS):
        stage.stack.stop(f"helper-{number}")
        del stage.stack.children[f"helper-{number}"]


def waiting() -> int:
    return Run.objects.filter(status="suspended_approval").count()


# What the kernel says


def processes(stage: Stage) -> dict[str, int]:
    """The first process of every part of the stack."""
    found = {name: child.process.pid for name, child in stage.stack.children.items() if child.process and child.alive}
    servers = {"postgres": stage.servers.postgres.pid, "valkey": stage.servers.valkey.pid}
    return found | {name: pid for name, pid in servers.items() if pid}


def watch(stage: Stage, period: float) -> tuple[float, dict[str, float]]:
    """Cores used over the period: in all, and by each part."""
    parts = processes(stage)
    before, began = {name: ticks(pid) for name, pid in parts.items()}, time.monotonic()
    time.sleep(period)
    took = (time.monotonic() - began) * TICKS
    used = {name: (ticks(pid) - before[name]) / took for name, pid in parts.items()}
    return sum(used.values()), used


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def ticks(pid: int) -> int:
    """Clock ticks that a family of processes has used, with those of its members that have ended and were reaped."""
    return sum(map(_ticks, family(pid)))


def _ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15]))


def pss(pid: int) -> int:
    """The proportional set size of a process in bytes."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
