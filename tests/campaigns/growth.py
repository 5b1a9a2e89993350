"""What a benchmarked run does: each step adds messages to its state. The same words for us and for every rival.

Only `Grower` needs Placet; the words are drawn with the standard library alone.
"""

from __future__ import annotations

import random
from functools import cache

WORDS = 3000
TEXTS = 50


@cache
def texts(size: int) -> list[str]:
    """Texts of so many characters, made of words as frequent as in a language: they compress as English does."""
    draw = random.Random(7)
    letters = "etaoinshrdlucmfwypvbgk"
    words = ["".join(draw.choice(letters) for _ in range(draw.randint(2, 9))) for _ in range(WORDS)]
    weights = [1 / (rank + 1) for rank in range(WORDS)]
    return [" ".join(draw.choices(words, weights, k=size // 2 + 1))[:size].ljust(size) for _ in range(TEXTS)]


def text(size: int, number: int) -> str:
    """One of them, another one each time."""
    return texts(size)[number % TEXTS]
