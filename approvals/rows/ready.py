"""Ready: querysets, insertions and changes whose SQL is built once and sent as prepared statements.

Django builds the SQL of a queryset anew each time it is asked, and that takes longer than the answer. On the way from a
verdict to the tool, where somebody waits, a queryset is written with a `Slot` wherever a value goes; everything else
asks plain querysets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, cached_property
from typing import Any, Final, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, models
from django.db.models.expressions import DatabaseDefault
from django.db.models.query import get_related_populators
from django.db.models.sql.compiler import SQLCompiler

from approvals.rows import wire

M = TypeVar("M", bound=models.Model)


class Slot(models.Expression):
    """The place of a value in a queryset that is built before the value is known."""

    def __init__(self, name: str, output_field: models.Field[Any, Any] | None = None) -> None:
        super().__init__(output_field=output_field)
        self.name = name

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, tuple[Any, ...]]:
        return "%s", (self,)


class Ready(Generic[M]):
    """A queryset with slots, built when it is first asked: ``_OF = Ready(lambda: Team.objects.filter(pk=Slot("k")))``
    and later ``_OF(k=key)``. Follows select_related, defer, annotations, select_for_update; no prefetch.
    """

    def __init__(self, make: Callable[[], models.QuerySet[M]]) -> None:
        self._make = make

    def __call__(self, **values: Any) -> list[M]:
        """The rows that the queryset gives with these values in its slots."""
        return self._built.ask(values)

    def first(self, **values: Any) -> M | None:
        """The first of them. The queryset says in which order, and that it wants one."""
        return next(iter(self(**values)), None)

    @cached_property
    def _built(self) -> _Built[M]:
        return _Built(self._make())


class _Built(Generic[M]):
    """The SQL of a queryset, and how a line of its answer becomes a row. What `ModelIterable` does, without asking for
    the SQL again."""

    def __init__(self, found: models.QuerySet[M]) -> None:
        self.compiler = found.query.get_compiler(DEFAULT_DB_ALIAS)
        self.sql, self.params = self.compiler.as_sql()
        told = self.compiler.klass_info
        assert told is not None, "a queryset of rows, not of values"
        self.model: type[M] = told["model"]
        first, end = told["select_fields"][0], told["select_fields"][-1] + 1
        self.columns = slice(first, end)
        self.names = [column[0].target.attname for column in self.compiler.select[first:end]]
        self.related = get_related_populators(told, self.compiler.select, DEFAULT_DB_ALIAS)  # type: ignore[call-arg] # stubs err
        self.converters = self.compiler.get_converters([column[0] for column in self.compiler.select])

    def ask(self, values: dict[str, Any]) -> list[M]:
        params = [values[param.name] if isinstance(param, Slot) else param for param in self.params]
        lines: Iterable[Any] = wire.rows(self.sql, params, binary=False)
        if self.converters:
            lines = self.compiler.apply_converters(lines, self.converters)
        return [self._row(line) for line in lines]

    def _row(self, line: Any) -> M:
        row = self.model.from_db(DEFAULT_DB_ALIAS, self.names, line[self.columns])
        for populator in self.related:
            populator.populate(line, row)
        for name, place in self.compiler.annotation_col_map.items():
            setattr(row, name, line[place])
        return row


# Changes


def insert(row: models.Model) -> None:
    """Insert a new row, as ``save(force_insert=True)`` does, without its signals. Raises IntegrityError."""
    fields = row._meta.local_concrete_fields
    values = {field: field.pre_save(row, add=True) for field in fields}
    given = {field: value for field, value in values.items() if not isinstance(value, DatabaseDefault)}
    left = [field for field in fields if field not in given]
    columns, terms, params = _terms(type(row), given)
    sql = f"INSERT INTO {row._meta.db_table} ({', '.join(columns)}) VALUES ({', '.join(terms)})"
    if not left:
        wire.run([(sql, params)])
    else:
        made = wire.rows(f"{sql} RETURNING {', '.join(_quoted(field.column) for field in left)}", params, binary=False)
        for field, value in zip(left, made[0], strict=True):
            setattr(row, field.attname, value)
    row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


def change(model: type[models.Model], wanted: dict[str, Any], sets: dict[str, Any]) -> int:
    """Change the rows whose columns have these values (or, for a set, one of these); how many there were."""
    named, terms, params = _terms(model, {_field(model, name): value for name, value in sets.items()})
    sets_sql = ", ".join(f"{column} = {term}" for column, term in zip(named, terms, strict=True))
    conditions = []
    for name, value in wanted.items():
        column = _quoted(_field(model, name).column)
        conditions.append(f"{column} = ANY(%s)" if isinstance(value, set) else f"{column} = %s")
        params.append(sorted(value) if isinstance(value, set) else value)
    return wire.run([(f"UPDATE {model._meta.db_table} SET {sets_sql} WHERE {' AND '.join(conditions)}", params)])


def _terms(model: type[models.Model], values: dict[Any, Any]) -> tuple[list[str], list[str], list[Any]]:
    """Columns, what stands for their values in SQL, and the parameters of that."""
    columns: list[str] = []
    terms: list[str] = []
    params: list[Any] = []
    for field, value in values.items():
        columns.append(_quoted(field.column))
        if hasattr(value, "resolve_expression"):
            compiler = _compiler(model)
            term, own = compiler.compile(value.resolve_expression(compiler.query, allow_joins=False, for_save=True))
            terms.append(term)
            params += own
        else:
            terms.append("%s")
            plain = value.pk if isinstance(value, models.Model) else value
            params.append(field.get_db_prep_save(plain, connection))
    return columns, terms, params


def _field(model: type[models.Model], name: str) -> models.Field[Any, Any]:
    field = model._meta.get_field(name)
    assert isinstance(field, models.Field)
    return field


@cache
def _compiler(model: type[models.Model]) -> SQLCompiler:
    return model._base_manager.all().query.get_compiler(DEFAULT_DB_ALIAS)


_quoted: Final = cache(lambda name: f'"{name}"')
