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
from django.db import connection, models, transaction
from django.db.models.expressions import Func
from django.utils.dateparse import parse_datetime

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
    with connection.cursor() as cursor:
        cursor.execute("SELECT placet_now()")
        moment = cursor.fetchone()[0]
    return moment if isinstance(moment, datetime) else parse_datetime(moment)  # type: ignore[return-value]


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
    rows = model._default_manager.filter(pk=key, **{f"{model.STATE}__in": sources})
    if where is not None:
        rows = rows.filter(where)
    return rows.update(**{model.STATE: to, **sets}) == 1


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
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('app.workspace', %s, true)", [str(workspace_id)])
            yield
            for key in sorted(scope.hooks):
                scope.hooks[key]()
    finally:
        _scope.reset(token)


def before_commit(key: str, hook: Callable[[], None]) -> None:
    """Run the hook as one of the last statements of the open `within` block; a second hook of one key takes its place.

    Raises RuntimeError outside `within`.
    """
    _open_scope().hooks[key] = hook


def waiting(key: str) -> Callable[[], None] | None:
    """The hook that waits under a key in the open `within` block. Raises RuntimeError outside one."""
    return _open_scope().hooks.get(key)


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
        if row_id in scope.published:
            return
        scope.published.add(row_id)
    after_commit(_send_news, workspace_id, row_id)


def after_commit(function: Callable[..., object], *args: Any) -> None:
    """Call the function once the open transaction is committed, at once where there is none. What it raises is logged
    and stops nobody."""

    def called() -> None:
        function(*args)

    # Django names a failed hook by its __qualname__. A partial has none: the failure of the one would raise, and keep
    # the others from being called.
    transaction.on_commit(called, robust=True)


def _send_news(workspace_id: UUID, row_id: str) -> None:
    _broker(settings.REDIS_URL).publish(f"placet:{workspace_id.hex}", json.dumps({"id": row_id}))


# Rows that are written once

REFUSE_CHANGE = """
CREATE OR REPLACE FUNCTION placet_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'Rows of % are written once: % is refused.', TG_TABLE_NAME, TG_OP USING ERRCODE =
    'restrict_violation';
END $$;
"""


def write_once(table: str) -> str:
    """The SQL, for a migration, by which a table refuses UPDATE, DELETE and TRUNCATE whoever asks."""
    return f"""
    CREATE TRIGGER {table}_row_is_final BEFORE UPDATE OR DELETE ON {table}
        FOR EACH ROW EXECUTE FUNCTION placet_refuse_change();
    CREATE TRIGGER {table}_table_is_final BEFORE TRUNCATE ON {table}
        FOR EACH STATEMENT EXECUTE FUNCTION placet_refuse_change();
    """


ONLY_ERASE = r"""
CREATE OR REPLACE FUNCTION placet_only_erase() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    emptied jsonb := '{}';
    name text;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        FOREACH name IN ARRAY TG_ARGV LOOP
            IF to_jsonb(NEW) ->> name = '\x' THEN
                emptied := emptied || jsonb_build_object(name, '\x');
            END IF;
        END LOOP;
        IF emptied <> '{}' AND to_jsonb(NEW) = to_jsonb(OLD) || emptied THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'Rows of % are written once: % is refused.', TG_TABLE_NAME, TG_OP USING ERRCODE =
    'restrict_violation';
END $$;
"""


def only_erase(table: str, *columns: str) -> str:
    """The SQL, for a migration, by which a table written once lets these sealed columns be emptied, and nothing
    else."""
    named = ", ".join(f"'{column}'" for column in columns)
    return f"""
    DROP TRIGGER {table}_row_is_final ON {table};
    CREATE TRIGGER {table}_row_is_final BEFORE UPDATE OR DELETE ON {table}
        FOR EACH ROW EXECUTE FUNCTION placet_only_erase({named});
    """


def same_workspace(child: str, column: str, parent: str) -> str:
    """The SQL, for a migration, that holds a child and the parent its column names in one workspace.

    The parent table needs UNIQUE (workspace_id, id), see `parent_key`.
    """
    return f"""
    ALTER TABLE {child} ADD CONSTRAINT {child}_{column}_same_workspace
        FOREIGN KEY (workspace_id, {column}) REFERENCES {parent} (workspace_id, id);
    """


def parent_key(table: str) -> str:
    """The SQL, for a migration, that lets other tables name a row of this one together with its workspace."""
    return f"ALTER TABLE {table} ADD CONSTRAINT {table}_key_in_workspace UNIQUE (workspace_id, id);"
