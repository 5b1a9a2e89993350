"""axe: what of WCAG 2.2 AA a program can see that a page breaks."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe

RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]},
    "resultTypes": ["violations"],  # the rest is found too, but not told at length
}

IN_DARK = RULES | {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
"""What a page may break in dark alone: nothing but its colours is otherwise there."""


def problems(page: Any, rules: dict[str, Any] = RULES) -> list[str]:
    """What axe finds, a line each."""
    found = Axe().run(page, options=rules).response["violations"]
    return [
        f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:300]}" for one in found for node in one["nodes"]
    ]


def problems_in_both(page: Any) -> list[str]:
    """The same in light, and of the colours in dark."""
    page.emulate_media(color_scheme="light")
    found = problems(page)
    page.emulate_media(color_scheme="dark")
    return found + [f"dark {line}" for line in problems(page, IN_DARK)]
