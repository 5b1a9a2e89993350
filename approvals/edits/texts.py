"""Arguments as indented JSON text: numbers in their canonical form, members in the order people read them."""

from __future__ import annotations

from collections.abc import Callable

from approvals.edits.display import DOTS
from approvals.edits.view import View
from approvals.ledger import canonical

Cover = Callable[[View], str | None]
"""What to write in the place of a value, or None to write the value."""


def pretty(place: View, cover: Cover) -> str:
    """The value as JSON text with two spaces a level; `cover` may put something else in the place of any value."""
    return _written(place, cover, "\n")


def masked_text(place: View) -> str:
    """The value as JSON text for reading, with dots for every secret in it. It is not meant to be read back."""
    return pretty(place, lambda inner: f'"{DOTS}"' if inner.secret else None)


def _written(place: View, cover: Cover, margin: str) -> str:
    covered = cover(place)
    if covered is not None:
        return covered
    if isinstance(place.value, dict):
        inner = [f"{_scalar(child.name)}: {_written(child, cover, margin + '  ')}" for child in place.children()]
        return _bracketed("{", inner, "}", margin)
    if isinstance(place.value, list):
        return _bracketed("[", [_written(child, cover, margin + "  ") for child in place.children()], "]", margin)
    return _scalar(place.value)


def _bracketed(start: str, inner: list[str], end: str, margin: str) -> str:
    between = margin + "  "
    return start + between + f",{between}".join(inner) + margin + end if inner else start + end


def _scalar(value: object) -> str:
    return canonical.encode(value).decode()
