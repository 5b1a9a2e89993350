"""Pruned, erased, deleted: what goes is gone everywhere, what stays still proves itself, and nothing comes back."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from approvals import gate, rows
from approvals.ledger import anchors, entries
from approvals.ledger.sealing import Erased as SealErased
from runtime import calls, checkpoints, evidence, leases, loop, retention, runs, snapshots
from runtime.blobs import Blob, BlobUse
from runtime.calls import Attempt, Call
from runtime.checkpoints import Checkpoint, Erased, Unreadable
from runtime.retention import NotYet, Tombstone
from runtime.runs import Run
from runtime.snapshots import Snapshot
from tests.runtime import growing, tooling
from tests.runtime.conftest import Desk, call
from tests.runtime.test_checkpoints import as_role, tamper
from tests.runtime.test_snapshots import LARGE, at, from_nothing, steps

SECRET = "a word that has to go"


@pytest.fixture
def talked(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(snapshots, "FLOOR", 1000)
    return growing.grow(desk, *growing.talk(20), {"update": {"file": LARGE}}, *growing.talk(10))


@pytest.fixture
def decided(desk: Desk) -> Run:
    """A run whose one call a person approved and which has ended."""
    run = desk.begin([call("asked.keyed", 3, note=SECRET)], title=SECRET)
    desk.say(desk.calls(run)[0], desk.cast.dana, "approve", message=SECRET)
    return desk.work(run)


def verified(run: Run) -> None:
    """The whole chain of a run, from its headers alone."""
    run.refresh_from_db()
    checkpoints.verify(checkpoints.history(run.pk), prev=None, head_seq=run.head_seq, head_mac=bytes(run.head_mac))


def manage(*words: str) -> str:
    told = StringIO()
    call_command(*words, stdout=told)
    return told.getvalue()


def test_a_pruned_run_keeps_its_headers_its_state_and_its_chain(talked: Run) -> None:
    """DU-L43, DU-L47: below a snapshot that was read back first."""
    whole = at(talked, talked.head_seq)
    assert retention.prune(talked, by="system") == talked.head_seq
    assert at(talked, talked.head_seq) == whole and whole["file"] == LARGE
    assert Checkpoint.objects.filter(run=talked).count() == talked.head_seq
    assert not Checkpoint.objects.filter(run=talked).exclude(body=b"").exists()
    verified(talked)
    assert entries.read(talked.workspace_id, talked.public_id)[-1]["kind"] == "run.pruned"


def test_what_was_pruned_is_said_to_be_erased_and_never_read_as_nothing(talked: Run) -> None:
    """DU-L43: no silent empty, neither for an old state nor when the kept snapshot is lost."""
    retention.prune(talked, by="system", keep=5)
    assert at(talked, talked.head_seq - 2) == at(talked, talked.head_seq - 2)
    with pytest.raises(Erased):
        at(talked, talked.head_seq - 6)
    tamper("DELETE FROM runtime_snapshot")
    with pytest.raises(Unreadable, match="erased"):
        at(talked, talked.head_seq)


def test_a_run_goes_on_over_what_was_pruned(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """DU-L43: between two claims, and while a worker holds the run with the old snapshots in its memory."""
    monkeypatch.setattr(snapshots, "FLOOR", 1000)
    run = growing.start(desk, *growing.talk(60))
    asked = growing.told.step

    def step(node: str, given: dict[str, Any], results: Any) -> Any:
        if given.get("at") in {17, 30, 31}:
            run.refresh_from_db()
            retention.prune(run, by="system")
        return asked(node, given, results)

    monkeypatch.setattr(growing.told, "step", step)
    desk.work(run)
    assert run.status == "completed" and len(at(run, run.head_seq)["messages"]) == 60
    verified(run)


@pytest.mark.parametrize("keep", [50, 31])
def test_there_may_be_nothing_to_prune(talked: Run, keep: int) -> None:
    retention.prune(talked, by="system", keep=31)
    with pytest.raises(NotYet):
        retention.prune(talked, by="system", keep=keep)


def test_an_erased_run_is_a_skeleton_that_can_be_audited(desk: Desk, decided: Run) -> None:
    """CH-B157, DU-S7: every column of every table is searched; headers, decisions and ledger stay and verify."""
    before = entries.read(decided.workspace_id, decided.public_id)
    retention.erase(decided, by=desk.cast.omar.public_id)
    verified(decided)
    made = Call.objects.get(run=decided)
    for read in (lambda: calls.args_of(made), lambda: calls.reason_of(made), lambda: runs.title_of(decided)):
        with pytest.raises(SealErased):
            read()
    assert not Attempt.objects.filter(call=made).exclude(answer=b"").exists()
    with pytest.raises(Erased):
        at(decided, decided.head_seq)
    after = entries.read(decided.workspace_id, decided.public_id)
    assert after[: len(before)] == before and after[-1]["kind"] == "run.erased"
    manage("ledger", "verify")
    with connection.cursor() as cursor:
        for table in ("approvals_ruling", "approvals_decision", "approvals_approval", "runtime_checkpoint"):
            column = {"approvals_ruling": "args", "approvals_decision": "message", "approvals_approval": "context"}
            cursor.execute(f"SELECT count(*) FROM {table} WHERE {column.get(table, 'body')} <> ''")
            assert cursor.fetchone()[0] == 0, table


def test_a_run_that_goes_on_is_not_erased(desk: Desk) -> None:
    run = desk.begin([call("asked.keyed", 3)])
    with pytest.raises(NotYet):
        retention.erase(run, by="system")
    assert calls.args_of(Call.objects.get(run=run))


def test_erasing_one_run_takes_no_blob_from_another(desk: Desk) -> None:
    """DU-L43."""
    mine = growing.grow(desk, {"update": {"file": LARGE, "own": LARGE + "mine"}})
    theirs = growing.grow(desk, {"update": {"file": LARGE}})
    retention.erase(mine, by="system")
    assert at(theirs, theirs.head_seq)["file"] == LARGE
    assert {use.run_id for use in BlobUse.objects.all()} == {theirs.pk} and Blob.objects.count() == 2
    retention.erase(theirs, by="system")
    assert not Blob.objects.exists() and not Snapshot.objects.exists()


def test_pruning_lets_go_of_large_values_that_no_state_holds_any_more(desk: Desk) -> None:
    """DU-L43: what is still held, or was held behind the pruned stretch, stays."""
    changes = [{"update": {"file": LARGE + which}} for which in ("one", "two", "three")]
    run = growing.grow(desk, {"update": {"kept": LARGE}}, *changes)
    before = Blob.objects.count()
    retention.prune(run, by="system", keep=1)
    assert at(run, run.head_seq)["file"] == LARGE + "three" and at(run, run.head_seq)["kept"] == LARGE
    assert at(run, run.head_seq - 1)["file"] == LARGE + "two"
    assert BlobUse.objects.count() == Blob.objects.count() == before - 1


def test_a_deleted_run_is_gone_and_its_late_worker_writes_nothing(desk: Desk) -> None:
    """DU-L9: deleting is final, whoever still holds the run."""
    run = desk.start([call("free.pure", 1)])
    with rows.within(run.workspace_id):
        lease = leases.claim(run.workspace_id, run.pk)
    assert lease is not None
    late = leases.next_checkpoint(lease, kind="step", body={"ops": []})
    retention.delete(run, by="system")
    with rows.within(run.workspace_id), pytest.raises(leases.LeaseLost):
        leases.move_head(lease, late)
    assert not Run.objects.filter(pk=run.pk).exists() and not Checkpoint.objects.filter(run_id=run.pk).exists()
    assert Tombstone.objects.get(pk=run.pk).by == "system"
    assert loop.advance(run.pk, run.workspace_id) is False


def test_nothing_of_a_deleted_run_can_be_written_again(decided: Run) -> None:
    """DU-L9: no row of it reappears, not even its own."""
    held = Checkpoint.objects.filter(run=decided).first()
    copy = Run.objects.get(pk=decided.pk)
    retention.delete(decided, by="system")
    assert held is not None
    for row in (copy, held):
        with pytest.raises(DatabaseError), transaction.atomic():
            row.save(force_insert=True)
    assert entries.read(decided.workspace_id, copy.public_id)[-1]["kind"] == "run.deleted"


def test_an_anchor_misses_no_run_that_was_deleted_and_every_one_that_was_taken(
    desk: Desk, decided: Run, settings: Any, tmp_path: Path
) -> None:
    """DU-L9: a tombstone that nobody with our keys wrote explains nothing."""
    settings.PLACET_ANCHORS = tmp_path / "anchors.jsonl"
    other = desk.begin([call("free.pure", 1)])
    anchors.anchor()
    retention.delete(decided, by="system")
    manage("ledger", "verify")
    assert not list(anchors.differences(desk.cast.northwind.pk))
    for table in ("attempt", "call", "checkpoint", "snapshot", "blobuse"):
        where = "call_id IN (SELECT id FROM runtime_call WHERE run_id = %s)" if table == "attempt" else "run_id = %s"
        tamper(f"DELETE FROM runtime_{table} WHERE {where}", other.pk)
    tamper("DELETE FROM runtime_run WHERE id = %s", other.pk)
    tamper(
        "INSERT INTO runtime_tombstone (id, workspace_id, by, mac) SELECT %s, workspace_id, by, mac"
        " FROM runtime_tombstone",
        other.pk,
    )
    assert any("is gone" in each for each in anchors.differences(desk.cast.northwind.pk))
    assert any("tombstone" in each for each in evidence.unproven(desk.cast.northwind.pk))


def test_deleting_withdraws_what_the_run_asks(desk: Desk) -> None:
    """DU-L33: nobody is left to decide for a run that is not there."""
    run = desk.begin([call("asked.keyed", 3)])
    retention.delete(run, by="system")
    from approvals.approvals import Approval

    assert [each.status for each in Approval.objects.all()] == ["cancelled"]


def test_a_run_that_is_being_deleted_takes_no_step_and_sends_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DU-L9: also where a worker finds it awake between the withdrawal and the burial."""
    run = desk.begin([call("asked.keyed")], [call("free.unsafe", 2)])
    withdraw, met = gate.withdraw, []

    def withdrawn(*about: Any, **more: Any) -> int:
        ended = withdraw(*about, **more)
        met.append(Run.objects.get(pk=run.pk).cancel_by)
        if len(met) == 1:
            desk.work(run)
        return ended

    monkeypatch.setattr(gate, "withdraw", withdrawn)
    retention.delete(run, by="system")
    assert met[0] == "system" and run.status == "cancelled" and tooling.happened("sent") == []
    assert not Run.objects.filter(pk=run.pk).exists()


