"""Two workspaces in one database: what PostgreSQL itself shows and takes, table by table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import ProgrammingError, connection, transaction

from approvals import gate, habits, oversight, rows
from approvals.approvals import Approval
from approvals.ledger import entries
from approvals.people import Membership, Team
from approvals.rows import entrances, isolation, scopes, wire
from runtime import checks
from runtime.embedded import ROLES
from runtime.settings import BASE_DIR
from tests import databases
from tests.cast import say
from tests.runtime.conftest import Desk, call
from tests.throwaway import SERVERS

TABLES = isolation.tables()
EMPTY = {
    "uuid": "gen_random_uuid()",
    "bytea": "'\\x'",
    "jsonb": "'{}'",
    "ARRAY": "'{}'",
    "boolean": "false",
    "timestamp with time zone": "now()",
    "interval": "'0'",
    "text": "''",
    "character varying": "''",
}


@pytest.fixture
def admin(desk: Desk, committed_db: str) -> Iterator[psycopg.Connection[Any]]:
    """Somebody above row-level security, for whom nothing is checked."""
    with SERVERS.postgres.connect(committed_db) as admin:
        admin.execute("SET session_replication_role = replica")
        yield admin


def fill(admin: psycopg.Connection[Any], table: str, workspace_id: UUID) -> None:
    """See to it that a workspace has a row in a table, made of whatever its columns take."""
    column = TABLES[table]
    known = admin.execute(f"SELECT count(*) FROM {table} WHERE {column} = %s".encode(), [workspace_id]).fetchone()
    if known != (0,):
        return
    for (name,) in admin.execute(
        "SELECT conname FROM pg_constraint WHERE contype = 'c' AND conrelid = %s::regclass", [table]
    ).fetchall():
        admin.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"'.encode())
    needed = admin.execute(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = %s"
        " AND is_nullable = 'NO' AND column_default IS NULL AND column_name <> %s",
        [table, column],
    ).fetchall()
    names = ", ".join(f'"{name}"' for name, _ in [(column, ""), *needed])
    values = ", ".join(["%s", *(EMPTY.get(kind, "0") for _, kind in needed)])
    admin.execute(f"INSERT INTO {table} ({names}) VALUES ({values})".encode(), [workspace_id])


@pytest.mark.parametrize("table", sorted(TABLES))
def test_a_table_shows_and_takes_the_rows_of_one_workspace(
    table: str, desk: Desk, admin: psycopg.Connection[Any]
) -> None:
    """DU-L46, AP-I5, CH-B114: as the application, with no workspace, with a foreign one, and with its own."""
    ours, theirs = desk.cast.northwind.pk, desk.cast.halden.pk
    fill(admin, table, ours)
    assert (_seen(table, None), _seen(table, theirs, of=ours)) == (0, 0)
    assert _seen(table, ours) > 0 and _seen(table, ours, of=theirs) == 0
    for place in (None, theirs):
        assert {_tried(change, place) for change in _changes(table, ours)} <= {0, "permission denied"}
        assert _tried(f"INSERT INTO {table} ({TABLES[table]}) VALUES ('{ours}')", place) == "row-level security"
    if (found := _tried(f"UPDATE {table} SET {TABLES[table]} = '{theirs}'", ours)) != "permission denied":
        assert found == "row-level security"


def _changes(table: str, workspace_id: UUID) -> list[str]:
    column = TABLES[table]
    its = f"WHERE {column} = '{workspace_id}'"
    return [f"UPDATE {table} SET {column} = {column} {its}", f"DELETE FROM {table} {its}"]


def _seen(table: str, place: UUID | None, *, of: UUID | None = None) -> int:
    where = f" WHERE {TABLES[table]} = '{of}'" if of else ""
    [(found,)] = _in(place, f"SELECT count(*) FROM {table}{where}").fetchall()
    return int(found)


def _tried(statement: str, place: UUID | None) -> int | str:
    """How many rows it changed, or the words with which it was refused."""
    try:
        found: int = _in(place, statement).rowcount
    except psycopg.errors.InsufficientPrivilege as refused:
        return next(words for words in ("permission denied", "row-level security") if words in str(refused))
    return found


def _in(place: UUID | None, statement: str) -> psycopg.Cursor[Any]:
    """Run a statement as the application in a transaction of its own, which stands where it is told and nowhere
    else."""
    connection.ensure_connection()
    raw = connection.connection
    with raw.transaction(force_rollback=True):
        if place:
            raw.execute(scopes.SAY, [str(place)])
        found: psycopg.Cursor[Any] = raw.execute(statement)
    return found


def test_every_table_of_a_workspace_is_closed_by_force(desk: Desk) -> None:
    """DU-L46: the policies that PostgreSQL knows are those of the models, and no other."""
    assert {"approvals_workspace", "approvals_datakey", "approvals_entry", "runtime_run", "runtime_blob"} <= set(TABLES)
    with connection.cursor() as cursor:
        assert list(isolation.faults(cursor, ROLES["sweep"])) == []


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE runtime_call DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE runtime_call NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY placet_workspace ON runtime_call",
        "CREATE POLICY more ON runtime_call FOR SELECT USING (true)",
        "DROP POLICY placet_sweep ON runtime_call; CREATE POLICY placet_sweep ON runtime_call FOR SELECT USING (true)",
        "GRANT EXECUTE ON FUNCTION placet_workspaces() TO PUBLIC",
        "ALTER FUNCTION placet_workspaces() OWNER TO placet_owner",
        "ALTER FUNCTION placet_workspaces() RESET search_path",
        "CREATE OR REPLACE FUNCTION placet_workspace_named(text) RETURNS SETOF uuid LANGUAGE sql STABLE SECURITY"
        " DEFINER SET search_path = pg_catalog, pg_temp AS 'SELECT id FROM public.approvals_workspace'",
        "CREATE FUNCTION peep() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM runtime_call'",
    ],
)
def test_an_open_table_and_a_function_too_many_are_refused_at_start(
    change: str, desk: Desk, admin: psycopg.Connection[Any]
) -> None:
    admin.execute(change.encode())
    found = checks.database_is_safe(None, databases=["default"])
    assert [message.id for message in found] == ["runtime.E010"]


def test_migrating_again_closes_what_was_opened(desk: Desk, admin: psycopg.Connection[Any]) -> None:
    admin.execute("ALTER TABLE runtime_call DISABLE ROW LEVEL SECURITY")
    admin.execute("CREATE POLICY more ON runtime_call USING (true)")
    admin.execute("CREATE FUNCTION old() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT 1::bigint'")
    admin.execute("ALTER FUNCTION old() OWNER TO placet_sweep")
    admin.execute("ALTER FUNCTION placet_workspaces() RESET search_path")
    with databases.pointed(USER=ROLES["owner"], PASSWORD=SERVERS.memory["owner"]):
        call_command("migrate", verbosity=0, interactive=False)
    assert checks.database_is_safe(None, databases=["default"]) == []


def test_a_member_of_the_sweep_is_no_application(committed_db: str) -> None:
    with SERVERS.postgres.connect() as server:
        server.execute("GRANT placet_sweep TO placet")
        try:
            said = [message.msg for message in checks.database_is_safe(None, databases=["default"])]
        finally:
            server.execute("REVOKE placet_sweep FROM placet")
    assert any("every workspace" in sentence for sentence in said)


# Roles


def test_the_owner_reads_all_and_writes_within_a_workspace(desk: Desk) -> None:
    """FORCE binds the owner as well: a migration of data goes from workspace to workspace."""
    northwind, halden = desk.cast.northwind, desk.cast.halden
    with databases.pointed(USER=ROLES["owner"], PASSWORD=SERVERS.memory["owner"]), rows.nowhere():
        assert Membership.objects.filter(workspace=northwind).exists()
        assert Team.objects.update(name="Everybody") == 0
        with rows.within(halden):
            assert Team.objects.filter(workspace=northwind).update(name="Theirs") == 0
        with rows.within(northwind):
            assert Team.objects.update(name="Ours") == 1


def test_the_sweep_reads_all_and_writes_within_a_workspace(desk: Desk) -> None:
    with databases.pointed(USER=ROLES["sweep"], PASSWORD=SERVERS.memory["sweep"]), rows.nowhere():
        assert Team.objects.count() == 1
        assert Team.objects.update(name="Everybody") == 0
        with pytest.raises(ProgrammingError, match="row-level security"):
            Team.objects.create(workspace=desk.cast.northwind, slug="more", name="More")


def test_the_sweep_tells_of_habits_in_the_workspace_that_has_them(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """HF-5: in the sweep's own role, which reads all workspaces and writes in one."""
    desk.begin([call("asked.keyed")])
    say(Approval.objects.get(), desk.cast.dana, "approve")
    for name in ("SOME", "MOST"):
        monkeypatch.setattr(oversight, name, 1)
    monkeypatch.setattr(habits, "_NEXT", {})
    with databases.pointed(USER=ROLES["sweep"], PASSWORD=SERVERS.memory["sweep"]), rows.nowhere():
        assert gate.look_around() == 1
    told = entries.read(desk.cast.northwind.pk, "workspace", only=[habits.NOTICED])
    assert next(fact["of"] for entry in told for fact in entry["facts"]) == desk.cast.dana.public_id


