"""The words of an approval, made once for every channel: its title, what it measures, and the name of the button.

A summary is a template over argument pointers, rendered anew for each revision, so that a title never lies after an
edit: ``Refund {/amount|money:/currency} to {/customer}``. Filters: ``money`` (minor units; the currency's pointer or
its code, else the sibling ``currency``) and ``count`` (entries of a list or an object, or a whole number as it is). A
tool without a summary gets its title and its first arguments.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from approvals.edits import marks, money, places
from approvals.ledger import canonical

VALUE_MAX = 80
"""The longest value in a title, in characters; more is cut, and the cut is said. The page shows all of it below."""
SENTENCE_MAX = 240
"""The same for a title that is nothing but one value: what an agent asks is its own sentence."""
MENTIONED = 2
"""How many arguments are told of a tool that has no summary."""

_PLACE = re.compile(r"\{((?:/[^{}|/]*)+)(?:\|([a-z]+)(?::((?:/[^{}|/]*)+|[A-Z]{3}))?)?\}")
_NOUNS = frozenset({"refund", "credit", "transfer", "payment", "payout", "charge", "deposit", "discount", "order"})


@dataclass(frozen=True)
class Word:
    """A stretch of a title: the template's own words, or a ``given`` value out of the arguments."""

    text: str
    given: bool = False


@dataclass(frozen=True)
class Card:
    """What a channel says of one revision. ``measure`` is how much it is about, where the summary tells."""

    words: tuple[Word, ...]
    measure: str
    measured: str
    approve: str
    moves_money: bool

    @property
    def title(self) -> str:
        """The sentence as plain text, every invisible character an escape."""
        return marks.escaped("".join(word.text for word in self.words))


def card(summary: str, tool: str, tool_title: str, args: Any, *, secret: Collection[str] = ()) -> Card:
    """The words for these arguments. ``secret`` are the pointers whose values no title may show."""
    words, measures = _fill(summary, args, secret) if summary else (_bare(tool_title or tool, args, secret), [])
    amount = next((text for kind, text, _ in measures if kind == "money"), "")
    count = next(((text, unit) for kind, text, unit in measures if kind == "count"), ("", ""))
    return Card(
        words=tuple(words),
        measure=amount or count[0],
        measured=count[1] if count[1] and not amount else _family(tool),
        approve=_approve(summary, tool_title or tool, amount),
        moves_money=bool(amount),
    )


def names_in(summary: str) -> set[str]:
    """The arguments that a summary can mention, an amount's currency among them."""
    found = [each for place in _PLACE.finditer(summary) for each in place.group(1, 3)]
    pointers = [each for each in found if each and each.startswith("/")]
    return {canonical.split(pointer)[0] for pointer in pointers} | {"currency"}


def _fill(summary: str, args: Any, secret: Collection[str]) -> tuple[list[Word], list[tuple[str, str, str]]]:
    """The words, and of each amount or count among them its kind, its text and the name of its argument."""
    words: list[Word] = []
    measures: list[tuple[str, str, str]] = []
    at = 0
    for place in _PLACE.finditer(summary):
        pointer, kind, extra = place.groups()
        value = places.ABSENT if _covered(pointer, secret) else places.at(args, pointer)
        measure = _measure(kind, value, pointer, extra, args)
        most = SENTENCE_MAX if place[0] == summary else VALUE_MAX
        words += [Word(summary[at : place.start()]), Word(measure or _said(pointer, value, secret, most), given=True)]
        if measure:
            measures.append((str(kind), measure, _name(pointer)))
        at = place.end()
    words.append(Word(summary[at:]))
    return [word for word in words if word.text], measures


def _measure(kind: str | None, value: Any, pointer: str, extra: str | None, args: Any) -> str | None:
    if kind == "money":
        sibling = canonical.join([*canonical.split(pointer)[:-1], "currency"])
        return money.readable(value, money.code_at(args, extra or sibling))
    if kind == "count" and isinstance(value, list | dict | int) and not isinstance(value, bool):
        return f"{value if isinstance(value, int) else len(value):,}"
    return None


def _said(pointer: str, value: Any, secret: Collection[str], most: int) -> str:
    if _covered(pointer, secret):
        return "••••"
    return f"(no {_name(pointer)})" if value is places.ABSENT else _literal(value, most)


def _name(pointer: str) -> str:
    return canonical.split(pointer)[-1]


def _covered(pointer: str, secret: Collection[str]) -> bool:
    return any(pointer == one or pointer.startswith(f"{one}/") or one.startswith(f"{pointer}/") for one in secret)


def _literal(value: Any, most: int = VALUE_MAX) -> str:
    if isinstance(value, str):
        rest = len(value) - most
        return value if rest <= 0 else f"{value[:most]}… (+{rest} characters)"
    if isinstance(value, list):
        return f"{len(value)} {'entry' if len(value) == 1 else 'entries'}"
    if isinstance(value, dict):
        return f"an object of {len(value)}"
    return canonical.encode(value).decode()


def _bare(title: str, args: Any, secret: Collection[str]) -> list[Word]:
    words = [Word(title, given=True)]
    for index, (key, value) in enumerate(list(args.items())[:MENTIONED] if isinstance(args, dict) else []):
        text = "••••" if _covered(canonical.join([key]), secret) else _literal(value)
        words += [Word(", " if index else ": "), Word(key, given=True), Word(" "), Word(text, given=True)]
    return words


def _family(tool: str) -> str:
    return re.split(r"[.:/]", tool, maxsplit=1)[0]


def _approve(summary: str, title: str, amount: str) -> str:
    noun = summary.split(" ", 1)[0].lower()
    if amount:
        return f"Approve {amount} {noun}" if noun in _NOUNS else f"Approve {amount}"
    shown = marks.escaped(title)
    return f"Approve “{shown}”" if len(shown) <= 32 else "Approve this call"


# States in words


def waiting_for(needs: Collection[tuple[str, int]], filled: int) -> str:
    """Who is awaited: ``Waiting for two of Finance``, or for how many more once somebody has voted."""
    left = sum(count for _, count in needs) - filled
    if filled:
        return f"Waiting for {number(left)} more"
    return "Waiting for " + " and ".join(f"{number(count)} of {team}" for team, count in needs)


def number(count: int) -> str:
    """Small numbers as words."""
    words = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[count] if 0 <= count < len(words) else str(count)


def risk_reason(effect: str, *, moves_money: bool) -> str:
    """Why a call deserves care, as far as its definition tells."""
    if moves_money:
        return "moves money, cannot be undone here"
    return {
        "pure": "only reads",
        "keyed": "cannot be undone here",
        "natural": "safe to repeat",
        "lookup": "cannot be undone here",
        "unsafe": "cannot be undone here, and is not safe to repeat",
    }.get(effect, "")
