"""The embedded servers: started, killed, cut short, found again."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from runtime import roles
from runtime.children import CannotStart
from runtime.embedded import Servers, programs
from tests.throwaway import fresh_home


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    folder = fresh_home()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def servers(home) -> Iterator[Servers]:
    """Running servers; the module's tests share the data, not the processes."""
    running = Servers(home, durable=False)
    running.start()
    yield running
    running.stop()


def write(servers: Servers, text: str) -> None:
    with servers.postgres.connect() as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS noted (text text)")
        connection.execute("INSERT INTO noted VALUES (%s)", [text])


def read(servers: Servers) -> list[str]:
    with servers.postgres.connect() as connection:
        return [text for (text,) in connection.execute("SELECT text FROM noted").fetchall()]


def test_the_three_roles_are_plain(servers):
    with servers.postgres.connect() as connection:
        rows = connection.execute(
            "SELECT rolname, rolsuper OR rolbypassrls OR rolcreatedb OR rolcreaterole FROM pg_roles "
            "WHERE rolname LIKE 'placet%' ORDER BY 1"
        ).fetchall()
    assert rows == [("placet", False), ("placet_owner", False), ("placet_sweep", False)]


@pytest.mark.parametrize("role", ["application", "sweep"])
def test_a_working_role_never_waits_long_and_makes_no_tables(servers, role):
    with psycopg.connect(servers.postgres.url(role), autocommit=True) as connection:
        assert connection.execute("SHOW lock_timeout").fetchone() == ("2s",)
        assert connection.execute("SHOW idle_in_transaction_session_timeout").fetchone() == ("10s",)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("CREATE TABLE mine ()")


@pytest.mark.parametrize("password", ["o'clock", "back\\slash", "both'\\'", 'quo"te', "%s %%", "ü€"])
def test_a_role_may_have_any_password(servers, password):
    with servers.postgres.connect() as connection:
        for statement in roles.role_statements(roles.working("odd", password)):
            connection.execute(statement.encode())
    with psycopg.connect(
        host="127.0.0.1", port=servers.postgres.port, user="odd", password=password, dbname="postgres"
    ) as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("odd",)


def test_nobody_enters_without_the_password(servers):
    wrong = servers.postgres.url("application").replace(servers.memory["application"], "guess")
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(wrong)
    with pytest.raises(redis.AuthenticationError):
        redis.Redis.from_url(servers.valkey.url.replace(servers.memory["broker"], "guess")).ping()


def test_secrets_are_for_the_owner_alone(servers, home):
    for file in (home / "servers.json", servers.valkey.settings):
        assert file.stat().st_mode & 0o077 == 0
    assert servers.postgres.data.stat().st_mode & 0o077 == 0


def test_killed_outright_both_come_back_with_their_data(servers):
    write(servers, "before the kill")
    servers.postgres.kill()
    servers.valkey.kill()
    servers.start()
    assert "before the kill" in read(servers)
    assert redis.Redis.from_url(servers.valkey.url).ping()


def test_what_has_fallen_is_started_again_on_the_same_port(servers):
    said: list[str] = []
    before = servers.environment()
    os.kill(servers.postgres.pid, signal.SIGKILL)
    os.kill(servers.valkey.pid, signal.SIGKILL)
    servers.postgres.process.wait()
    servers.valkey.process.wait()
    servers.turn(said.append)
    assert len(said) == 2
    assert servers.environment() == before
    assert servers.postgres.answers()
    assert servers.valkey.answers()


def test_a_second_start_attaches_to_what_runs(servers, home):
    again = Servers(home, durable=False)
    again.start()
    assert again.environment() == servers.environment()
    assert (again.postgres.pid, again.valkey.pid) == (servers.postgres.pid, servers.valkey.pid)


@pytest.mark.parametrize("pid", ["999999999", str(os.getpid()), "1"], ids=["free", "ours", "init"])
def test_a_stale_pid_file_is_cleared_away(servers, home, pid):
    """The number may be free, or a stranger's by now, our own for one."""
    servers.stop()
    (servers.postgres.data / "postmaster.pid").write_text(
        f"{pid}\n{servers.postgres.data}\n0\n{servers.postgres.port}\n"
    )
    again = Servers(home, durable=False)
    again.start()
    assert again.postgres.answers()
    again.stop()


def test_a_database_that_was_cut_short_in_the_making_is_made_anew():
    home = fresh_home()
    servers = Servers(home, durable=False)
    half = servers.postgres.data.with_name(f"new-{servers.postgres.data.name}")
    half.mkdir()
    (half / "PG_VERSION").write_text("18\n")
    servers.postgres.start()
    assert servers.postgres.answers()
    servers.erase()
    assert not half.exists()
    shutil.rmtree(home)


def test_data_of_another_major_version_are_left_alone_with_a_sentence():
    home = fresh_home()
    servers = Servers(home, durable=False)
    (servers.postgres.data.parent / "postgres-17").mkdir()
    with pytest.raises(CannotStart, match=r"holds data of PostgreSQL 17.*pg_dump.*--reset"):
        servers.postgres.start()
    servers.erase()
    shutil.rmtree(home)


def test_a_broker_file_that_cannot_be_read_is_thrown_away(servers, home):
    servers.stop()
    for file in (servers.valkey.data / "kept").glob("*"):
        file.write_bytes(b"from a version that is not out yet")
    again = Servers(home, durable=False)
    again.start()
    assert again.valkey.answers()
    again.stop()


@pytest.mark.parametrize("spoil", [lambda file: file.unlink(), lambda file: file.write_text('{"place": "/va')])
def test_lost_passwords_are_a_sentence(servers, home, spoil):
    file = home / "servers.json"
    kept = file.read_text()
    try:
        spoil(file)
        with pytest.raises(CannotStart, match=r"servers.json .*--reset"):
            Servers(home)
    finally:
        file.write_text(kept)


def test_data_outside_that_are_gone_are_a_sentence(tmp_path):
    (tmp_path / "servers.json").write_text(json.dumps({"place": "/var/lib/placet-was-here"}))
    with pytest.raises(CannotStart, match="/var/lib/placet-was-here, which is gone"):
        Servers(tmp_path)


def test_a_home_that_nobody_can_enter_keeps_its_data_outside():
    home = fresh_home()
    home.chmod(0o700)
    servers = Servers(home, durable=False)
    place = servers.place
    assert (place == home) == (os.geteuid() != 0)
    servers.start()
    assert json.loads((home / "servers.json").read_text())["place"] == str(place)
    assert place.stat().st_mode & 0o077 == 0
    servers.erase()
    assert place == home or not place.exists()
    shutil.rmtree(home)


@pytest.mark.parametrize(("find", "variable"), [(programs.postgres, "DATABASE_URL"), (programs.valkey, "REDIS_URL")])
def test_a_system_without_wheel_and_server_is_a_sentence(find, variable, tmp_path, monkeypatch):
    """No wheel is made for musl; then the system's own server is taken, or one by its address."""
    monkeypatch.setattr(programs, "find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr(programs, "SYSTEM", tmp_path)
    with pytest.raises(CannotStart, match=f"give one by {variable}"):
        find(tmp_path, {})


def test_the_newest_server_of_the_system_is_taken_from_15_on(tmp_path, monkeypatch):
    monkeypatch.setattr(programs, "find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr(programs, "SYSTEM", tmp_path)
    for version in (14, 15, 16):
        program = tmp_path / str(version) / "bin" / "postgres"
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\necho 'postgres (PostgreSQL) {version}.3'\n")
        program.chmod(0o755)
    assert programs.postgres(tmp_path, {}) == tmp_path / "16" / "bin"