# Entrances


def test_the_entrances_are_listed_and_give_keys_alone(desk: Desk) -> None:
    """Functions of the sweep's, for the application and nobody else, that give ids."""
    page = (Path(BASE_DIR) / "docs" / "tenants.md").read_text()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT proname, pg_get_function_result(oid), proconfig FROM pg_proc"
            " WHERE prosecdef AND pronamespace = 'public'::regnamespace"
        )
        made = cursor.fetchall()
    assert {name for name, *_ in made} == {each.name for each in entrances.ENTRANCES}
    assert {(gives, *config) for _, gives, config in made} == {("SETOF uuid", "search_path=pg_catalog, pg_temp")}
    assert all(f"`{each.name}" in page for each in entrances.ENTRANCES)


def test_an_entrance_opens_to_whoever_belongs_there(desk: Desk) -> None:
    """AP-I6: a foreign and an unknown one alike."""
    entered = "SELECT placet_workspace_entered(%s, %s)"
    cast = desk.cast
    with rows.nowhere():
        assert wire.value(entered, [cast.dana.pk, "northwind"]) == cast.northwind.pk
        assert wire.value(entered, [cast.oskar.pk, "northwind"]) is wire.value(entered, [cast.oskar.pk, "none"]) is None
        assert wire.value("SELECT placet_workspace_of_run(%s)", [uuid4()]) is None


