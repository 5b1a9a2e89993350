"""Checkpoints: written once, chained, sealed, and never guessed at."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from approvals import rows
from approvals.ledger import keys
from runtime import checkpoints, state
from runtime.checkpoints import Checkpoint, Unreadable
from runtime.runs import Run
from tests.databases import pointed
from tests.runtime import tooling
from tests.runtime.conftest import Desk, call
from tests.throwaway import SERVERS

SECRET = "a word that stands nowhere in clear"


def rehydrate(run: Run) -> dict[str, Any]:
    run.refresh_from_db()
    return checkpoints.rehydrate(run.pk, head_seq=run.head_seq, head_mac=bytes(run.head_mac))[0]


def tamper(sql: str, *values: Any) -> None:
    """What somebody could do who has the owner's password and not our keys: the trigger is no help then."""
    with SERVERS.postgres.connect(str(connection.settings_dict["NAME"])) as admin:
        admin.execute("SET session_replication_role = replica")
        admin.execute(sql.encode(), values)


@pytest.fixture
def ended(desk: Desk) -> Run:
    """A completed run of three steps."""
    run = desk.begin([call("free.pure", 1)], [call("free.pure", 2, note=SECRET)])
    assert run.status == "completed"
    return run


def test_the_state_is_the_fold_of_what_was_stored(ended: Run) -> None:
    assert [result["args"]["n"] for result in rehydrate(ended)["results"]] == [1, 2]


def test_numbers_are_dense_and_each_names_the_one_before(ended: Run) -> None:
    chain = checkpoints.history(ended.pk)
    assert [each.seq for each in chain] == list(range(1, len(chain) + 1))
    assert [bytes(each.prev_mac) for each in chain[1:]] == [bytes(each.mac) for each in chain[:-1]]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE runtime_checkpoint SET body = body WHERE seq = 2",
        "DELETE FROM runtime_checkpoint WHERE seq = 2",
        "TRUNCATE runtime_checkpoint",
        "UPDATE runtime_agentversion SET number = 9",
    ],
)
def test_the_database_refuses_to_change_them_whoever_asks(ended: Run, sql: str) -> None:
    for role in ("application", "owner"):
        with as_role(role), pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql)


def as_role(role: str) -> Any:
    from runtime.embedded import ROLES

    return pointed(USER=ROLES[role], PASSWORD=SERVERS.memory[role])


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE runtime_checkpoint SET goto = 'elsewhere' WHERE seq = 2",  # edited
        "UPDATE runtime_checkpoint SET usage = '{\"tokens\": 1}' WHERE seq = 2",
        "UPDATE runtime_checkpoint SET fence = 0 WHERE seq = 3",
        "UPDATE runtime_checkpoint SET schema_version = 2 WHERE seq = 2",  # DU-L11
        "DELETE FROM runtime_checkpoint WHERE seq = 3",  # a gap
        "DELETE FROM runtime_checkpoint WHERE seq = (SELECT max(seq) FROM runtime_checkpoint)",  # a cut tail
        "UPDATE runtime_checkpoint a SET body = b.body FROM runtime_checkpoint b WHERE a.seq = 2 AND b.seq = 4",
        "UPDATE runtime_checkpoint SET body = '' WHERE seq = 2",
        "UPDATE runtime_checkpoint SET mac = set_byte(mac, 9, 0) WHERE seq = 2",
        "UPDATE runtime_checkpoint SET mac = set_byte(mac, 1, 7) WHERE seq = 2",  # a key that is not here
        "UPDATE runtime_checkpoint SET body_commit = set_byte(body_commit, 9, 0) WHERE seq = 2",
        "UPDATE runtime_run SET head_seq = 2, head_mac = (SELECT mac FROM runtime_checkpoint WHERE seq = 2)",
    ],
)
def test_tampering_is_noticed_when_the_chain_is_read(ended: Run, sql: str) -> None:
    """DU-S6, DU-S12, DU-L31: edit, swap, gap, cut tail, forged code."""
    tamper(sql)
    with pytest.raises(Unreadable):
        rehydrate(ended)


