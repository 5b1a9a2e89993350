"""Places: what stands in the bar of every page, in its order, and who sees it. The pages themselves are elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.urls import reverse

from approvals.people import Person, Workspace

Asked = Callable[[Workspace, Person], Any]
ORDER: Final = ("inbox", "runs", "attention", "ledger", "policy", "tools", "people")


@dataclass(frozen=True)
class Place:
    """``key`` is one of ORDER, and what a view calls ``here``; ``path`` the name of its address in a workspace.
    ``seen`` says who sees it, ``count`` how many things wait there (nothing is shown for none)."""

    key: str
    word: str
    path: str
    seen: Asked = lambda workspace, person: True
    count: Asked | None = None


PLACES: Final[dict[str, Place]] = {}


def add(place: Place) -> None:
    """Each app adds its own when it is ready. Raises ValueError where ORDER does not know it."""
    if place.key not in ORDER:
        raise ValueError(f"{place.key} has no order among the places.")
    PLACES[place.key] = place


@dataclass(frozen=True)
class Link:
    """A place as one reader sees it."""

    key: str
    word: str
    address: str
    count: Any


def of(workspace: Workspace, person: Person) -> Iterator[Link]:
    """The places that the person sees in the workspace."""
    for place in sorted(PLACES.values(), key=lambda one: ORDER.index(one.key)):
        if place.seen(workspace, person):
            count = place.count(workspace, person) if place.count else None
            yield Link(place.key, place.word, reverse(place.path, args=[workspace.slug]), count)
