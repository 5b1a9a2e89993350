"""Rebasing: a draft that was written against one version, on top of another that was switched on meanwhile.

Rule by rule, and word by word at the top: what the author left alone is taken as it is in force now, what only the
author changed stays theirs, and what both changed stays the author's and is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from approvals import policy_source

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Rebased:
    """The document on top of what is in force, and what both sides changed: the names of rules, and of words above
    them."""

    document: dict[str, Any]
    both: tuple[str, ...]


def rebased(base: Document, current: Document, mine: Document) -> Rebased:
    """Three documents with their defaults written out; the answer is a source (`policy_source`)."""
    both: list[str] = []
    top = _merged(_top(base), _top(current), _top(mine), both)
    rules = _merged(_rules(base), _rules(current), _rules(mine), both)
    order = _order(list(_rules(mine)), list(_rules(current)), list(_rules(base)))
    whole = {**top, "rules": [rules[name] for name in order if name in rules]}
    return Rebased(policy_source.source(whole), tuple(both))


def _top(document: Document) -> dict[str, Any]:
    return {word: said for word, said in document.items() if word not in {"rules", "policy"}}


def _rules(document: Document) -> dict[str, Any]:
    return {rule["id"]: rule for rule in document["rules"]}


def _merged(base: dict[str, Any], current: dict[str, Any], mine: dict[str, Any], both: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in dict.fromkeys([*mine, *current]):
        was, theirs, ours = (each.get(name) for each in (base, current, mine))
        if theirs not in (was, ours) and ours != was:
            both.append(name)
        taken = theirs if ours == was else ours
        if taken is not None:
            found[name] = taken
    return found


def _order(mine: list[str], current: list[str], base: list[str]) -> list[str]:
    """The author's order, with rules that are new in force behind the one that they follow there; theirs where the
    author moved nothing."""
    if [name for name in mine if name in base] == [name for name in base if name in mine]:
        mine, current = current, mine
    order = list(mine)
    for index, name in enumerate(current):
        if name not in order:
            follows = next((each for each in reversed(current[:index]) if each in order), None)
            order.insert(order.index(follows) + 1 if follows else 0, name)
    return order
