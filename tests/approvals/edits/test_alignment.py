"""The shortest way from one sequence to another, found in bounded time."""

from __future__ import annotations

import time
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from approvals.edits.alignment import STEPS_MAX, blocks, ends

FEW = st.lists(st.sampled_from("abc"), max_size=12)


@given(FEW, FEW)
@settings(max_examples=300, deadline=None)
def test_the_stretches_make_up_both_and_share_as_much_as_can_be(olds: list[str], news: list[str]) -> None:
    """RN-15: nothing lost, nothing twice, and no change told that need not be."""
    found = blocks(olds, news)
    assert found is not None
    assert [item for _, a, b, _, _ in found for item in olds[a:b]] == olds
    assert [item for _, _, _, c, d in found for item in news[c:d]] == news
    assert all(olds[a:b] == news[c:d] for equal, a, b, c, d in found if equal)
    assert sum(b - a for equal, a, b, _, _ in found if equal) == longest(tuple(olds), tuple(news))


def test_sequences_with_little_in_common_share_their_ends() -> None:
    """JS-3: beyond so many differences the search stops."""
    olds, news = ["head", *range(2000), "tail"], ["head", *range(5000, 7000), "tail"]
    began = time.process_time()
    assert blocks(olds, news) is None
    assert time.process_time() - began < 10
    assert [block[0] for block in ends(olds, news)] == [True, False, True]
    assert STEPS_MAX < 4000


@cache
def longest(olds: tuple[str, ...], news: tuple[str, ...]) -> int:
    """The length of the longest common subsequence, the slow and certain way."""
    if not olds or not news:
        return 0
    if olds[0] == news[0]:
        return 1 + longest(olds[1:], news[1:])
    return max(longest(olds[1:], news), longest(olds, news[1:]))
