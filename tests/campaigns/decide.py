"""`bin/bench decide`: from a decision that is posted over HTTP to the tool that is called, by the recorder's clock.

Half of the rounds are measured while four runs wait for a slow tool; a bare Celery round trip is measured beside it, so
that a slow machine is not mistaken for a slow Placet.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any, Final

from runtime import runs
from tests.campaigns import furniture, pings
from tests.campaigns.figures import milliseconds, percentile
from tests.campaigns.stage import DANA, WORKSPACE, Stage, tell
from tests.campaigns.visitors import Visitor, visitors

ROUNDS: Final = 100
BUSY: Final = 4
TARGET: Final = 0.060
"""Seconds that the median may take, idle or busy."""


def run(stage: Stage, options: argparse.Namespace) -> tuple[bool, dict[str, Any]]:
    """Measure; ok when both medians are under the target."""
    rounds = options.rounds or ROUNDS
    stage.start()
    dana = visitors(stage.stack.url, stage.home, WORKSPACE, DANA)[0]
    tell("Warming up …")
    measure(stage, dana, 10)
    tell(f"{rounds} decisions with idle workers …")
    quiet = measure(stage, dana, rounds)
    tell(f"{rounds} decisions while {BUSY} runs wait for a slow tool …")
    busy, waiting = while_busy(stage, dana, rounds)
    tell("Bare round trips through the broker …")
    celery = pings.round_trips(stage.stack, rounds)
    figures = {
        "n": len(quiet),
        "p50_ms": milliseconds(statistics.median(quiet)),
        "p95_ms": milliseconds(percentile(quiet, 95)),
        "busy_p50_ms": milliseconds(statistics.median(busy)),
        "busy_p95_ms": milliseconds(percentile(busy, 95)),
        "busy_runs": round(waiting, 1),
        "celery_p50_ms": milliseconds(statistics.median(celery)),
    }
    return max(statistics.median(quiet), statistics.median(busy)) < TARGET, figures


def measure(stage: Stage, visitor: Visitor, rounds: int) -> list[float]:
    """Seconds from post to call, for so many decisions, one after the other."""
    return [once(stage, visitor) for _ in range(rounds)]


def once(stage: Stage, visitor: Visitor) -> float:
    """Let a call be held, approve it, and see when the tool was called."""
    before = len(stage.recorder.of("/note"))
    chain = furniture.play(("campaign.note", {"text": f"note {before}"})).public_id
    approval = furniture.held(chain)
    form = visitor.read(approval)
    assert form is not None
    posted = time.time()
    answer = visitor.post(approval, form)
    assert answer.status_code == 302
    return stage.recorder.wait_for("/note", before + 1)[before].at - posted


def while_busy(stage: Stage, visitor: Visitor, rounds: int) -> tuple[list[float], float]:
    """The same while other runs wait for a slow tool; also how many of them did, on average."""
    calls = [("campaign.slow", {"text": str(number)}) for number in range(100)]
    slow = [furniture.play(*calls) for _ in range(BUSY)]
    stage.recorder.wait_for("/slow", BUSY)
    taken, waiting = [], []
    for _ in range(rounds):
        waiting.append(stage.recorder.waiting)
        taken.append(once(stage, visitor))
    for each in slow:
        runs.cancel(each, by="system", reason="Measured.")
    stage.recorder.let_go.set()
    return taken, statistics.mean(waiting)
