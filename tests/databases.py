"""Databases for tests: one template, migrated once by the owner; a clone for every test that commits.

The ledger refuses TRUNCATE whoever asks, so Django's flush is never used. A clone takes about 20 ms in memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

from django.core.management import call_command
from django.db import connections

from runtime.embedded import DATABASE, ROLES
from runtime.roles import identifier
from tests import seeds
from tests.throwaway import SERVERS

_numbers = itertools.count(1)
MOVABLE: Final = """
    CREATE OR REPLACE FUNCTION placet_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
        SELECT clock_timestamp() + make_interval(
            secs => COALESCE(NULLIF(current_setting('placet.clock_offset', true), ''), '0')::double precision)
    $$
"""
"""A clock that a test may set forward, in the place of the one that is installed."""


@cache
def start() -> None:
    """Start the throw-away servers with a migrated template, once for this test process."""
    seeds.sow(SERVERS, migrate)


def migrate() -> None:
    """Make the template."""
    with pointed(NAME=DATABASE, USER=ROLES["owner"], PASSWORD=SERVERS.memory["owner"], PORT=str(SERVERS.postgres.port)):
        call_command("migrate", verbosity=0, interactive=False)
        with connections["default"].cursor() as cursor:
            cursor.execute(MOVABLE)


@contextmanager
def pointed(**where: str) -> Iterator[None]:
    """Point Django's connections, of every thread, somewhere else: NAME, USER, PASSWORD, HOST, PORT."""
    held = connections.settings["default"]
    before = {key: held[key] for key in where}
    connections.close_all()
    held.update(where)
    try:
        yield
    finally:
        connections.close_all()
        held.update(before)


def copy(label: str, of: str = DATABASE) -> str:
    """Copy a database that nobody is connected to: the migrated template, or one made from it; returns the new name."""
    start()
    name = f"{DATABASE}_{label}_{next(_numbers)}"
    how = f"TEMPLATE {identifier(of)} OWNER {ROLES['owner']} STRATEGY FILE_COPY"
    with SERVERS.postgres.connect() as admin:
        admin.execute(f"CREATE DATABASE {identifier(name)} {how}".encode())
    return name


@contextmanager
def cloned(label: str = "clone", of: str = DATABASE) -> Iterator[str]:
    """A database of its own, cloned from the migrated template and dropped afterwards; connections point to it."""
    name = copy(label, of)
    try:
        with pointed(NAME=name):
            yield name
    finally:
        with SERVERS.postgres.connect() as admin:
            admin.execute(f"DROP DATABASE {identifier(name)} WITH (FORCE)".encode())


def logged(word: str, since: int) -> list[str]:
    """The lines of the database's log after the position `since` that hold a word."""
    lines = log_bytes()[since:].decode("utf-8", "replace").splitlines()
    return [line for line in lines if word in line]


def log_bytes() -> bytes:
    file = SERVERS.postgres.log
    return file.read_bytes() if file.exists() else b""
