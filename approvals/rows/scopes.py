"""Scopes: in which workspace a thread of work stands, and how each statement says so to PostgreSQL.

Row-level security shows and takes the rows of the workspace that ``app.workspace`` names, and none where it names none.
`rows.within` sets it once for its transaction. What is asked outside one carries it along: the statement and
``set_config(…, true)`` travel together as one implicit transaction, in one round trip, so that no connection that goes
back to a pool is left standing anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.db.backends.signals import connection_created
from django.db.models import Model

SETTING: Final = "app.workspace"
SAY: Final = f"SELECT set_config('{SETTING}', %s, true)"
_HOLD: Final = f"SELECT set_config('{SETTING}', %s, false)"
_UNTOUCHED: Final = ("SAVEPOINT", "RELEASE", "ROLLBACK")

_here: ContextVar[str] = ContextVar("placet_workspace", default="")
_bound: ContextVar[bool] = ContextVar("placet_bound", default=False)


# Questions


def where() -> UUID | None:
    """The workspace in which this thread of work stands, None for nowhere."""
    return UUID(_here.get()) if _here.get() else None


def unsaid() -> str | None:
    """What the next statement has to say to PostgreSQL: a workspace, or nowhere (""); None if it need say nothing."""
    if _bound.get():
        return None
    # A transaction that others opened may still stand where an earlier statement in it stood.
    return _here.get() or ("" if connection.in_atomic_block else None)


# Verbs


@contextmanager
def reading(workspace: Model | UUID) -> Iterator[None]:
    """Stand in a workspace: what the block asks of the database outside a transaction, it asks there.

    Raises RuntimeError in a transaction of another workspace.
    """
    key = _key(workspace)
    if _bound.get():
        _refuse_other(key)
        yield
        return
    token = _here.set(key)
    try:
        yield
    finally:
        _here.reset(token)


@contextmanager
def nowhere() -> Iterator[None]:
    """Begin with no workspace: a request. Whatever `enter` does inside ends with the block."""
    if _bound.get():
        raise RuntimeError("A transaction stands in its workspace until it ends.")
    token = _here.set("")
    try:
        yield
    finally:
        _here.reset(token)


def enter(workspace: Model | UUID) -> None:
    """Stand in a workspace until the `nowhere` block around ends: for doors, which have just let somebody in."""
    key = _key(workspace)
    if _bound.get():
        _refuse_other(key)
    _here.set(key)


@contextmanager
def bound(workspace_id: UUID) -> Iterator[None]:
    """For `rows.within`: the open transaction says itself where it stands."""
    here, is_bound = _here.set(str(workspace_id)), _bound.set(True)
    try:
        yield
    finally:
        _bound.reset(is_bound)
        _here.reset(here)


def _key(workspace: Model | UUID) -> str:
    return str(workspace if isinstance(workspace, UUID) else workspace.pk)


def _refuse_other(key: str) -> None:
    if key != _here.get():
        raise RuntimeError("One transaction never touches two workspaces.")


# What Django sends


def _scoped(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """Put the scope before a statement of Django's own cursor, which sends both as one message."""
    told = unsaid()
    if told is None or not isinstance(sql, str) or sql.startswith(_UNTOUCHED):
        return execute(sql, params, many, context)
    cursor = context["cursor"].cursor
    if many:
        raise RuntimeError("Many statements at once need an open rows.within(workspace) block.")
    if getattr(cursor, "name", None):
        return _by_name(told, execute, sql, params, context)
    done = execute(f"SELECT set_config('{SETTING}', '{told}', true); {sql}", params, many, context)
    cursor.nextset()
    return done


def _by_name(told: str, execute: Callable[..., Any], sql: str, params: Any, context: dict[str, Any]) -> Any:
    """A cursor of the server's, which cannot share its statement. Outside a transaction it has read all its rows once
    it is declared, so the session stands in the workspace no longer than that."""
    if connection.in_atomic_block:
        connection.connection.execute(SAY, [told])
        return execute(sql, params, False, context)
    try:
        connection.connection.execute(_HOLD, [told])
        return execute(sql, params, False, context)
    finally:
        connection.connection.execute(_HOLD, [""])


def _install(connection: Any, **_: Any) -> None:
    if connection.vendor == "postgresql" and _scoped not in connection.execute_wrappers:
        connection.execute_wrappers.append(_scoped)


connection_created.connect(_install, dispatch_uid="placet.scopes")
