"""What a page weighs: with sheets and scripts, over the wire, at somebody's first visit."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cast import Cast
from tests.scenes import places

pytestmark = [pytest.mark.committed, pytest.mark.usefixtures("heard")]
MOST = 60_000
"""Bytes, compressed."""


def weight(page: Any, path: str) -> int:
    """How many bytes arrive until a page is there, with nothing of it at hand before."""
    protocol, sizes = page.context.new_cdp_session(page), list[int]()
    protocol.send("Network.enable")
    protocol.send("Network.setCacheDisabled", {"cacheDisabled": True})
    protocol.on("Network.loadingFinished", lambda said: sizes.append(said["encodedDataLength"]))
    page.goto(path, wait_until="load")
    protocol.detach()
    return sum(sizes)


def test_no_page_weighs_more_than_sixty_kilobytes(cast: Cast, page_as: Any) -> None:
    pages: dict[Any, Any] = {}
    weights = {}
    for name, person, path, _ in places.of(cast):
        key = person and person.pk
        page = pages.get(key) or pages.setdefault(key, page_as(person))
        weights[name] = weight(page, path)
    assert {name: bytes_ for name, bytes_ in weights.items() if not 1_000 < bytes_ <= MOST} == {}
