"""Which tests begin first where several workers share them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pytest

from tests.order import shares


@dataclass(frozen=True)
class Item:
    """A test that takes so many seconds, or is not marked."""

    number: int
    lasts: int = 0

    def get_closest_marker(self, name: str) -> Any:
        return pytest.mark.lasts(self.lasts).mark if self.lasts else None


ITEMS = [*(Item(n) for n in range(8)), Item(8, 50), Item(9, 180), Item(10, 60), Item(11, 100)]


def dealt(items: list[Item], workers: int) -> list[list[Item]]:
    return cast(list[list[Item]], shares(cast(list[pytest.Item], items), workers))


def test_the_longest_begin_first_on_whoever_has_least_to_do() -> None:
    assert [[item.lasts for item in share if item.lasts] for share in dealt(ITEMS, 3)] == [[180], [100], [60, 50]]
    assert all(share[0].lasts for share in dealt(ITEMS, 3))


@pytest.mark.parametrize("workers", [2, 3, 4, 5])
def test_every_test_is_in_one_share_and_the_shares_are_as_large_as_those_of_xdist(workers: int) -> None:
    made = dealt(ITEMS, workers)
    assert sorted(item.number for share in made for item in share) == list(range(12))
    assert [len(share) for share in made] == [(12 + n) // workers for n in range(workers)]


def test_the_short_ones_keep_their_order() -> None:
    assert [item.number for share in dealt(ITEMS, 3) for item in share if not item.lasts] == list(range(8))
