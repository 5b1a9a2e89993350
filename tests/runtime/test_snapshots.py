"""Snapshots and blobs: derived, bound to their checkpoints, and never believed where they say something else."""

from __future__ import annotations

import json
from collections import OrderedDict
from copy import deepcopy
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as some

from approvals import rows
from approvals.ledger import canonical
from runtime import blobs, checkpoints, invariants, leases, loop, memory, retention, snapshots, state
from runtime.agents.agent import OVER
from runtime.blobs import Blob, BlobUse
from runtime.checkpoints import Checkpoint, Erased, Unreadable
from runtime.runs import Run
from runtime.snapshots import Snapshot
from tests.runtime import growing
from tests.runtime.conftest import Desk
from tests.runtime.test_checkpoints import tamper

LARGE = "large " * 2000

names = some.sampled_from(["a", "b", "c/d", "~", "+", ""])
values = some.recursive(
    some.none() | some.booleans() | some.integers(-9, 9) | some.text("xyz", max_size=4),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
steps = some.fixed_dictionaries(
    {
        "update": some.dictionaries(names, values, max_size=2)
        | some.dictionaries(some.sampled_from(["log", "list"]), some.lists(values, max_size=2), max_size=2),
        "append": some.dictionaries(some.sampled_from(["log", "list"]), some.lists(values, max_size=3), max_size=2),
        "remove": some.lists(names | some.sampled_from(["log", "list"]), max_size=2, unique=True),
    }
)


def operations_of(script: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for step in script for each in state.changes(step["update"], step["append"], step["remove"])]


def from_nothing(run: Run, seq: int) -> dict[str, Any]:
    """The state after a checkpoint, by opening every checkpoint up to it: what any snapshot has to amount to."""
    folded: dict[str, Any] = {}
    for each in Checkpoint.objects.filter(run=run, seq__lte=seq).order_by("seq"):
        state.fold(folded, checkpoints.body_of(each).get("ops", []))
    return folded


def at(run: Run, seq: int) -> dict[str, Any]:
    return checkpoints.read(run.workspace_id, run.pk, seq).state


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot after every few steps."""
    monkeypatch.setattr(snapshots, "FLOOR", 1000)


@pytest.fixture
def talked(desk: Desk, often: None) -> Run:
    """A run of forty steps that each added something, with snapshots."""
    run = growing.grow(desk, *growing.talk(40))
    assert run.status == "completed" and Snapshot.objects.filter(run=run).count() > 4
    return run


@given(some.lists(steps, max_size=8))
def test_fewer_operations_have_the_same_effect(script: list[dict[str, Any]]) -> None:
    """DU-L41: the fold of what was folded together is the fold of all."""
    told = operations_of(script)
    before = deepcopy(told)
    compacted = snapshots.compact(told)
    assert state.fold({}, deepcopy(compacted)) == state.fold({}, deepcopy(told))
    assert told == before, "what is folded together stays as it was"


@given(some.lists(steps, max_size=4), some.integers(2, 40))
def test_a_value_that_was_lifted_comes_back_in_its_place(script: list[dict[str, Any]], large: int) -> None:
    told, workspace_id = operations_of(script), uuid4()
    folded = state.fold({}, deepcopy(told))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(blobs, "LARGE", large)
        lifted, found = blobs.lifted(workspace_id, told)
    assert blobs.names(lifted) == set(found)
    again = blobs.resolved(snapshots.compact(lifted), found)
    assert state.fold({}, again) == folded


@given(some.lists(steps, max_size=6))
def test_a_whole_state_can_be_made_out_of_nothing(script: list[dict[str, Any]]) -> None:
    folded = state.fold({}, operations_of(script))
    assert state.fold({}, deepcopy(snapshots.whole(folded))) == folded


def test_every_checkpoint_reads_as_if_there_were_no_snapshots(talked: Run) -> None:
    """DU-L41, DU-L43: full value and replay are one, at each number."""
    for seq in range(1, talked.head_seq + 1):
        assert at(talked, seq) == from_nothing(talked, seq)


@pytest.mark.parametrize("lost", ["mod(seq, 2) = 0", "since = 1", "since <> 1", "true"])
def test_losing_snapshots_costs_nothing_but_time(talked: Run, lost: str) -> None:
    """DU-L43."""
    whole = at(talked, talked.head_seq)
    tamper(f"DELETE FROM runtime_snapshot WHERE {lost}")
    assert at(talked, talked.head_seq) == whole == from_nothing(talked, talked.head_seq)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE runtime_snapshot a SET body = b.body FROM runtime_snapshot b WHERE b.run_id = %(other)s",
        "UPDATE runtime_snapshot SET body = set_byte(body, 40, 1)",
        "UPDATE runtime_snapshot SET seq = seq + 1",
        "UPDATE runtime_snapshot SET since = 1 WHERE seq = (SELECT max(seq) FROM runtime_snapshot)",
        "UPDATE runtime_snapshot SET mac = (SELECT mac FROM runtime_checkpoint WHERE seq = 2 LIMIT 1)",
        "UPDATE runtime_snapshot SET run_id = %(other)s",
    ],
)
def test_a_forged_or_moved_snapshot_is_not_believed(desk: Desk, talked: Run, sql: str) -> None:
    """DU-S6, DU-L40: the seal holds for these checkpoints of this run alone, and the checkpoints say what is so."""
    other = growing.grow(desk, {"update": {"other": True}})
    told = {run.pk: from_nothing(run, run.head_seq) for run in (talked, other)}
    tamper(sql.replace("%(other)s", f"'{other.pk}'"))
    for run in (talked, other):
        assert at(run, run.head_seq) == told[run.pk]


def test_a_checkpoint_that_a_snapshot_is_bound_to_is_still_checked(talked: Run) -> None:
    """DU-S12."""
    last = Snapshot.objects.filter(run=talked).latest("seq")
    tamper("UPDATE runtime_checkpoint SET fence = 0 WHERE seq = %s", last.seq)
    with pytest.raises(Unreadable, match=f"Checkpoint {last.seq} "):
        at(talked, talked.head_seq)


def test_a_run_goes_on_from_its_snapshots_and_from_the_node_behind_them(desk: Desk, often: None) -> None:
    """DU-E12: the resume point is data, also where no later checkpoint names it."""
    script = growing.talk(25)
    run = desk.work(growing.start(desk, *script))
    assert run.status == "completed" and len(at(run, run.head_seq)["messages"]) == 25
    before, last = (checkpoints.read(run.workspace_id, run.pk, seq).stack for seq in (run.head_seq - 1, run.head_seq))
    assert before.seq > 20 and before.goto == "change" and last.goto == OVER


def test_what_is_replaced_over_and_over_gets_a_new_whole(desk: Desk, often: None) -> None:
    """DU-L47: what has to be read stays in proportion to the state."""
    run = growing.grow(desk, *({"update": {"note": f"{n}".ljust(600)}} for n in range(60)))
    kept = list(Snapshot.objects.filter(run=run).order_by("seq").values_list("since", "size", "live"))
    assert [since for since, _, _ in kept].count(1) > 1
    read = sum(size for since, size, _ in kept[max(i for i, each in enumerate(kept) if each[0] == 1) :])
    assert read <= 2 * kept[-1][2] + snapshots.FLOOR


def test_a_large_value_is_kept_once_however_many_runs_hold_it(desk: Desk) -> None:
    """DU-L47."""
    one = growing.grow(desk, {"update": {"file": LARGE}}, {"append": {"files": ["small", LARGE]}})
    two = growing.grow(desk, {"update": {"file": LARGE}})
    assert Blob.objects.filter(size=len(canonical.encode(LARGE))).count() == 1
    assert {use.run_id for use in BlobUse.objects.all()} == {one.pk, two.pk}
    assert at(one, one.head_seq)["files"] == ["small", LARGE] and at(two, two.head_seq)["file"] == LARGE
    opened = Checkpoint.objects.get(run=two, seq=2)
    assert len(json.dumps(checkpoints.sealed_body_of(opened))) < 500
    assert {"op": "set", "path": "/file", "value": LARGE} in checkpoints.body_of(opened)["ops"]


def test_equal_values_of_two_workspaces_have_different_names() -> None:
    """A digest tells nothing across tenants."""
    told = [{"op": "set", "path": "/file", "value": LARGE}]
    here, there = (blobs.lifted(uuid4(), told)[1] for _ in range(2))
    assert set(here) != set(there) and list(here.values()) == list(there.values())


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM runtime_blob",
        "UPDATE runtime_blob SET body = set_byte(body, 40, 1)",
        "UPDATE runtime_blob a SET body = b.body FROM runtime_blob b WHERE a.id <> b.id",
    ],
)
def test_a_large_value_that_was_changed_or_lost_is_a_fault_and_never_nothing(desk: Desk, sql: str) -> None:
    """DU-L6, DU-S2: no read sees a checkpoint without what it refers to, or with something else in its place."""
    run = growing.grow(desk, {"update": {"file": LARGE}}, {"update": {"other": LARGE + "!"}})
    tamper(sql)
    with pytest.raises(Unreadable, match="large value"):
        at(run, run.head_seq)


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM runtime_snapshot",
        "UPDATE runtime_snapshot SET body = set_byte(body, 40, get_byte(body, 40) # 1)",
        "INSERT INTO runtime_snapshot SELECT (jsonb_populate_record(s, jsonb_build_object("
        "'id', gen_random_uuid(), 'seq', (SELECT max(seq) FROM runtime_checkpoint)))).* FROM runtime_snapshot s",
    ],
)
def test_a_snapshot_that_stands_in_for_what_was_pruned_is_missed(talked: Run, sql: str) -> None:
    """DU-S6, DU-L40: a state that somebody took is no state that was erased on purpose."""
    retention.prune(talked, by="system", keep=1)
    tamper(sql)
    with pytest.raises(Unreadable, match="stands in for") as fault:
        checkpoints.read(talked.workspace_id, talked.pk, talked.head_seq, head_mac=bytes(talked.head_mac))
    assert not isinstance(fault.value, Erased) and [each.what for each in invariants.unreadable()] == [talked.public_id]
    retention.erase(talked, by="system")
    assert list(invariants.unreadable()) == []


def test_what_a_worker_remembers_is_believed_at_that_head_alone(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """DU-E12: a run that went on elsewhere meanwhile is read anew; else the next claim need not read it."""
    run = growing.start(desk, *growing.talk(50))
    assert loop.advance(run.pk, run.workspace_id)
    reading = checkpoints.read
    monkeypatch.setattr(checkpoints, "read", lambda *_, **__: pytest.fail("it was read again"))
    assert loop.advance(run.pk, run.workspace_id)
    monkeypatch.setattr(checkpoints, "read", reading)
    left = dict(memory._remembered)
    assert loop.advance(run.pk, run.workspace_id) is True
    run.refresh_from_db()
    assert run.status == "completed" and not memory._remembered.get(run.pk)
    with rows.within(run.workspace_id):
        Run.objects.filter(pk=run.pk).update(status="ready")
        lease = leases.claim(run.workspace_id, run.pk)
    assert lease is not None
    memory._remembered.update(left)
    assert memory.take(lease) is None and memory.take(lease) is None


def test_no_more_is_remembered_than_a_worker_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_remembered", OrderedDict())
    nothing: Any = None
    for size in (1, 1, 1, 1, 1, memory.BYTES):
        left = memory.Remembered({}, "", snapshots.Stack(size=size), nothing, nothing)
        lease: Any = SimpleNamespace(run_id=uuid4(), head_mac=b"", version_id=uuid4())
        memory.keep(lease, left)
        assert len(memory._remembered) <= memory.RUNS
    assert len(memory._remembered) == 1


def test_a_snapshot_that_lost_what_it_goes_on_from_is_written_whole(desk: Desk, often: None) -> None:
    """DU-L43: pruning may take it while a worker has the run."""
    run = growing.start(desk, *growing.talk(36))
    assert loop.advance(run.pk, run.workspace_id)
    Snapshot.objects.filter(run=run).delete()
    desk.work(run)
    assert run.status == "completed" and at(run, run.head_seq) == from_nothing(run, run.head_seq)
    assert checkpoints.read(run.workspace_id, run.pk, run.head_seq).stack.seq > 30
