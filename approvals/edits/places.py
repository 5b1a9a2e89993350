"""Values by their JSON pointers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from approvals.ledger import canonical


class Absent:
    """No value at all: neither null nor empty."""

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        return False


ABSENT: Final = Absent()


def at(value: Any, pointer: str | None) -> Any:
    """The value at a pointer, or ABSENT. None as pointer is the place of something that was not there before."""
    for part in canonical.split(pointer) if pointer is not None else ():
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and is_index(part) and int(part) < len(value):
            value = value[int(part)]
        else:
            return ABSENT
    return ABSENT if pointer is None else value


def below(pointer: str, part: str | int) -> str:
    """The pointer of a member or an entry."""
    return pointer + canonical.join([part])


def is_index(part: str) -> bool:
    return part.isascii() and part.isdigit() and (part == "0" or not part.startswith("0"))


def within(pointer: str, places: Iterable[str]) -> bool:
    """Whether the pointer is one of the places or lies inside one."""
    return any(pointer == place or pointer.startswith(place + "/") for place in places)


def reaches(pointer: str, places: Iterable[str]) -> bool:
    """Whether one of the places lies inside the pointer's value."""
    return any(place.startswith(pointer + "/") for place in places)


def size(value: Any) -> int:
    """How many values there are, the containers among them. Without recursion: no depth is too much."""
    return sum(1 for _ in _walk(value))


def _walk(value: Any) -> Iterator[Any]:
    waiting = [value]
    while waiting:
        value = waiting.pop()
        yield value
        if isinstance(value, dict | list):
            waiting.extend(value.values() if isinstance(value, dict) else value)
