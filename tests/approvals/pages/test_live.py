"""The live stream: ids alone, for members alone, without a database connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from django.db import connection, connections

from approvals import looking, people, rows
from approvals.pages import live
from runtime import children
from tests.browsers import session_of
from tests.cast import Cast, ask, refund

pytestmark = [pytest.mark.committed, pytest.mark.usefixtures("broker")]
Listens = Callable[[Callable[[Any], Coroutine[Any, Any, Any]]], Any]


@pytest.fixture
def listens(site: str) -> Callable[..., Any]:
    """`listens(work)`: run a coroutine with an asynchronous client of the site."""

    def run(work: Callable[[Any], Coroutine[Any, Any, Any]]) -> Any:
        async def with_client() -> Any:
            limits = httpx.Limits(max_connections=200)
            async with httpx.AsyncClient(base_url=site, timeout=20, limits=limits) as client:
                return await asyncio.wait_for(work(client), 60)

        # In a thread of its own: where a browser test came first, this one's event loop is the browser's.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, with_client()).result()

    return run


def cookies(person: Any) -> dict[str, str]:
    return {"Cookie": f"sessionid={session_of(person)}"}


async def until(lines: Any, wanted: str) -> str:
    """The stream up to the line that starts so."""
    seen = ""
    async for line in lines:
        seen += line + "\n"
        if line.startswith(wanted):
            return seen
    return seen + "(end)"


def test_a_change_reaches_the_open_page_as_an_id(cast: Cast, listens: Callable[..., Any]) -> None:
    headers = cookies(cast.dana)
    changed = rows.public_id("apr", rows.uuid7())

    async def work(client: Any) -> str:
        async with client.stream("GET", "/w/northwind/live", headers=headers) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            lines = answer.aiter_lines()
            await until(lines, "retry")
            await asyncio.to_thread(rows.publish, cast.halden.pk, rows.public_id("apr", rows.uuid7()))
            await asyncio.to_thread(rows.publish, cast.northwind.pk, changed)
            return await until(lines, f"event: {changed}")

    seen = listens(work)
    assert seen.count("event: apr\n") == 1 and f'data: {{"id": "{changed}"}}' in seen


def test_strangers_get_no_stream(cast: Cast, listens: Callable[..., Any]) -> None:
    """WB-4: 401 without a session, the same 404 for a foreign and an unknown workspace; POST is 405."""
    headers = cookies(cast.oskar)

    async def work(client: Any) -> list[int]:
        asked = [
            ("GET", "/w/northwind/live", {}),
            ("GET", "/w/northwind/live", headers),
            ("GET", "/w/no/live", headers),
        ]
        return [(await client.request(verb, path, headers=more)).status_code for verb, path, more in asked]

    assert listens(work) == [401, 404, 404]


def test_open_streams_hold_no_database_connection(cast: Cast, listens: Callable[..., Any]) -> None:
    """Forty streams wait, more than the pool has connections, and the database knows none of them."""
    headers = cookies(cast.dana)

    async def work(client: Any) -> tuple[bool, int]:
        streams = [client.stream("GET", "/w/northwind/live", headers=headers) for _ in range(40)]
        answers = [await stream.__aenter__() for stream in streams]
        await asyncio.gather(*(until(answer.aiter_lines(), "retry") for answer in answers))
        # A server process that was told to go is still listed for a moment.
        given_back = await asyncio.to_thread(lambda: children.until(lambda: not _connections(), seconds=10))
        page = await client.get("/w/northwind/", headers=headers)
        for stream in streams:
            await stream.__aexit__(None, None, None)
        return given_back, page.status_code

    given_back, status = listens(work)
    assert given_back and status == 200


def _connections() -> int:
    """How many connections to this test's database there are beside the one that asks and the test's own."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
            return int(cursor.fetchone()[0]) - 2
    finally:
        connections.close_all()


def test_a_right_that_ends_ends_the_stream(
    cast: Cast, listens: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """WB-7: membership, session and person are looked at again while the stream is open."""
    monkeypatch.setattr(live, "CHECK_EVERY", 0.2)
    headers = cookies(cast.dana)

    async def work(client: Any) -> str:
        async with client.stream("GET", "/w/northwind/live", headers=headers) as answer:
            lines = answer.aiter_lines()
            await until(lines, ": still")
            await asyncio.to_thread(people.leave, cast.dana, cast.northwind, by="system")
            return await until(lines, "never")

    assert listens(work).endswith("(end)")


def test_signing_out_ends_the_stream(cast: Cast, listens: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from django.contrib.sessions.models import Session

    monkeypatch.setattr(live, "CHECK_EVERY", 0.2)
    headers = cookies(cast.dana)

    async def work(client: Any) -> str:
        async with client.stream("GET", "/w/northwind/live", headers=headers) as answer:
            lines = answer.aiter_lines()
            await until(lines, ": still")
            await asyncio.to_thread(Session.objects.all().delete)
            return await until(lines, "never")

    assert listens(work).endswith("(end)")


def test_a_stream_that_names_an_open_approval_says_who_looks(cast: Cast, listens: Callable[..., Any]) -> None:
    """For as long as it is open; a foreign or unknown id is nobody's look."""
    headers, asked = cookies(cast.dana), ask(cast, refund())

    async def work(client: Any) -> list[int]:
        counts = []
        for named in (asked.public_id, rows.public_id("apr", rows.uuid7())):
            async with client.stream("GET", f"/w/northwind/live?at={named}", headers=headers) as answer:
                await until(answer.aiter_lines(), "retry")
                counts.append(len(await asyncio.to_thread(looking.who, cast.northwind)))
            await asyncio.to_thread(lambda: children.until(lambda: not looking.who(cast.northwind), seconds=10))
        return counts

    assert listens(work) == [1, 0]


def test_all_streams_of_a_process_share_one_subscription(cast: Cast, broker: Any, listens: Callable[..., Any]) -> None:
    headers = cookies(cast.dana)

    async def work(client: Any) -> tuple[bool, int]:
        streams = [client.stream("GET", "/w/northwind/live", headers=headers) for _ in range(5)]
        answers = [await stream.__aenter__() for stream in streams]
        await asyncio.gather(*(until(answer.aiter_lines(), "retry") for answer in answers))
        during = broker.pubsub_numpat()
        for stream in streams:
            await stream.__aexit__(None, None, None)
        for _ in range(50):
            if broker.pubsub_numpat() == 0:
                break
            await asyncio.sleep(0.1)
        return during, broker.pubsub_numpat()

    assert listens(work) == (1, 0)


def test_a_slow_reader_is_told_to_look_at_everything() -> None:
    async def work() -> list[str | None]:
        queue: asyncio.Queue[str | None] = asyncio.Queue(3)
        for number in range(5):
            live._put(queue, f"apr_{number}")
        return [queue.get_nowait() for _ in range(queue.qsize())]

    assert asyncio.run(work()) == ["", "apr_4"]
    assert live._event("") == b"event: tick\ndata: {}\n\n"
