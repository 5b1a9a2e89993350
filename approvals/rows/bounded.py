"""Bounded: what a list says about all of its rows, at a cost that does not grow with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Field, Model, QuerySet

MOST: Final = 10_000
"""Beyond so many rows nobody needs to know how many there are, and counting them takes longer than showing them."""


@dataclass(frozen=True)
class Total:
    """How many rows there are, or that there are more than MOST."""

    count: int

    def __str__(self) -> str:
        return f"{self.count:,}" if self.count <= MOST else f"more than {MOST:,}"

    def __bool__(self) -> bool:
        return bool(self.count)


def total(found: QuerySet[Any]) -> Total:
    """Count rows, but not beyond what is worth it."""
    return Total(found.order_by()[: MOST + 1].count())


def counts(found: Mapping[str, QuerySet[Any]], *, most: int) -> dict[str, int]:
    """How many rows each of these has, in one statement; one more than ``most`` stands for all beyond it."""
    terms, params = [], list[Any]()
    for one in found.values():
        try:
            sql, given = one.order_by().values("pk")[: most + 1].query.sql_with_params()
        except EmptyResultSet:
            sql, given = "SELECT 1 WHERE false", ()
        terms.append(f"(SELECT count(*) FROM ({sql}) counted)")
        params += given
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(terms)}", params)
        return dict(zip(found, cursor.fetchone(), strict=True))


# By hand: PostgreSQL would read every row to find the few values that there are. This looks each up behind the last.
_VALUES: Final = """
    WITH RECURSIVE known (value) AS (
        (SELECT {column} FROM {table} WHERE workspace_id = %(workspace)s ORDER BY {column} LIMIT 1)
        UNION ALL
        SELECT (SELECT t.{column} FROM {table} t WHERE t.workspace_id = %(workspace)s AND t.{column} > known.value
            ORDER BY t.{column} LIMIT 1)
        FROM known WHERE known.value IS NOT NULL
    )
    SELECT value FROM known WHERE value IS NOT NULL LIMIT %(most)s
"""


def values(model: type[Model], field: str, workspace_id: UUID, *, most: int) -> list[Any]:
    """The first so many of the values that a column has in a workspace, in order. Needs an index that begins with the
    workspace and the column."""
    named = model._meta.get_field(field)
    assert isinstance(named, Field)
    with connection.cursor() as cursor:
        statement = _VALUES.format(column=named.column, table=model._meta.db_table)
        cursor.execute(statement, {"workspace": workspace_id, "most": most})
        return [value for (value,) in cursor.fetchall()]
