"""Looks: how a page is looked at. With scripts or without, in light or dark, on a phone, a tablet or a desk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, product
from typing import Final

WIDTHS: Final = (320, 768, 1280)


@dataclass(frozen=True)
class Look:
    """``width`` in CSS pixels."""

    scripts: bool
    scheme: str
    width: int

    @property
    def name(self) -> str:
        return f"{self.scheme}-{self.width}" + ("" if self.scripts else "-plain")


def scripted(look: Look) -> bool:
    return look.scripts


ALL: Final = [Look(*each) for each in product((True, False), ("light", "dark"), WIDTHS)]
PAIRS: Final = [
    Look(True, "light", 1280),
    Look(False, "dark", 320),
    Look(True, "dark", 768),
    Look(True, "light", 320),
    Look(False, "light", 768),
    Look(False, "dark", 1280),
]
"""Every pair of values stands in one of these."""
PICTURES: Final = [Look(True, "light", 1280), Look(True, "dark", 1280), Look(True, "light", 390)]
"""What `bin/screens` takes."""


def looks(each: int) -> Iterator[Sequence[Look]]:
    """For one scene after the other how it is looked at: as PLACET_LOOKS says (``all``, ``pictures``), else by so many
    of the pairs in turn."""
    match os.environ.get("PLACET_LOOKS", ""):
        case "all":
            yield from cycle([ALL])
        case "pictures":
            yield from cycle([PICTURES])
    turn = cycle(PAIRS)
    while True:
        yield [next(turn) for _ in range(each)]
