"""The ground every table stands on: keys, workspace scope, moves between states, and the database's clock."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

import redis
from django.conf import settings
from django.db import models, transaction
from django.db.models.expressions import Func

from approvals.rows import ready, scopes, wire
from approvals.rows.entrances import entrance as entrance
from approvals.rows.entrances import every_workspace as every_workspace
from approvals.rows.ready import Ready as Ready
from approvals.rows.ready import Slot as Slot
from approvals.rows.ready import change as change
from approvals.rows.ready import insert as insert
from approvals.rows.scopes import enter as enter
from approvals.rows.scopes import nowhere as nowhere
from approvals.rows.scopes import reading as reading
from approvals.rows.scopes import where as where
from approvals.rows.triggers import ONLY_ERASE as ONLY_ERASE
from approvals.rows.triggers import REFUSE_CHANGE as REFUSE_CHANGE
from approvals.rows.triggers import only_erase as only_erase
from approvals.rows.triggers import parent_key as parent_key
from approvals.rows.triggers import same_workspace as same_workspace
from approvals.rows.triggers import write_once as write_once

if TYPE_CHECKING:
    from approvals.people import Workspace


def uuid7() -> UUID:
    """A UUID version 7 (RFC 9562): 48 bits of milliseconds, then random bits. Never order or compare rows by it."""
    milliseconds = time.time_ns() // 1_000_000
    bits = bytearray(milliseconds.to_bytes(6, "big") + os.urandom(10))
    bits[6] = bits[6] & 0x0F | 0x70
    bits[8] = bits[8] & 0x3F | 0x80
    return UUID(bytes=bytes(bits))


def public_id(prefix: str, key: UUID) -> str:
    """How a row is named outside the database: ``apr_`` and 32 hex digits."""
    return f"{prefix}_{key.hex}"


def parse_id(prefix: str, text: str) -> UUID | None:
    """The key behind a public id, or None if the text is not one of this prefix, spelled exactly."""
    head, _, digits = text.partition("_")
    if head != prefix or len(digits) != 32 or not set(digits) <= set("0123456789abcdef"):
        return None
    return UUID(hex=digits)


# The clock


class Now(Func):
    """The database's clock, read again after a lock wait: for statements that lock."""

    template = "placet_now()"
    output_field = models.DateTimeField()


class NowOnce(Func):
    """The database's clock as a constant of the statement: for queries of due rows, so that their index is used."""

    template = "(SELECT placet_now())"
    output_field = models.DateTimeField()


def now() -> datetime:
    """The time by the database's clock, UTC, in microseconds."""
    moment: datetime = wire.value("SELECT placet_now()", (), said=True)
    return moment


# Rows


class Row(models.Model):
    """A row of one workspace. ``PREFIX`` is the head of its public id; ``MOVES`` its allowed changes of
    status (column ``STATE``); ``WRITE_ONCE`` says that the database refuses to change or delete its rows, but for what
    ``EXCEPTIONS`` grants ("UPDATE (column)", "DELETE") and the table's trigger then allows."""

    PREFIX: ClassVar[str] = "row"
    MOVES: ClassVar[Mapping[str, frozenset[str]]] = {}
    STATE: ClassVar[str] = "status"
    WRITE_ONCE: ClassVar[bool] = False
    EXCEPTIONS: ClassVar[tuple[str, ...]] = ()

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey("approvals.Workspace", models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        abstract = True

    @property
    def public_id(self) -> str:
        return public_id(self.PREFIX, self.id)


def move(
    model: type[Row],
    key: UUID,
    *,
    frm: str | frozenset[str] | set[str],
    to: str,
    where: models.Q | None = None,
    **sets: Any,
) -> bool:
    """Move one row's status by a conditional UPDATE; False when the row was not in ``frm`` (or not ``where``) any more.

    Raises ValueError for a move that the model's table of moves does not list.
    """
    sources = {frm} if isinstance(frm, str) else set(frm)
    for source in sources:
        if to not in model.MOVES.get(source, frozenset()):
            raise ValueError(f"{model.__name__} never moves from {source} to {to}.")
    ours = _equalities(where)
    if ours is not None:
        return ready.change(model, {"id": key, model.STATE: sources, **ours}, {model.STATE: to, **sets}) == 1
    found = model._default_manager.filter(where, pk=key, **{f"{model.STATE}__in": sources})
    return found.update(**{model.STATE: to, **sets}) == 1


def _equalities(where: models.Q | None) -> dict[str, Any] | None:
    """The columns and their values, where nothing else is asked."""
    if where is None:
        return {}
    plain = where.connector == models.Q.AND and not where.negated
    pairs = [child for child in where.children if isinstance(child, tuple) and "__" not in child[0]]
    return dict(pairs) if plain and len(pairs) == len(where.children) else None


def newest(found: models.QuerySet[Any], *, limit: int, cursor: str = "") -> tuple[list[Any], str]:
    """At most ``limit`` rows, newest first, from where an earlier page ended, and the cursor of the next page, empty at
    the end. Rows that come meanwhile move nothing. Raises ValueError for a cursor that is none of ours."""
    if cursor:
        head, _, key = cursor.partition("-")
        if not re.fullmatch(r"[0-9a-f]{12,13}-[0-9a-f]{32}", cursor):
            raise ValueError("This is no cursor of an earlier page.")
        moment = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=int(head, 16))
        # The key only parts rows of the same microsecond; time orders them.
        found = found.filter(models.Q(created_at__lt=moment) | models.Q(created_at=moment, pk__lt=UUID(hex=key)))
    page = list(found.order_by("-created_at", "-pk")[: limit + 1])
    return page[:limit], _cursor(page[limit - 1]) if len(page) > limit else ""


