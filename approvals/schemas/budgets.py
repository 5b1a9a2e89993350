"""What one validation may cost. Schemas and values come from outside, and a few lines can ask for years of work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

STEPS = 50_000
"""Steps of one validation. A step: one keyword looked at, or as much time (about 5 µs) on a pattern or comparison."""


class OverBudget(Exception):
    """The validation would take longer than a person can be kept waiting for."""


_left: ContextVar[list[int]] = ContextVar("placet_steps_left")


@contextmanager
def limited(steps: int = STEPS) -> Iterator[None]:
    """Give the block its steps."""
    token = _left.set([steps])
    try:
        yield
    finally:
        _left.reset(token)


def spend(steps: int) -> None:
    """Take steps from the block's budget. Raises OverBudget when none are left."""
    left = _left.get()
    left[0] -= steps
    if left[0] < 0:
        raise OverBudget
