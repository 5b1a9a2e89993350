"""What the database roles of the application and of the sweep may do; the owner alone changes tables."""

from __future__ import annotations

from django.apps import apps
from django.conf import settings
from django.db import connections, transaction

from approvals.rows import Row, isolation


def grant(using: str) -> None:
    """Close every table to other workspaces, then grant the two working roles their rights on every table, and only
    INSERT and SELECT where rows are written once.

    Runs after each migrate, as the owner. Raises ProgrammingError when a role does not exist, PermissionError when the
    owner is no member of the sweep's (`manage.py roles` prints how to make them).
    """
    connection = connections[using]
    quote = connection.ops.quote_name
    roles = settings.PLACET_ROLES
    with transaction.atomic(using), connection.cursor() as cursor:
        isolation.close(cursor, quote, roles["sweep"])
        for role in sorted(set(roles.values())):
            name = quote(role)
            cursor.execute(f"GRANT USAGE ON SCHEMA public TO {name}")
            cursor.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {name}")
            cursor.execute(f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {name}")
            cursor.execute(f"REVOKE INSERT, UPDATE, DELETE ON django_migrations FROM {name}")
            for table, exceptions in write_once_tables().items():
                cursor.execute(f"REVOKE UPDATE, DELETE, TRUNCATE ON {quote(table)} FROM {name}")
                for granted in exceptions:
                    cursor.execute(f"GRANT {granted} ON {quote(table)} TO {name}")
        isolation.open_entrances(cursor, quote, sweep=roles["sweep"], application=roles["application"])


def write_once_tables() -> dict[str, tuple[str, ...]]:
    """The tables whose rows nobody changes, those of the models that say WRITE_ONCE, with the exceptions of each."""
    models = (model for model in apps.get_models() if issubclass(model, Row))
    return {model._meta.db_table: model.EXCEPTIONS for model in models if model.WRITE_ONCE}
