"""News for open pages, as server-sent events: only ids, never content. A stream holds no database connection.

One Redis subscription per web process serves all its streams. Losing a message loses nothing: a page without a stream,
and one that comes back, looks again by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

import redis.asyncio as redis
from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.db import connections
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from approvals import looking, rows, workspaces
from approvals.approvals import Approval
from approvals.people import Person, Workspace

log = logging.getLogger(__name__)

CHECK_EVERY = 15.0
"""Seconds between two looks at the reader's session and membership; a lost right ends the stream by then."""

QUEUE_MOST = 200
"""Ids that may wait for one slow reader; with more it is told to look at everything again."""

PATTERN = "placet:*"


class Hub:
    """The one subscription of this process (of its event loop) and the streams that listen to it."""

    def __init__(self) -> None:
        self.streams: dict[UUID, set[asyncio.Queue[str | None]]] = {}
        self.listener: asyncio.Task[None] | None = None
        self.ready = asyncio.Event()

    async def join(self, workspace_id: UUID) -> asyncio.Queue[str | None]:
        """A queue of row ids; None says that the subscription is lost. Raises ConnectionError without a broker."""
        queue: asyncio.Queue[str | None] = asyncio.Queue(QUEUE_MOST)
        self.streams.setdefault(workspace_id, set()).add(queue)
        if self.listener is None or self.listener.done():
            self.ready.clear()
            self.listener = asyncio.create_task(self._listen())
        waiting = asyncio.create_task(self.ready.wait())
        await asyncio.wait({waiting, self.listener}, timeout=5, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if not self.ready.is_set():
            await self.leave(workspace_id, queue)
            raise ConnectionError("The broker does not answer.")
        return queue

    async def leave(self, workspace_id: UUID, queue: asyncio.Queue[str | None]) -> None:
        """The last stream out ends the subscription."""
        self.streams.get(workspace_id, set()).discard(queue)
        if not self.streams.get(workspace_id):
            self.streams.pop(workspace_id, None)
        if not self.streams and self.listener is not None:
            listener, self.listener = self.listener, None
            listener.cancel()
            await asyncio.wait({listener})

    async def _listen(self) -> None:
        broker = redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2, health_check_interval=10)
        try:
            async with broker.pubsub() as subscription:
                await subscription.psubscribe(PATTERN)
                # Sent is not subscribed: what is published before the broker has said so is heard by nobody.
                while (said := await subscription.get_message(timeout=10)) is None or said["type"] != "psubscribe":
                    pass
                self.ready.set()
                while True:
                    message = await subscription.get_message(ignore_subscribe_messages=True, timeout=10)
                    if message is not None:
                        self._hand_out(message)
        except (redis.RedisError, OSError) as fault:
            log.warning("The live subscription is lost: %s", fault)
            for queue in {queue for queues in self.streams.values() for queue in queues}:
                _put(queue, None)
        finally:
            await broker.aclose()

    def _hand_out(self, message: dict[str, Any]) -> None:
        channel, data = message["channel"].decode(), message["data"]
        with contextlib.suppress(ValueError, KeyError, TypeError):
            for queue in self.streams.get(UUID(hex=channel.removeprefix("placet:")), ()):
                _put(queue, str(json.loads(data)["id"]))


def _put(queue: asyncio.Queue[str | None], row_id: str | None) -> None:
    if queue.full():
        while not queue.empty():
            queue.get_nowait()
        row_id = "" if row_id is not None else None
    queue.put_nowait(row_id)


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The hub of the running event loop."""
    return _hubs.setdefault(asyncio.get_running_loop(), Hub())


@dataclass
class Eye:
    """Who looks at which open approval by a stream: the one that its address names in ``at``."""

    person: Person | None = None
    approval: Approval | None = None


async def live(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The stream of one workspace, for its members: ``event: apr`` and ``event: <id>`` for each row that changed, and
    ``event: look`` and ``event: look_<digits>`` where somebody came to an approval or left it."""
    if request.method != "GET":
        return HttpResponse(status=405, headers={"Allow": "GET"})
    eye = Eye()
    signed_in, workspace_id = await _reader(request, slug, eye)
    if not signed_in:
        return HttpResponse(status=401)
    if workspace_id is None:
        raise Http404
    try:
        queue = await hub().join(workspace_id)
    except ConnectionError:
        return HttpResponse(
            "The broker does not answer; look again by yourself.", status=503, content_type="text/plain"
        )
    answer = StreamingHttpResponse(_events(request, slug, workspace_id, queue, eye), content_type="text/event-stream")
    answer["Cache-Control"] = "no-store"
    answer["X-Accel-Buffering"] = "no"
    return answer


async def _events(
    request: HttpRequest, slug: str, workspace_id: UUID, queue: asyncio.Queue[str | None], eye: Eye
) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    try:
        yield b"retry: 2000\n\n"
        check = loop.time() + CHECK_EVERY
        while True:
            try:
                row_id = await asyncio.wait_for(queue.get(), timeout=max(0.0, check - loop.time()))
            except TimeoutError:
                if (await _reader(request, slug, eye))[1] != workspace_id:
                    return
                check = loop.time() + CHECK_EVERY
                yield b": still here\n\n"
                continue
            if row_id is None:
                return
            yield _event(row_id)
    finally:
        await hub().leave(workspace_id, queue)
        await _turn_away(eye)


def _event(row_id: str) -> bytes:
    """Two events for a row, by its kind and by its id; one that means everything when too many were missed."""
    if not row_id:
        return b"event: tick\ndata: {}\n\n"
    kind = row_id.partition("_")[0]
    data = json.dumps({"id": row_id})
    return "".join(f"event: {name}\ndata: {data}\n\n" for name in (kind, row_id)).encode()


@sync_to_async
def _reader(request: HttpRequest, slug: str, eye: Eye) -> tuple[bool, UUID | None]:
    """Whether the session still stands, and the workspace if its person still belongs to it; read anew each time. What
    they look at is told anew as well.

    What session, person and membership took of the database is given back before the waiting begins.
    """
    try:
        request.session = type(request.session)(request.session.session_key)
        person = get_user(request)
        workspace = workspaces.entered(person, slug)
        if workspace is not None and isinstance(person, Person):
            _look(eye, person, workspace, request.GET.get("at", ""))
    finally:
        connections.close_all()
    if eye.person is not None and eye.approval is not None:
        looking.here(eye.person, eye.approval)
    return person.is_authenticated, workspace.pk if workspace else None


def _look(eye: Eye, person: Person, workspace: Workspace, public_id: str) -> None:
    key = rows.parse_id(Approval.PREFIX, public_id)
    if key is None:
        return
    with rows.reading(workspace):
        open_ones = Approval.objects.filter(workspace=workspace, status=Approval.Status.PENDING)
        eye.person, eye.approval = person, open_ones.only("pk", "workspace_id").filter(pk=key).first()


@sync_to_async
def _turn_away(eye: Eye) -> None:
    if eye.person is not None and eye.approval is not None:
        looking.gone(eye.person, eye.approval)
