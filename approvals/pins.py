"""Pins: what the arguments of a call pointed to when people were asked, as a code in the header that they vote on.

The code proves that what is found later is the same; what was found cannot be read, or guessed, out of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from approvals.edits.places import ABSENT, at
from approvals.edits.shapes import same
from approvals.ledger import keys
from approvals.schemas import Fault


@dataclass(frozen=True)
class Pin:
    """A code over what was found, the pointers of the arguments that led there, and the tool that read it."""

    code: str
    places: tuple[str, ...]
    reader: str

    @property
    def said(self) -> dict[str, Any]:
        """As it stands in a header under ``target``."""
        return {"code": self.code, "of": list(self.places), "by": self.reader}

    def fits(self, found: bytes) -> bool:
        """Whether this is what was found then. Raises keys.UnknownKey."""
        return keys.holds("commitment", _labelled(found), bytes.fromhex(self.code))


def pin(found: bytes, places: tuple[str, ...], reader: str) -> Pin:
    """The pin for what was found now."""
    return Pin(keys.sign("commitment", _labelled(found)).hex(), places, reader)


def _labelled(found: bytes) -> bytes:
    return b"target\0" + found


def of(header: Mapping[str, Any]) -> Pin | None:
    """The pin in a header, if it has one. What it says is worth as much as the header was proved."""
    said = header.get("target")
    if not isinstance(said, dict) or said.keys() != {"code", "of", "by"}:
        return None
    return Pin(said["code"], tuple(said["of"]), said["by"])


def value_at(args: Any, pointer: str) -> Any:
    """The argument at a pointer; None where there is none."""
    found = at(args, pointer)
    return None if found is ABSENT else found


def moved(header: Mapping[str, Any], before: Any, after: Any) -> tuple[Fault, ...]:
    """What an edit may not change: it would point elsewhere than where anybody looked."""
    found = of(header)
    places = [place for place in (found.places if found else ()) if not _same(at(before, place), at(after, place))]
    told = "What this points to was looked up when it was asked, so it stays. To have another, reject and say which."
    return tuple(Fault(place, "pinned", told) for place in places)


def _same(one: Any, other: Any) -> bool:
    return one is other if one is ABSENT or other is ABSENT else same(one, other)
