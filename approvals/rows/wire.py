"""Wire: statements sent to PostgreSQL past Django's cursor: prepared, and with answers in binary.

For the few places where somebody waits: a step is committed, a state is read, a verdict takes effect. Everything else
goes through the ORM.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
from django.db import NotSupportedError, OperationalError, connection
from psycopg import generators
from psycopg.pq import ExecStatus, TransactionStatus

from approvals.rows import scopes

_AT_ONCE = 500
Values = Mapping[str, Any] | Sequence[Any]
Statement = tuple[str, Values]
Cursor = psycopg.Cursor[tuple[Any, ...]]


def rows(statement: str, values: Values, *, binary: bool = True) -> list[tuple[Any, ...]]:
    """The rows that a query gives; as text for whoever reads them as Django does. Raises Django's database errors."""
    with _faults(), _cursor(binary=binary) as cursor:
        _send(cursor, statement, values)
        return cursor.fetchall()


def stream(statement: str, values: Values) -> Generator[tuple[Any, ...]]:
    """The rows that a query gives, by a cursor of the server's, a few hundred at a time: however many there are, few of
    them are held. In an open `rows.within` block. Raises Django's database errors."""
    with _faults(), psycopg.ServerCursor(connection.connection, "stream") as cursor:
        cursor.itersize = _AT_ONCE
        cursor.execute(statement, values, binary=True)
        yield from cursor


def value(statement: str, values: Values, *, said: bool = False) -> Any:
    """The one value that a query gives. Outside a transaction it is one of its own. Raises Django's database errors.

    ``said``: the statement says itself in which workspace it stands, or asks for no row of any.
    """
    with _faults(), _cursor() as cursor:
        _send(cursor, statement, values, said=said)
        row = cursor.fetchone()
    return row[0] if row else None


def run(statements: Iterable[Statement]) -> int:
    """Run statements in the open transaction; how many rows the last of them changed. Raises Django's database
    errors."""
    with _faults(), _cursor() as cursor:
        for statement, values in statements:
            _send(cursor, statement, values)
        return cursor.rowcount


def begin(workspace_id: UUID) -> None:
    """Begin the transaction that Django has announced, in a workspace: BEGIN and the scope in one round trip.

    Past psycopg's cursors: they send BEGIN by itself, and their pipeline takes this process longer than the journey.
    """
    connection.ensure_connection()
    raw = connection.connection
    said = f"SELECT set_config('{scopes.SETTING}', '{workspace_id}', true)"
    with connection.wrap_database_errors:
        begun = raw.pgconn.transaction_status != TransactionStatus.IDLE
        raw.pgconn.send_query((said if begun else f"BEGIN; {said}").encode())
        for result in raw.wait(generators.execute(raw.pgconn)):
            if result.status not in {ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK}:
                raise psycopg.errors.error_from_result(result)


@contextmanager
def _faults() -> Iterator[None]:
    """Django's database errors. A statement that was prepared before a migration changed what it gives would fail for
    as long as its connection lives: the connection is closed, and it is an outage like any other, over at once."""
    try:
        with connection.wrap_database_errors:
            yield
    except NotSupportedError as fault:
        connection.connection.close()  # first: a pool takes back what is merely let go of
        connection.close()
        raise OperationalError("The tables were changed since this connection prepared its statements.") from fault


def _send(cursor: Cursor, statement: str, values: Values, *, said: bool = False) -> None:
    told = None if said else scopes.unsaid()
    if told is None:
        cursor.execute(statement, values, prepare=True)
        return
    # In a pipeline the two are one round trip and, outside a transaction, one transaction.
    with connection.connection.pipeline(), _cursor() as saying:
        saying.execute(scopes.SAY, [told], prepare=True)
        cursor.execute(statement, values, prepare=True)


def _cursor(*, binary: bool = False) -> Cursor:
    connection.ensure_connection()
    cursor: Cursor = psycopg.Cursor(connection.connection)
    cursor.format = psycopg.pq.Format.BINARY if binary else psycopg.pq.Format.TEXT
    return cursor