# Scopes


def test_a_scope_leaves_nothing_on_its_connection(desk: Desk) -> None:
    """What goes back to a pool stands nowhere, after a queryset, a prepared statement and a server's cursor."""
    with rows.reading(desk.cast.northwind):
        assert Team.objects.count() == wire.value("SELECT count(*) FROM approvals_team", ()) == 1
        assert len(list(Team.objects.all().iterator())) == 1
        with transaction.atomic():
            assert Team.objects.count() == 1 and len(list(Team.objects.all().iterator())) == 1
        with pytest.raises(ProgrammingError), connection.cursor() as cursor:
            cursor.execute("SELECT nothing")
    left = connection.connection.execute("SELECT current_setting('app.workspace', true)").fetchone()
    assert left in {(None,), ("",)}
    with rows.nowhere():
        assert Team.objects.count() == wire.value("SELECT count(*) FROM approvals_team", ()) == 0


def test_a_transaction_stands_where_it_began(desk: Desk) -> None:
    with rows.within(desk.cast.northwind):
        with pytest.raises(RuntimeError), rows.reading(desk.cast.halden):
            pass
        with pytest.raises(RuntimeError), rows.nowhere():
            pass
        with pytest.raises(RuntimeError):
            rows.enter(desk.cast.halden)
        assert rows.where() == desk.cast.northwind.pk
    assert settings.PLACET_ROLES["application"] == connection.settings_dict["USER"]
