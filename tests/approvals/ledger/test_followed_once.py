"""Within a block of `once`, a workspace's chain is read once."""

from __future__ import annotations

from approvals import rows
from approvals.ledger import entries, followed
from tests.cast import Cast

NAMES = followed.Followed[tuple[str, ...]](
    ["test.named"], (), lambda last, told: (*last, *(entry["name"] for entry in told))
)


def name(cast: Cast, word: str) -> None:
    with rows.within(cast.northwind):
        entries.append(cast.northwind.pk, followed.CHAIN, "test.named", {"name": word}, by="system")


def test_what_is_added_within_the_block_counts_after_it(cast: Cast) -> None:
    name(cast, "one")
    with rows.reading(cast.northwind.pk), followed.once():
        assert NAMES.of(cast.northwind.pk) == ("one",)
    with rows.reading(cast.northwind.pk):
        with followed.once():
            assert NAMES.of(cast.northwind.pk) == ("one",)
            name(cast, "two")
            assert NAMES.of(cast.northwind.pk) == ("one",)
        assert NAMES.of(cast.northwind.pk) == ("one", "two")


def test_the_first_question_of_a_block_reads(cast: Cast) -> None:
    name(cast, "one")
    with rows.reading(cast.northwind.pk):
        assert NAMES.of(cast.northwind.pk) == ("one",)
        name(cast, "two")
        with followed.once():
            assert NAMES.of(cast.northwind.pk) == ("one", "two")
