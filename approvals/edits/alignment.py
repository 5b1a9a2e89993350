"""Two sequences side by side, by the shortest way from one to the other (Myers 1986), within a bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

STEPS_MAX = 1_000
"""Two sequences that differ in more places than this are taken to have nothing in common but their ends."""

Block = tuple[bool, int, int, int, int]
"""Whether the stretch is equal in both, and where it begins and ends in each."""


def blocks(olds: Sequence[Any], news: Sequence[Any]) -> list[Block] | None:
    """Both sequences in stretches, equal and different in turn; None if they differ in too many places.

    Takes time in proportion to their length times the number of differences, whatever they hold.
    """
    head = _common(olds, news)
    tail = _common(olds[head:][::-1], news[head:][::-1])
    a, b = len(olds) - tail, len(news) - tail
    middle = _shortest(olds[head:a], news[head:b])
    if middle is None:
        return None
    equal = [(0, 0, head), *((x + head, y + head, length) for x, y, length in middle), (a, b, tail)]
    return list(_stretches(equal))


def ends(olds: Sequence[Any], news: Sequence[Any]) -> list[Block]:
    """The same with nothing in common but the ends."""
    head = _common(olds, news)
    tail = _common(olds[head:][::-1], news[head:][::-1])
    return list(_stretches([(0, 0, head), (len(olds) - tail, len(news) - tail, tail)]))


def _common(olds: Sequence[Any], news: Sequence[Any]) -> int:
    """How many items are the same from the start."""
    pairs = zip(olds, news, strict=False)
    return next((place for place, (old, new) in enumerate(pairs) if old != new), min(len(olds), len(news)))


def _stretches(equal: list[tuple[int, int, int]]) -> Iterator[Block]:
    """The equal stretches (where in each, how long) with what lies between them."""
    x = y = 0
    for old, new, length in equal:
        if old > x or new > y:
            yield False, x, old, y, new
        if length:
            yield True, old, old + length, new, new + length
        x, y = old + length, new + length


def _shortest(olds: Sequence[Any], news: Sequence[Any]) -> list[tuple[int, int, int]] | None:
    """The equal stretches on the shortest way. ``far`` is how far one comes on each diagonal, kept at every step."""
    width = min(len(olds) + len(news), STEPS_MAX) + 1
    far = [0] * (2 * width + 1)
    kept: list[list[int]] = []
    for step in range(width):
        kept.append(far[width - step - 1 : width + step + 2])
        for k in range(-step, step + 1, 2):
            down = k == -step or (k != step and far[width + k - 1] < far[width + k + 1])
            x = far[width + k + 1] if down else far[width + k - 1] + 1
            y = x - k
            while x < len(olds) and y < len(news) and olds[x] == news[y]:
                x, y = x + 1, y + 1
            far[width + k] = x
            if x >= len(olds) and y >= len(news):
                return _way_back(kept, len(olds), len(news))
    return None


def _way_back(kept: list[list[int]], x: int, y: int) -> list[tuple[int, int, int]]:
    found = []
    for step in range(len(kept) - 1, -1, -1):
        far, middle, k = kept[step], step + 1, x - y
        down = k == -step or (k != step and far[middle + k - 1] < far[middle + k + 1])
        before = k + 1 if down else k - 1
        old = far[middle + before] if step else 0
        start = (old if down else old + 1) if step else 0
        if x > start:
            found.append((start, start - k, x - start))
        x, y = old, old - before
    return found[::-1]
