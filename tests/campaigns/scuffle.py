"""A scuffle: the same few runs are decided, stepped, cancelled and expired by everybody at once."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import connections

from approvals import gate
from approvals.approvals import Approval
from approvals.decisions import Decided, decide
from runtime import runs
from runtime.children import until
from runtime.runs import Run
from tests.campaigns import furniture
from tests.campaigns.stage import DANA, OPERATOR, PRIYA

FEW: Final = 4
STEPS: Final = 5
LATE: Final = 0.2
"""How often somebody answers what is not open any more."""
PATIENCE: Final = 90.0
"""Seconds in which every run has to come to its end after the scuffle: longer than all its deadlines and a lease."""


@dataclass
class Fight:
    """What was done, what went wrong, and how many runs never came to an end."""

    acts: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    stuck: int = 0


def fight(seed: int, *, seconds: float) -> Fight:
    """Fight on `FEW` runs at a time for so long; then everything has to come to rest by itself."""
    told, over, began = Fight(), threading.Event(), [_begin() for _ in range(FEW)]
    current = list(began)
    parts: list[Callable[[random.Random], str]] = [
        lambda rng: _decide(rng, current, DANA),
        lambda rng: _decide(rng, current, PRIYA),
        lambda rng: _expire(),
        lambda rng: _cancel_or_begin(rng, current, began),
    ]
    threads = [
        threading.Thread(target=copy_context().run, args=(_keep_on, part, random.Random(seed + number), over, told))
        for number, part in enumerate(parts)
    ]
    for thread in threads:
        thread.start()
    over.wait(seconds)
    over.set()
    for thread in threads:
        thread.join(60)
    told.stuck = _stuck(began)
    return told


def _keep_on(part: Callable[[random.Random], str], rng: random.Random, over: threading.Event, told: Fight) -> None:
    try:
        while not over.is_set():
            told.acts[part(rng)] += 1
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        told.errors.append(f"{type(error).__name__}: {error}")
    finally:
        connections.close_all()


def _begin() -> Run:
    return furniture.play(*(("campaign.brief", {"text": str(step)}) for step in range(STEPS)))


def _decide(rng: random.Random, current: list[Run], email: str) -> str:
    """Approve or reject whatever is open just now, or was a moment ago."""
    asked = Approval.objects.filter(chain=rng.choice(current).public_id).order_by("-created_at")
    approval = asked.filter(status="pending").first() or (asked.first() if rng.random() < LATE else None)
    if approval is None:
        return "nothing to decide"
    revision = approval.revisions.get(number=approval.revision)
    person = gate.person_named(email)
    verdict = rng.choice(("approve", "approve", "reject"))
    seen: dict[str, Any] = {"revision": revision.number, "digest": revision.digest, "message": "A scuffle."}
    assert person is not None
    answer = decide(approval.workspace_id, approval.pk, by=person, verdict=verdict, via="web", **seen)
    return f"decided {verdict}" if isinstance(answer, Decided) else f"refused {answer.code}"


def _expire() -> str:
    return "expired" if gate.expire_due() else "nothing to expire"


def _cancel_or_begin(rng: random.Random, current: list[Run], began: list[Run]) -> str:
    """Now and then end one of the runs; put a new one in the place of what has ended."""
    time.sleep(rng.uniform(0.05, 0.3))
    place = rng.randrange(len(current))
    if Run.objects.get(pk=current[place].pk).status in runs.FINAL:
        current[place] = _begin()
        began.append(current[place])
        return "begun"
    if rng.random() < 0.3:
        operator = gate.person_named(OPERATOR)
        assert operator is not None
        done = runs.cancel(current[place], by=operator.public_id, person_id=operator.pk, reason="A scuffle.")
        return "cancelled" if done else "nothing to cancel"
    return "left alone"


def _stuck(began: list[Run]) -> int:
    """How many runs have not come to their end, though every deadline is long over."""
    open_ones = Run.objects.filter(pk__in=[each.pk for each in began]).exclude(status__in=runs.FINAL)
    until(lambda: not open_ones.exists(), seconds=PATIENCE, every=0.5)
    return open_ones.count()
