"""Figures: percentiles and rounding, the same in every campaign."""

from __future__ import annotations

from collections.abc import Sequence


def percentile(values: Sequence[float], part: int) -> float:
    """The value that so many per cent of all do not exceed; 0 for none."""
    ranked = sorted(values)
    if not ranked:
        return 0.0
    return ranked[max(0, -(-len(ranked) * part // 100) - 1)]


def milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 1)