def _cursor(row: Row) -> str:
    return f"{(row.created_at - datetime.fromtimestamp(0, UTC)) // timedelta(microseconds=1):x}-{row.pk.hex}"


# Transactions


@dataclass
class _Scope:
    """What an open ``within`` block still has to do: hooks that run as its last statements, in the order of their
    keys."""

    workspace_id: UUID
    hooks: dict[str, Callable[[], None]] = field(default_factory=dict)
    published: set[str] = field(default_factory=set)


_scope: ContextVar[_Scope | None] = ContextVar("placet_scope", default=None)


@contextmanager
def within(workspace: Workspace | UUID) -> Iterator[None]:
    """One transaction on the rows of one workspace. A block inside another of the same workspace joins it.

    The hooks given to `before_commit` run last, just before COMMIT, so that what they lock is locked last and briefly.
    Raises RuntimeError when the inner block names another workspace: no transaction crosses tenants.
    """
    workspace_id = workspace if isinstance(workspace, UUID) else workspace.pk
    outer = _scope.get()
    if outer is not None:
        if outer.workspace_id != workspace_id:
            raise RuntimeError("One transaction never touches two workspaces.")
        yield
        return
    scope = _Scope(workspace_id)
    token = _scope.set(scope)
    try:
        # What was to be done after COMMIT stands where the caller does.
        with transaction.atomic(), scopes.bound(workspace_id):
            wire.begin(workspace_id)
            yield
            for key in sorted(scope.hooks):
                scope.hooks[key]()
            if scope.published:
                # Last, so that a worker has its hint by then.
                after_commit(_send_news, workspace_id, sorted(scope.published))
    finally:
        _scope.reset(token)


def before_commit(key: str, hook: Callable[[], None]) -> None:
    """Run the hook as one of the last statements of the open `within` block; a second hook of one key takes its place.

    Raises RuntimeError outside `within`.
    """
    _open_scope().hooks[key] = hook


def waiting(key: str) -> Callable[[], None] | None:
    """The hook that waits under a key in the open `within` block; None outside one."""
    scope = _scope.get()
    return scope.hooks.get(key) if scope else None


def one_at_a_time(what: str) -> None:
    """Wait until no other open transaction does the same, and keep others waiting until this one ends."""
    wire.value("SELECT 1 FROM pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"placet {what}"])


def in_scope() -> UUID:
    """The workspace of the open `within` block. Raises RuntimeError outside one."""
    return _open_scope().workspace_id


def _open_scope() -> _Scope:
    scope = _scope.get()
    if scope is None:
        raise RuntimeError("This needs an open rows.within(workspace) block.")
    return scope


# News for open pages


@cache
def _broker(url: str) -> redis.Redis:
    return redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2)


def publish(workspace_id: UUID, row_id: str) -> None:
    """Tell open pages, after COMMIT, that a row changed: its public id and nothing else. Losing the message loses
    nothing."""
    scope = _scope.get()
    if scope is not None:
        scope.published.add(row_id)
    else:
        after_commit(_send_news, workspace_id, [row_id])


def after_commit(function: Callable[..., object], *args: Any) -> None:
    """Call the function once the open transaction is committed, at once where there is none. What it raises is logged
    and stops nobody."""

    def called() -> None:
        function(*args)

    # Django names a failed hook by its __qualname__. A partial has none: the failure of the one would raise, and keep
    # the others from being called.
    transaction.on_commit(called, robust=True)


def _send_news(workspace_id: UUID, row_ids: list[str]) -> None:
    with _broker(settings.REDIS_URL).pipeline(transaction=False) as sent:
        for row_id in row_ids:
            sent.publish(f"placet:{workspace_id.hex}", json.dumps({"id": row_id}))
        sent.execute()
