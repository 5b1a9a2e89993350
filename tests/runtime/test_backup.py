"""A dump, restored on another server: with the keys everything is there and proved; without them nothing starts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import override_settings

from approvals.ledger import anchors, keys, sealing, verify
from runtime import calls, checkpoints
from runtime.embedded import DATABASE, ROLES, Servers
from runtime.embedded.postgres import Postgres
from runtime.runs import Run
from runtime.stack import BASE
from tests.databases import pointed
from tests.runtime.conftest import Desk, call
from tests.throwaway import SERVERS

WRONG = b"w" * 32


@pytest.fixture(scope="session")
def elsewhere() -> Iterator[Postgres]:
    """Another PostgreSQL with roles and an empty database, as an operator makes them before a restore."""
    home = SERVERS.home / "elsewhere"
    home.mkdir(mode=0o711)
    servers = Servers(home, durable=False)
    servers.postgres.start()
    servers.postgres.prepare()
    yield servers.postgres
    servers.erase()


@pytest.fixture
def restored(desk: Desk, committed_db: str, elsewhere: Postgres, tmp_path: Path) -> Iterator[tuple[Desk, Run]]:
    """A run that waits for people, anchored, dumped, and restored elsewhere: connections point there."""
    keys.check_fits()  # as every process does that starts
    run = desk.begin([call("free.pure", 4)], [call("asked.keyed", 5)])
    anchors.anchor()
    dump = tmp_path / "placet.dump"
    how = ("--format=custom", "--enable-row-security", f"--file={dump}")
    program("pg_dump", *how, SERVERS.postgres.url("owner", committed_db))
    with elsewhere.connect() as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)".encode())
        admin.execute(f"CREATE DATABASE {DATABASE} OWNER {ROLES['owner']} TEMPLATE template0".encode())
    program("pg_restore", "--exit-on-error", "--no-owner", f"--dbname={elsewhere.url('owner')}", str(dump))
    sealing.forget()
    where = {"NAME": DATABASE, "PORT": str(elsewhere.port)}
    with pointed(**where, USER=ROLES["owner"], PASSWORD=elsewhere.memory["owner"]):
        call_command("migrate", verbosity=0, interactive=False)
    with pointed(**where, USER=ROLES["application"], PASSWORD=elsewhere.memory["application"]):
        yield desk, run


def program(name: str, *words: str) -> None:
    done = subprocess.run([SERVERS.postgres.programs / name, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_was_restored_verifies_reads_and_goes_on(restored: tuple[Desk, Run]) -> None:
    """SC-2, AU-5: ledger, anchors and state; the decision that was open is taken there."""
    desk, run = restored
    keys.check_fits()
    assert [str(each) for found in verify.verify_workspace(run.workspace_id) for each in found.findings] == []
    assert anchors.doubts() == []
    state, _ = checkpoints.rehydrate(run.pk, head_seq=run.head_seq, head_mac=bytes(run.head_mac))
    assert state["results"][0]["value"] == {"n": 4, "twice": 8}
    desk.say(desk.calls(run)[1], desk.cast.dana, "approve")
    assert desk.work(run).status == "completed"


def test_what_happened_after_the_backup_is_listed(restored: tuple[Desk, Run], committed_db: str) -> None:
    """AU-5: the restore is older than the last anchor, and says by how much."""
    desk, run = restored
    here = {"NAME": committed_db, "PORT": str(SERVERS.postgres.port), "PASSWORD": SERVERS.memory["application"]}
    with pointed(**here):
        desk.say(desk.calls(run)[1], desk.cast.dana, "approve")
        assert desk.work(run).status == "completed"
        anchors.anchor()
    sealing.forget()
    said = list(anchors.differences(run.workspace_id))
    assert len(said) == 2 and all("its tail was cut off" in sentence for sentence in said)


@pytest.mark.lasts(25)
def test_with_other_keys_nothing_is_read_and_nothing_starts(restored: tuple[Desk, Run], elsewhere: Postgres) -> None:
    """SC-2: what the words about lost keys say; each process ends with the sentence."""
    desk, run = restored
    with override_settings(PLACET_KEYS={1: WRONG}):
        with pytest.raises(keys.KeysDoNotFit, match="Key 1 of PLACET_KEYS is not the key 1"):
            keys.check_fits()
        with pytest.raises(sealing.Tampered):
            calls.args_of(desk.calls(run)[0])
    for words in (["manage.py", "check", "--database", "default"], ["manage.py", "sweep"], *SERVED):
        done = started(elsewhere, *words)
        assert done.returncode != 0 and "Key 1 of PLACET_KEYS is not the key 1" in done.stdout + done.stderr, words


SERVED = (
    ["-m", "uvicorn", "runtime.asgi:application", "--port", "1", "--lifespan", "off"],
    ["-m", "celery", "-A", "runtime.celery", "worker", "-Q", "runs", "--pool", "threads", "--loglevel", "warning"],
)


def started(elsewhere: Postgres, *words: str) -> Any:
    more = {"PLACET_KEYS": f"1:{WRONG.hex()}", "DJANGO_SETTINGS_MODULE": "runtime.settings", "CELERY_SKIP_CHECKS": "1"}
    env = {**os.environ, **elsewhere.environment(), **more}
    return subprocess.run([sys.executable, *words], cwd=BASE, env=env, capture_output=True, text=True, timeout=90)