def test_a_body_moved_to_another_run_cannot_be_unsealed(desk: Desk, ended: Run) -> None:
    """DU-S6."""
    other = desk.begin([call("free.pure", 5)])
    tamper(
        "UPDATE runtime_checkpoint a SET body = b.body, body_commit = b.body_commit FROM runtime_checkpoint b"
        " WHERE a.run_id = %s AND b.run_id = %s AND a.seq = 2 AND b.seq = 2",
        other.pk,
        ended.pk,
    )
    with pytest.raises(Unreadable):
        rehydrate(other)


def test_a_run_whose_chain_is_broken_is_parked_and_sends_nothing(desk: Desk) -> None:
    """DU-L31, DU-S12: verification is on the way to every resumption, before anything is sent."""
    run = desk.begin([call("asked.unsafe")])
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve")
    tamper("UPDATE runtime_checkpoint SET goto = 'x' WHERE seq = 2")
    desk.work(run)
    assert (run.status, run.reason_code) == ("parked", "unreadable") and "Checkpoint 2" in run.reason
    assert tooling.happened("sent") == []


def test_a_call_that_somebody_set_to_cleared_is_not_sent(desk: Desk) -> None:
    """AP-V2, AP-V9, DU-L31: a row that says "cleared" is no approval."""
    run = desk.begin([call("asked.unsafe")])
    tamper("UPDATE runtime_call SET status = 'cleared', digest = repeat('a', 64)")
    Run.objects.filter(pk=run.pk).update(status="ready")
    desk.work(run)
    assert tooling.happened("sent") == [] and desk.calls(run)[0].status == "refused"


def test_a_newer_form_is_refused_and_never_guessed_at(ended: Run) -> None:
    """DU-L11."""
    made = Checkpoint.objects.get(run=ended, seq=1)
    made.schema_version = checkpoints.SCHEMA + 1
    with pytest.raises(Unreadable, match="newer release"):
        checkpoints.body_of(made)


def test_nothing_that_people_or_agents_wrote_stands_in_clear(desk: Desk) -> None:
    """DU-S7: every column of every table is searched for a planted word."""
    run = desk.begin([call("asked.keyed", 3, note=SECRET)], title=SECRET)
    desk.say(desk.calls(run)[0], desk.cast.dana, "reject", message=SECRET)
    desk.work(run)
    with connection.cursor() as cursor:
        cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
        for (table,) in cursor.fetchall():
            cursor.execute(f"SELECT count(*) FROM {table} t WHERE strpos(t::text, %s) > 0", [SECRET])
            assert cursor.fetchone()[0] == 0, table
            cursor.execute(
                f"SELECT count(*) FROM {table} t WHERE strpos(t::text, encode(%s::bytea, 'hex')) > 0", [SECRET.encode()]
            )
            assert cursor.fetchone()[0] == 0, table


def test_an_attempt_is_known_by_its_own_id(ended: Run) -> None:
    """DU-E7."""
    made = Checkpoint.objects.get(run=ended, seq=2)
    assert checkpoints.committed(ended.pk, 2, made.attempt_id)
    assert not checkpoints.committed(ended.pk, 2, uuid.uuid4())


def test_a_key_that_is_gone_parks_and_does_not_pass(ended: Run, settings: Any) -> None:
    settings.PLACET_KEYS = {2: b"2" * 32}
    with pytest.raises((Unreadable, keys.UnknownKey)):
        rehydrate(ended)


def test_the_tail_is_verified_without_unsealing_anything(ended: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "decode", lambda _: pytest.fail("a body was read"))
    ended.refresh_from_db()
    checkpoints.verify_tail(ended.pk, 2, head_seq=ended.head_seq, head_mac=bytes(ended.head_mac))


def test_a_checkpoint_of_another_workspace_cannot_be_added(desk: Desk, ended: Run) -> None:
    """The composite key holds child and parent in one workspace."""
    halden = desk.cast.halden.pk
    facts: dict[str, Any] = {"seq": 99, "prev_mac": b"", "fence": 0, "kind": "step", "body": {"ops": []}}
    with rows.within(halden):
        made = checkpoints.draft(workspace_id=halden, run_id=ended.pk, **facts)
    with pytest.raises(IntegrityError), rows.within(halden):
        made.save(force_insert=True)
