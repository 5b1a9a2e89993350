"""The three database roles, as SQL: the owner of the tables, the application, the sweep.

The embedded database runs these statements itself; on another server an operator runs what `manage.py roles` prints.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LOCK_TIMEOUT = "2s"
IDLE_IN_TRANSACTION = "10s"


@dataclass(frozen=True)
class Role:
    name: str
    password: str
    settings: tuple[tuple[str, str], ...] = ()


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A string constant of SQL; raises ValueError for a NUL, which PostgreSQL cannot hold."""
    if "\0" in text:
        raise ValueError("A NUL cannot stand in SQL.")
    return "'" + re.sub(r"'", "''", text) + "'" if "\\" not in text else " E'" + re.sub(r"(['\\])", r"\1\1", text) + "'"


def working(name: str, password: str) -> Role:
    """A role that works on rows: it never waits long for a lock and never sits in an open transaction."""
    limits = (("lock_timeout", LOCK_TIMEOUT), ("idle_in_transaction_session_timeout", IDLE_IN_TRANSACTION))
    return Role(name, password, limits)


def role_statements(role: Role) -> list[str]:
    """Make the role if it is missing, and set its password and limits whatever they were."""
    name = identifier(role.name)
    missing = f"IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {literal(role.name)})"
    plain = "LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS"
    return [
        f"DO $$ BEGIN {missing} THEN CREATE ROLE {name}; END IF; END $$",
        f"ALTER ROLE {name} {plain} PASSWORD {literal(role.password)}",
        *(f"ALTER ROLE {name} SET {key} = {literal(value)}" for key, value in role.settings),
    ]


def membership_statement(owner: str, sweep: str) -> str:
    """Let the owner give functions to the sweep's role, see docs/tenants.md."""
    return f"GRANT {identifier(sweep)} TO {identifier(owner)}"


def database_statements(database: str, owner: str, others: list[str]) -> list[str]:
    """Close the database to everybody but the three roles. The database itself exists already."""
    name = identifier(database)
    return [
        f"ALTER DATABASE {name} OWNER TO {identifier(owner)}",
        f"REVOKE ALL ON DATABASE {name} FROM PUBLIC",
        f"GRANT CONNECT ON DATABASE {name} TO {', '.join(identifier(role) for role in others)}",
    ]


def create_database(database: str, owner: str) -> str:
    return f"CREATE DATABASE {identifier(database)} OWNER {identifier(owner)} ENCODING 'UTF8' TEMPLATE template0"
