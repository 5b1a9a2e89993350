"""Memory: what a worker had read and verified of a run when it gave it back, for when it gets it again at once.

It is believed only for exactly the head at which it was left: the head's code answers for all before it. Losing it
costs the time of one reading.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from runtime.agents import agent as agents
from runtime.definitions.interrupts import Interrupts
from runtime.leases import Lease
from runtime.snapshots import Stack

RUNS: Final = 4
BYTES: Final = 16 * 1024 * 1024
"""How much is remembered at most: so many runs, whose histories have so many bytes together."""


@dataclass(frozen=True)
class Remembered:
    """A run's state at a head, the node that comes next, the agent, and the snapshots that the state was read from."""

    state: dict[str, Any]
    node: str
    stack: Stack
    agent: agents.Agent
    interrupts: Interrupts


_remembered: Final[OrderedDict[UUID, tuple[bytes, UUID, Remembered]]] = OrderedDict()
_guard: Final = threading.Lock()


def keep(lease: Lease, remembered: Remembered) -> None:
    """Remember where the run's head is now; the oldest memories go."""
    with _guard:
        _remembered[lease.run_id] = (lease.head_mac, lease.version_id, remembered)
        while len(_remembered) > RUNS or sum(_size(each) for _, _, each in _remembered.values()) > BYTES:
            _remembered.popitem(last=False)


def take(lease: Lease) -> Remembered | None:
    """What was remembered of the run, once, if its head is where it was left."""
    with _guard:
        mac, version_id, remembered = _remembered.pop(lease.run_id, (b"", None, None))
    return remembered if remembered and (mac, version_id) == (lease.head_mac, lease.version_id) else None


def _size(remembered: Remembered) -> int:
    return remembered.stack.size + remembered.stack.weight