def test_a_deletion_that_was_cut_off_leaves_a_cancelled_run_that_can_be_deleted(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DU-L9."""
    run = desk.begin([call("asked.keyed")], [call("free.unsafe", 2)])
    with monkeypatch.context() as patched:
        patched.setattr(retention, "_bury", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            retention.delete(run, by="system")
    assert desk.work(run).status == "cancelled" and tooling.happened("sent") == []
    retention.delete(run, by="system")
    assert not Run.objects.filter(pk=run.pk).exists()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE runtime_checkpoint SET body = '', goto = 'x'",
        "UPDATE runtime_checkpoint SET body = 'x'",
        "UPDATE runtime_checkpoint SET body_commit = ''",
        "UPDATE approvals_ruling SET args = 'x'",
        "UPDATE approvals_ruling SET args = '', reason = 'x'",
        "UPDATE approvals_ruling SET mac = ''",
        "UPDATE approvals_decision SET message = '', verdict = 'reject'",
        "DELETE FROM approvals_decision",
        "DELETE FROM runtime_tombstone",
    ],
)
def test_the_exception_is_emptying_and_nothing_else(decided: Run, sql: str) -> None:
    """The trigger allows exactly that change, to whoever asks."""
    Tombstone.objects.create(workspace_id=decided.workspace_id, by="system", mac=b"")
    for role in ("application", "owner"):
        with as_role(role), pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql)


def test_an_operator_prunes_erases_and_deletes(desk: Desk, talked: Run, decided: Run) -> None:
    assert "were emptied" in manage("run", "prune", talked.public_id, "--keep", "3")
    with pytest.raises(CommandError, match="may not administer"):
        manage("run", "erase", talked.public_id, "--as", desk.cast.dana.email)
    assert "is gone" in manage("run", "erase", talked.public_id)
    assert "run.erased" in manage("run", "log", talked.public_id)
    with pytest.raises(CommandError, match="erased before"):
        manage("run", "erase", talked.public_id)
    assert "deleted" in manage("run", "delete", decided.public_id)
    with pytest.raises(CommandError, match="There is no run"):
        manage("run", "log", decided.public_id)


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(
    script=some.lists(steps, min_size=3, max_size=12),
    prunes=some.lists(some.integers(0, 8), max_size=3),
    losses=some.lists(some.integers(1, 20), max_size=3),
    floor=some.sampled_from([1, 200, 10_000]),
)
def test_whatever_is_pruned_or_lost_the_state_is_the_fold_of_all_that_was_changed(
    desk: Desk, script: list[dict[str, Any]], prunes: list[int], losses: list[int], floor: int
) -> None:
    """DU-L41, DU-L43, DU-L40: over any history, with snapshots lost in between."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(snapshots, "FLOOR", floor)
        run = growing.grow(desk, *script)
    if run.status != "completed":  # a list was replaced by something that cannot be appended to
        assert run.reason_code == "bad_step"
        return
    expected = {seq: from_nothing(run, seq) for seq in range(1, run.head_seq + 1)}
    Snapshot.objects.filter(run=run, seq__in=losses).delete()
    below = 0
    for keep in prunes:
        try:
            retention.prune(run, by="system", keep=keep)
            below = max(below, run.head_seq - keep)
        except NotYet:
            pass
    for seq in range(max(below, 1), run.head_seq + 1):
        assert at(run, seq) == expected[seq]
    verified(run)
