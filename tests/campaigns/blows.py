"""Blows: which process is ended when, and how it comes back.

A *point* is a named place in the protocol (`runtime/crashpoints.py`): the worker ends itself there, or stops there
while another process is ended, or sleeps there until somebody else has done its work. All other blows fall at random.
"""

from __future__ import annotations

import os
import random
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from approvals import rows
from runtime.children import until
from runtime.crashpoints import POINTS
from runtime.processes import Process
from runtime.runs import Run
from runtime.stack import Child, Stack
from tests.campaigns.bundles import Bundle
from tests.campaigns.furniture import stubbornly
from tests.campaigns.refunds import Refund
from tests.campaigns.stage import Stage, tell

OTHERS: Final = ("web", "sweep", "broker", "database")
VICTIMS: Final = ("runs", *OTHERS)
LONGEST: Final = 1.5
"""Seconds after its start within which a refund is hit at random: a little longer than it takes undisturbed."""
SOON: Final = 40.0
"""Seconds within which a worker has to come to its point: longer than a lease, since it may have to take a run over."""
STARTUP: Final = 90.0
"""Seconds that a worker may take to start, on a machine that is busy with other things."""
DOWN: Final = 0.3
ELSEWHERE: Final = ("stop.", "pass.", "later.", "sleep.", "refuse.")
COME_TO: Final = frozenset(point for point in POINTS if not point.startswith(ELSEWHERE))
"""The points that these runs come to: none has a breakpoint, waits before it is sent, or a budget nobody raises."""
SLEEPS: Final = ("step.before", "intent.after", "send.before", "send.after", "result.before")


@dataclass(frozen=True)
class Blow:
    """One blow: at a point, or after a delay. ``sleep``: the worker is not ended but sleeps until it is overtaken;
    ``throw``: an error that nobody expects is raised there, and the worker lives on."""

    victim: str
    point: str = ""
    delay: float = 0.0
    sleep: bool = False
    throw: bool = False

    def __str__(self) -> str:
        how = "asleep" if self.sleep else "thrown out" if self.throw else "killed"
        return f"{self.victim} {how} " + (f"at {self.point}" if self.point else f"after {self.delay:.2f} s")

    @property
    def arming(self) -> str:
        """PLACET_CRASH_AT of the worker."""
        if not self.point:
            return ""
        if self.throw:
            return f"{self.point}:throw"
        return self.point if self.victim == "runs" and not self.sleep else f"{self.point}:stop"


def plan(rounds: int, rng: random.Random) -> list[Blow]:
    """So many blows: the worker at every point first, then of the rest half at a random moment, a few workers that
    sleep, some that are thrown out, and other processes at points."""
    points = rng.sample(sorted(COME_TO), len(COME_TO))
    first = [Blow("runs", point) for point in points[:rounds]]
    rest = rounds - len(first)
    sleepers = [Blow("runs", rng.choice(SLEEPS), sleep=True) for _ in range(-(-rest // 30))]
    thrown = [Blow("runs", rng.choice(sorted(COME_TO)), throw=True) for _ in range(rest // 6)]
    pairs = [Blow(victim, point) for victim in OTHERS for point in sorted(COME_TO)]
    others = rng.sample(pairs, min(len(pairs), rest // 4))
    victims = [victim for _ in range(rest) for victim in rng.sample(VICTIMS, len(VICTIMS))]
    moments = rest - len(sleepers) - len(others) - len(thrown)
    return [
        *first,
        *others,
        *sleepers,
        *thrown,
        *(Blow(victims[n], delay=rng.uniform(0, LONGEST)) for n in range(moments)),
    ]


class Striker:
    """Arms the worker, strikes, and brings back what was ended. In the main thread alone: children die with the thread
    that started them. A worker that runs already is stopped: it could not be armed."""

    def __init__(self, stage: Stage, *, hasten: bool = False) -> None:
        self.stack, self.hasten = stage.stack, hasten
        self.missed: list[str] = []
        self._order = stage.home / "crash-at"
        self.stack.children["runs"].env["PLACET_CRASH_AT"] = f"@{self._order}"
        self.stack.stop("runs")

    def arm(self, arming: str) -> None:
        """Have the worker end or stop itself there, once. Before the refund sets off."""
        if not self.stack.alive("runs"):
            start_worker(self.stack)
        draft = self._order.with_suffix(".new")
        draft.write_text(arming)
        draft.replace(self._order)

    def strike(self, blow: Blow, refund: Refund | Bundle) -> None:
        """Let the blow fall on a refund that has just set off, and bring back what it ended."""
        if not blow.point:
            time.sleep(blow.delay)
            refund.hit(str(blow))
            self._end(blow.victim)
        elif blow.throw:
            if not until(lambda: not self._order.exists(), seconds=SOON, every=0.02):
                self.missed.append(str(blow))
                self._order.unlink(missing_ok=True)
            refund.hit(str(blow))
        elif blow.victim == "runs" and not blow.sleep:
            if not self.stack.wait_until_ended("runs", SOON):
                self.missed.append(str(blow))
            refund.hit(str(blow))
            self._end("runs")
        else:
            self._while_stopped(blow, refund)

    def _end(self, victim: str) -> None:
        """End a process outright, if it has not ended yet, and start it again a moment later; a worker unarmed."""
        process = self.stack.children[victim].process if victim in self.stack.children else None
        self.stack.kill(victim)
        self._order.unlink(missing_ok=True)
        if victim == "runs" and process and self.hasten:
            end_leases(process.pid)
        time.sleep(DOWN)
        self.stack.start(victim)

    def _while_stopped(self, blow: Blow, refund: Refund | Bundle) -> None:
        process = self.stack.children["runs"].process
        assert process is not None
        if not until(lambda: stopped(process.pid), seconds=SOON, every=0.01):
            self.missed.append(str(blow))
            refund.hit(str(blow))
            self._end("runs")
            return
        refund.hit(str(blow))
        if blow.sleep:
            self._overtake(refund)
        else:
            self._end(blow.victim)
        os.kill(process.pid, signal.SIGCONT)
        if second := self.stack.children.get("runs-2"):
            time.sleep(1)
            self.stack.stop(second.name)
            del self.stack.children[second.name]

    def _overtake(self, refund: Refund | Bundle) -> None:
        """Let a second worker do what the sleeper was at. The sleeper wakes up and believes that it is its turn."""
        tell("  … until its lease has run out and another has done its work")
        second = Child("runs-2", self.stack.children["runs"].argv)
        self.stack.children[second.name] = second
        start_worker(self.stack, second.name)
        until(refund.is_over, seconds=90, every=0.5)

    def rest(self) -> None:
        """Nothing is armed any more, and everything runs."""
        self._order.unlink(missing_ok=True)
        self.stack.start(*VICTIMS)


def end_leases(pid: int) -> None:
    """Skip the time until the leases of a dead worker run out. Nothing else is changed."""
    held = Run.objects.filter(status="in_progress", lease_owner__contains=f":{pid}:")
    stubbornly(lambda: held.update(lease_until=rows.Now()))


def start_worker(stack: Stack, name: str = "runs") -> None:
    """Start a worker and wait until it says that it works, or until it has died of its first run."""
    before = workers()
    stack.start(name)
    until(lambda: bool(stubbornly(workers) - before) or not stack.alive(name), seconds=STARTUP)


def workers() -> set[str]:
    """The names of all workers that have said so."""
    return set(Process.objects.filter(kind="runs").values_list("name", flat=True))


def stopped(pid: int) -> bool:
    """Whether a process sleeps by SIGSTOP."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "Tt"
    except OSError:
        return False
