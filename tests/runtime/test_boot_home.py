"""`var/`: keys once, one process at a time, nothing of anyone else's removed; ports; the environment."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from runtime import down, environment, ports
from runtime.children import CannotStart
from runtime.environment import BadEnvironment, Environment
from runtime.home import Home
from runtime.stack import BASE

KEY = "0123456789abcdef" * 4


@pytest.fixture
def here(tmp_path) -> Home:
    made = Home(tmp_path / "var")
    made.open()
    return made


def test_keys_are_drawn_once_for_the_owner_alone(here):
    drawn = here.keys()
    assert here.keys() == drawn
    assert (here.path / "keys.json").stat().st_mode & 0o777 == 0o600
    assert Environment(drawn).keys("PLACET_KEYS").keys() == {1}


def test_a_damaged_key_file_is_a_sentence(here):
    (here.path / "keys.json").write_text('{"PLACET_SECRET_KEY": "half')
    with pytest.raises(CannotStart, match="is damaged"):
        here.keys()


def test_no_new_keys_are_drawn_where_there_are_data(here):
    (here.path / "postgres-18").mkdir()
    with pytest.raises(CannotStart, match="Put it back, or start over with --reset"):
        here.keys()


def test_only_one_process_holds_the_folder(here):
    assert here.lock()
    assert not Home(here.path).lock()
    assert Home(here.path).is_locked()


def test_a_holder_that_was_killed_holds_nothing(here):
    """A stale note of a dead process is no reason not to start."""
    here.tell(pid=999_999_999, url="http://localhost:1")
    assert not here.is_locked()
    assert here.lock()
    assert here.told() == {}


def test_a_folder_of_someone_else_is_a_sentence(here, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: here.path.stat().st_uid + 1)
    with pytest.raises(CannotStart, match="belongs to"):
        here.open()


def test_a_file_in_the_way_is_a_sentence(tmp_path):
    (tmp_path / "var").write_text("")
    with pytest.raises(CannotStart, match="cannot be made"):
        Home(tmp_path / "var").open()


def test_starting_over_leaves_a_folder_alone_that_is_not_ours(tmp_path):
    (tmp_path / "letters.txt").write_text("mine")
    with pytest.raises(CannotStart, match="nothing was removed"):
        Home(tmp_path).erase(made_here=False)
    assert (tmp_path / "letters.txt").exists()


def test_a_log_that_has_grown_large_is_put_aside(here):
    (here.log / "web.log").write_bytes(b"x" * 20)
    here.roll_logs(limit=10)
    assert [path.name for path in here.log.iterdir()] == ["web.log.1"]


def test_down_says_when_a_process_does_not_end(here, monkeypatch, capsys):
    monkeypatch.setattr(down, "here", lambda: here)
    monkeypatch.setattr(down, "PATIENCE", 0.1)
    here.lock()
    assert down.main() == 1
    assert "has not ended" in capsys.readouterr().out


# Ports


def test_the_next_free_port_is_taken_from_8000_on(monkeypatch):
    monkeypatch.setattr(ports, "is_free", lambda port: port >= 8003)
    assert ports.choose_port("") == 8003


def test_no_free_port_is_a_sentence(monkeypatch):
    monkeypatch.setattr(ports, "is_free", lambda port: False)
    with pytest.raises(CannotStart, match="8000 to 8099 are all taken"):
        ports.choose_port("")


@pytest.mark.parametrize("wanted", ["http", "0", "65536", "-1", "80 ", "٨٠٠٠"])
def test_a_port_that_is_none_is_a_sentence(wanted):
    with pytest.raises(CannotStart, match="must be a number"):
        ports.choose_port(wanted)


def loopbacks() -> list[str]:
    """Where a stranger may listen on this machine; not every one knows IPv6."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return ["127.0.0.1", "0.0.0.0"]
    return ["127.0.0.1", "0.0.0.0", "::1"]


@pytest.mark.parametrize("address", loopbacks())
def test_a_listener_on_either_loopback_makes_a_port_busy(address):
    """A browser that reads localhost tries ::1 first and would meet the stranger."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, 0), family=family) as stranger:
        assert not ports.is_free(stranger.getsockname()[1])


# The environment


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (lambda env: env.text("X"), ""),
        (lambda env: env.choice("X", "demo", "production"), "Production"),
        (lambda env: env.number("X", 8, low=1, high=9), "ten"),
        (lambda env: env.number("X", 8, low=1, high=9), "10"),
        (lambda env: env.addresses("X"), "http://127.0.0.1:80"),
        (lambda env: env.addresses("X"), "127.0.0.1"),
        (lambda env: env.addresses("X"), "127.0.0.1:70000"),
        (lambda env: env.keys("X"), ""),
        (lambda env: env.keys("X"), KEY),
        (lambda env: env.keys("X"), f"1:{KEY[:-1]}"),
        (lambda env: env.keys("X"), f"0:{KEY}"),
        (lambda env: env.keys("X"), f"1:{KEY},1:{KEY}"),
        (lambda env: env.postgres("X"), "mysql://a:b@host/db"),
        (lambda env: env.postgres("X"), "postgresql://host/db"),
        (lambda env: env.postgres("X"), "postgresql://a:b@host"),
        (lambda env: env.postgres("X"), "postgresql://a:b@host:port/db"),
        (lambda env: env.postgres("X"), "postgresql://a:b@host/db?sslmod=require"),
        (lambda env: env.redis("X"), "amqp://host"),
    ],
)
def test_a_value_that_cannot_be_meant_names_its_variable_and_tells_no_secret(read, value):
    with pytest.raises(BadEnvironment, match=r"\bX\b") as refused:
        read(Environment({"X": value}))
    assert KEY[:-1] not in str(refused.value)


def test_a_postgres_address_is_read_whole():
    url = "postgresql://r%40le:p%2Fw@db.example:5433/plac%C3%ABt?sslmode=verify-full"
    assert Environment({"X": url}).postgres("X") == {
        "HOST": "db.example",
        "PORT": "5433",
        "USER": "r@le",
        "PASSWORD": "p/w",
        "NAME": "placët",
        "OPTIONS": {"sslmode": "verify-full"},
    }


def test_keys_are_read_by_number():
    assert Environment({"X": f"1:{KEY}, 12:{KEY}"}).keys("X") == {1: bytes.fromhex(KEY), 12: bytes.fromhex(KEY)}


def test_the_demo_reads_what_bin_up_left_and_production_does_not(here):
    here.write_environment({"PLACET_ENV": "demo", "REDIS_URL": "redis://left"})
    assert environment.gather({}, here.path)["REDIS_URL"] == "redis://left"
    assert environment.gather({"REDIS_URL": "redis://mine"}, here.path)["REDIS_URL"] == "redis://mine"
    assert "REDIS_URL" not in environment.gather({"PLACET_ENV": "production"}, here.path)


def test_a_command_without_an_environment_says_what_is_missing(tmp_path):
    """No key and no password is ever invented."""
    argv = [sys.executable, "manage.py", "check"]
    env = {"PATH": os.environ["PATH"], "PLACET_HOME": str(tmp_path)}
    done = subprocess.run(argv, cwd=BASE, env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "PLACET_ENV is not set. In the demo bin/up sets it; in production you do.\n"
    assert list(tmp_path.iterdir()) == []
