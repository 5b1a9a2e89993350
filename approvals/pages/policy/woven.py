"""Two texts as one, word by word: what both have, what only the old one has, and what only the new one has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from approvals.edits.alignment import Block, blocks, ends
from approvals.pages.policy.telling import Part

_WORD: Final = re.compile(r"\d[\d,.:]*\d|[\w.-]*\w|\s+|[^\w\s]")
BETWEEN: Final = " · "


@dataclass(frozen=True)
class Run:
    """A stretch of a text: in both (``same``), in the old one alone (``del``) or in the new one alone (``ins``)."""

    kind: str
    text: str
    look: str = ""


def texts(before: str, after: str) -> tuple[Run, ...]:
    """Two plain texts."""
    return sentences([Part(before)], [Part(after)])


def sentences(before: Sequence[Part], after: Sequence[Part]) -> tuple[Run, ...]:
    """Two sentences, each stretch as it looks in its own."""
    olds, news = _words(before), _words(after)
    found: list[Run] = []
    for equal, a, b, c, d in _stretches(olds, news):
        if equal:
            found += _joined("same", news[c:d])
        else:
            found += [*_joined("del", olds[a:b]), *_joined("ins", news[c:d])]
    return tuple(found)


def lists(before: Sequence[str], after: Sequence[str]) -> tuple[Run, ...]:
    """Two lists of short texts as one line: entries that both have stay whole, and only those between are compared by
    their words."""
    found: list[Run] = []
    for equal, a, b, c, d in _stretches(before, after):
        if equal:
            found += _entries([Run("same", one)] for one in after[c:d])
        elif b - a == d - c:
            found += _entries(texts(old, new) for old, new in zip(before[a:b], after[c:d], strict=True))
        else:
            found += _entries([Run("del", one)] for one in before[a:b])
            found += _entries([Run("ins", one)] for one in after[c:d])
    return tuple(found[:-1])


def _entries(entries: Any) -> Iterator[Run]:
    for runs in entries:
        yield from runs
        yield Run("same", BETWEEN)


def _stretches(olds: Sequence[Any], news: Sequence[Any]) -> list[Block]:
    """Equal and different stretches; a blank between two differences belongs to them."""
    found: list[Block] = []
    every = blocks(olds, news) or ends(olds, news)
    for index, one in enumerate(every):
        between = 0 < index < len(every) - 1 and _is_blank(news[one[3] : one[4]])
        one = (one[0] and not between, *one[1:])
        if found and not one[0] and not found[-1][0]:
            before = found.pop()
            one = (False, before[1], one[2], before[3], one[4])
        found.append(one)
    return found


def _is_blank(words: Sequence[Any]) -> bool:
    return all(isinstance(word, Part) and not word.text.strip() for word in words)


def _words(parts: Sequence[Part]) -> list[Part]:
    return [Part(word, part.look) for part in parts for word in _WORD.findall(part.text)]


def _joined(kind: str, parts: Sequence[Part]) -> Iterator[Run]:
    text, look = "", ""
    for part in parts:
        if part.look != look and text:
            yield Run(kind, text, look)
            text = ""
        text, look = text + part.text, part.look
    if text:
        yield Run(kind, text, look)
