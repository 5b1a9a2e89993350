"""The columns of tables, for tests that put rows back by hand."""

from __future__ import annotations

from django.apps import apps


def written(table: str) -> str:
    """The columns of a table that a statement can write: those that the database works out are left to it."""
    [model] = [each for each in apps.get_models() if each._meta.db_table == table]
    return ", ".join(str(each.column) for each in model._meta.concrete_fields if not each.generated)
