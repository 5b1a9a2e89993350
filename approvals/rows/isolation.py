"""Isolation: the row-level security of every table that carries a workspace, and whether it is on.

Made after each migrate by `approvals.roles`, since it names the roles of this installation: the tables are those of the
models, so a new one is closed before anybody is granted anything on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from django.apps import apps

from approvals.rows.entrances import ENTRANCES, Entrance

_HERE: Final = "(NULLIF(current_setting('app.workspace'::text, true), ''::text))::uuid"
"""The workspace of the transaction, spelled as PostgreSQL gives it back."""
_STANDING: Final = """
    SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity,
        COALESCE((SELECT array_agg(ARRAY[p.policyname::text, p.permissive, p.cmd, array_to_string(p.roles, ','),
            p.qual, p.with_check] ORDER BY p.policyname)
            FROM pg_policies p WHERE p.schemaname = 'public' AND p.tablename = c.relname), '{}')
    FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY(%s)
"""
_FUNCTIONS: Final = """
    SELECT p.oid::regprocedure::text, o.rolname, p.prosecdef, p.prosrc, p.proconfig,
        EXISTS (SELECT FROM aclexplode(COALESCE(p.proacl, acldefault('f', p.proowner))) WHERE grantee = 0)
    FROM pg_proc p JOIN pg_roles o ON o.oid = p.proowner
    WHERE p.pronamespace = 'public'::regnamespace AND (p.prosecdef OR p.proname = ANY(%s))
        AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
"""
_PATH: Final = "search_path=pg_catalog, pg_temp"


# Questions


def tables() -> dict[str, str]:
    """Every table whose rows are of one workspace, and the column that names it."""
    found = {}
    for model in apps.get_models(include_auto_created=True):
        columns = {str(field.column) for field in model._meta.local_concrete_fields}
        if model._meta.label == "approvals.Workspace":
            found[model._meta.db_table] = "id"
        elif "workspace_id" in columns:
            found[model._meta.db_table] = "workspace_id"
    return found


def faults(cursor: Any, sweep: str) -> Iterator[str]:
    """A sentence for every table that is not closed as it should be, and every function that is not as it was made."""
    for table, policies in wrong_tables(cursor, sweep).items():
        yield f"The table {table} is not closed to other workspaces ({policies})."
    made, wanted = _functions(cursor), {each.called: (sweep, True, each.body, [_PATH], False) for each in ENTRANCES}
    for name in sorted(wanted):
        if made.get(name) != wanted[name]:
            yield f"The function {name} is not as it was made: the sweep's own, and for the application alone."
    for name in sorted(made.keys() - wanted.keys()):
        yield f"The function {name} is SECURITY DEFINER and none of ours: it may show the rows of every workspace."


def _functions(cursor: Any) -> dict[str, tuple[Any, ...]]:
    """The functions that act with the rights of their owner, and those of our names: owner, whether it does, body,
    settings, whether everybody may call it."""
    cursor.execute(_FUNCTIONS, [[each.name for each in ENTRANCES]])
    return {name: tuple(facts) for name, *facts in cursor.fetchall()}


def wrong_tables(cursor: Any, sweep: str) -> dict[str, str]:
    """The tables that are not closed as they should be, and what is found there instead."""
    wanted = tables()
    cursor.execute(_STANDING, [list(wanted)])
    stand = {table: (on, [list(policy) for policy in policies]) for table, on, policies in cursor.fetchall()}
    found = {}
    for table, column in sorted(wanted.items()):
        on, policies = stand.get(table, (False, []))
        if not on:
            found[table] = "row-level security is off, or does not bind its owner"
        elif policies != _policies(column, sweep):
            found[table] = "its policies are others: " + (", ".join(str(each[0]) for each in policies) or "none")
    return found


def _policies(column: str, sweep: str) -> list[list[str | None]]:
    ours = f"({column} = {_HERE})"
    return [
        ["placet_sweep", "PERMISSIVE", "SELECT", sweep, "true", None],
        ["placet_workspace", "PERMISSIVE", "ALL", "public", ours, ours],
    ]


# Verbs, for the owner of the tables


def close(cursor: Any, quote: Any, sweep: str) -> None:
    """Close every table that is not closed yet as it should be."""
    for table in wrong_tables(cursor, sweep):
        name = quote(table)
        cursor.execute("SELECT policyname FROM pg_policies WHERE schemaname = 'public' AND tablename = %s", [table])
        for (policy,) in cursor.fetchall():
            cursor.execute(f"DROP POLICY {quote(policy)} ON {name}")
        ours = f"{quote(tables()[table])} = {_HERE}"
        cursor.execute(f"CREATE POLICY placet_workspace ON {name} USING ({ours}) WITH CHECK ({ours})")
        cursor.execute(f"CREATE POLICY placet_sweep ON {name} FOR SELECT TO {quote(sweep)} USING (true)")
        cursor.execute(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY")
        cursor.execute(f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY")


def open_entrances(cursor: Any, quote: Any, *, sweep: str, application: str) -> None:
    """Make the functions that are asked before the workspace is known, and give them to the sweep's role.

    Raises PermissionError for an owner who is no member of that role.
    """
    cursor.execute("SELECT pg_has_role(current_user, %s, 'MEMBER')", [sweep])
    if cursor.fetchone() != (True,):
        raise PermissionError(f"The owner has to be a member of {sweep}: run what `manage.py roles` prints.")
    # Whoever is to own a function needs CREATE on its schema for that moment.
    cursor.execute(f"GRANT CREATE ON SCHEMA public TO {quote(sweep)}")
    known = {each.called for each in ENTRANCES}
    for name, (owner, *_) in _functions(cursor).items():
        if owner == sweep and name not in known:
            cursor.execute(f"DROP FUNCTION {name}")
    for each in ENTRANCES:
        cursor.execute(_made(each))
        cursor.execute(f"ALTER FUNCTION {each.signature} OWNER TO {quote(sweep)}")
        cursor.execute(f"REVOKE ALL ON FUNCTION {each.signature} FROM PUBLIC")
        cursor.execute(f"GRANT EXECUTE ON FUNCTION {each.signature} TO {quote(application)}")
    cursor.execute(f"REVOKE CREATE ON SCHEMA public FROM {quote(sweep)}")


def _made(each: Entrance) -> str:
    return (
        f"CREATE OR REPLACE FUNCTION {each.signature} RETURNS SETOF uuid LANGUAGE sql STABLE SECURITY DEFINER "
        f"SET search_path = pg_catalog, pg_temp AS $entrance${each.body}$entrance$"
    )
