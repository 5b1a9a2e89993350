"""Many readers: two hundred open pages listen for news, and a pool of five connections still serves every page."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from runtime.children import until
from runtime.stack import Stack
from tests.browsers import session_of
from tests.cast import Cast
from tests.scenes import places

pytestmark = [pytest.mark.committed, pytest.mark.usefixtures("heard")]
STREAMS = 200
POOL = 5


async def visit(site: str, sessions: dict[Any, dict[str, str]], dana: Any, scenes: list[places.Scene]) -> list[str]:
    """Open the streams, then every page; the pages that do not answer as they should."""
    limits = httpx.Limits(max_connections=STREAMS + 10)
    async with httpx.AsyncClient(base_url=site, timeout=30, limits=limits, trust_env=False) as client:
        streams = [client.stream("GET", f"{places.HOME}/live", headers=sessions[dana.pk]) for _ in range(STREAMS)]
        answers = [await stream.__aenter__() for stream in streams]
        assert {answer.status_code for answer in answers} == {200}
        wrong = []
        for name, who, path, status in scenes:
            answer = await client.get(path, headers=sessions[who.pk] if who else {}, follow_redirects=True)
            wrong += [] if answer.status_code == status else [f"{name}: {answer.status_code}"]
        for stream in streams:
            await stream.__aexit__(None, None, None)
    return wrong


def test_every_page_answers_beside_two_hundred_streams(cast: Cast, stack: Stack) -> None:
    stack.environment["PLACET_POOL"] = str(POOL)
    stack.start("web")
    assert until(lambda: "database" in stack.health(), seconds=60)
    scenes = list(places.of(cast))
    readers = {who.pk: who for who in (cast.dana, *(scene[1] for scene in scenes)) if who}
    sessions = {key: {"Cookie": f"sessionid={session_of(who)}"} for key, who in readers.items()}
    assert asyncio.run(visit(stack.url, sessions, cast.dana, scenes)) == []
