"""With several workers, the tests marked `lasts` begin first: none of them is left to one worker at the end.

xdist's `worksteal` first gives every worker an equal share of the list, in its order, and then lets those who are done
take from the others. So the long tests are dealt to the heads of these shares, each to the share that has least to do.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker alone keeps the order of the files."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers > 1:
        items[:] = [item for share in shares(items, workers) for item in share]


def shares(items: Sequence[pytest.Item], workers: int) -> list[list[pytest.Item]]:
    """A share for each worker, of the sizes that xdist makes: its long tests, the longest first, then short ones."""
    heads: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for item in sorted(filter(seconds, items), key=seconds, reverse=True):
        min(heads, key=lambda head: sum(map(seconds, head))).append(item)
    short, left = deque(item for item in items if not seconds(item)), len(items)
    for number, head in enumerate(heads):
        size = left // (workers - number)
        head += [short.popleft() for _ in range(min(len(short), size - len(head)))]
        left -= size
    return heads


def seconds(item: pytest.Item) -> int:
    """About how long a test takes, as its mark says; 0 for one that is not marked."""
    mark = item.get_closest_marker("lasts")
    return int(mark.args[0]) if mark else 0
