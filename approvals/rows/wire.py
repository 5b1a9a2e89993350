"""Wire: statements sent to PostgreSQL past Django's cursor: prepared, and with answers in binary.

For the few places where somebody waits: a step is committed, a state is read, a verdict takes effect. Everything else
goes through the ORM.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import psycopg
from django.db import connection

Values = Mapping[str, Any] | Sequence[Any]
Statement = tuple[str, Values]


def rows(statement: str, values: Values, *, binary: bool = True) -> list[tuple[Any, ...]]:
    """The rows that a query gives; as text for whoever reads them as Django does. Raises Django's database errors."""
    with connection.wrap_database_errors, _cursor(binary=binary) as cursor:
        return cursor.execute(statement, values, prepare=True).fetchall()


def value(statement: str, values: Values) -> Any:
    """The one value that a query gives. Outside a transaction it is one of its own. Raises Django's database errors."""
    with connection.wrap_database_errors, _cursor() as cursor:
        row = cursor.execute(statement, values, prepare=True).fetchone()
    return row[0] if row else None


def run(statements: Iterable[Statement]) -> int:
    """Run statements in the open transaction; how many rows the last of them changed. Raises Django's database
    errors."""
    with connection.wrap_database_errors, _cursor() as cursor:
        for statement, values in statements:
            cursor.execute(statement, values, prepare=True)
        return cursor.rowcount


def _cursor(*, binary: bool = False) -> psycopg.Cursor[tuple[Any, ...]]:
    connection.ensure_connection()
    cursor: psycopg.Cursor[tuple[Any, ...]] = psycopg.Cursor(connection.connection)
    cursor.format = psycopg.pq.Format.BINARY if binary else psycopg.pq.Format.TEXT
    return cursor
