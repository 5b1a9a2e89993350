"""Snapshots: what many checkpoints changed, folded together, so that reading a state need not open each of them.

A snapshot covers the checkpoints ``since``..``seq``; those from one that begins at the first on, laid end to end, are
the state. A history that only grows is so stored once more, in pieces; one that keeps replacing values gets a new whole
as soon as the pieces are twice as large as the state. They are derived: losing one costs time, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from django.db import models

from approvals import rows
from approvals.ledger import canonical, keys, sealing
from approvals.rows import wire
from runtime import blobs

FLOOR: Final = 64 * 1024
"""How many bytes of changes are folded into one snapshot."""
ALPHA: Final = 1
"""How much more than the state itself may have to be read, in parts of its size."""

Operation = Mapping[str, Any]


class Snapshot(rows.Row):
    """The changes of the checkpoints ``since``..``seq``, folded. ``size`` is that of its clear bytes; ``live`` that of
    the whole state when it was last measured; ``mac`` that of checkpoint ``seq``, to which the body is bound."""

    PREFIX = "snap"

    run = models.ForeignKey("runtime.Run", models.PROTECT, related_name="snapshots", db_constraint=False)
    seq = models.PositiveBigIntegerField()
    since = models.PositiveBigIntegerField()
    size = models.PositiveBigIntegerField()
    live = models.PositiveBigIntegerField()
    mac = models.BinaryField()
    body = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="one_snapshot_of_a_checkpoint")]


@dataclass(frozen=True)
class Where:
    """A checkpoint, by its run, its number and its code."""

    workspace_id: UUID
    run_id: UUID
    seq: int
    mac: bytes


@dataclass
class Stack:
    """The snapshots that a state is read from, and what was changed behind the last of them.

    ``seq`` and ``mac`` name the checkpoint of the last snapshot, ``goto`` the node that comes next; ``size`` is that of
    all snapshots; ``tail`` holds the bodies of later checkpoints as they were committed, ``weight`` their size.
    """

    seq: int = 0
    mac: bytes = b""
    goto: str = ""
    size: int = 0
    live: int = 0
    tail: list[bytes] = field(default_factory=list)
    weight: int = 0

    def add(self, body: bytes, goto: str | None) -> None:
        """Note the body of a further checkpoint, and the node after it if it names one."""
        self.tail.append(body)
        self.weight += len(body)
        self.goto = self.goto if goto is None else goto

    @property
    def due(self) -> bool:
        return self.weight >= FLOOR


# Questions

_STACK: Final = """
    SELECT seq, since, size, live, mac, body FROM runtime_snapshot WHERE run_id = %(run)s AND seq <= %(seq)s
        AND seq >= (SELECT max(seq) FROM runtime_snapshot WHERE run_id = %(run)s AND seq <= %(seq)s AND since = 1)
    ORDER BY seq
"""


def load(workspace_id: UUID, run_id: UUID, seq: int) -> tuple[Stack, list[Operation]]:
    """The snapshots up to a checkpoint and the changes that they hold, as far as they are genuine and without a gap.

    One that was forged, moved or lost is passed over, with all behind it: the checkpoints say the same.
    """
    stack, held = Stack(), list[Operation]()
    found = list(_unbroken(wire.rows(_STACK, {"run": run_id, "seq": seq})))
    sealed = ((body, _place(run_id, since, at, mac)) for at, since, _, _, mac, body in found)
    for (at, _, size, live, mac, _), clear in zip(found, sealing.unseal_each(workspace_id, sealed), strict=False):
        opened: dict[str, Any] = json.loads(clear)
        held += opened["ops"]
        stack = Stack(at, bytes(mac), opened["goto"], stack.size + size, live)
    return stack, held


def referred(workspace_id: UUID, run_id: UUID) -> set[str]:
    """The blobs that a run's snapshots refer to, by their names. One that was forged refers to nothing."""
    held = Snapshot.objects.filter(run_id=run_id).values_list("seq", "since", "mac", "body").order_by("seq")
    found: set[str] = set()
    for at, since, mac, body in held.iterator():
        try:
            clear = sealing.unseal(workspace_id, bytes(body), place=_place(run_id, since, at, bytes(mac)))
        except (sealing.Tampered, keys.UnknownKey):
            continue
        found |= blobs.names(json.loads(clear)["ops"])
    return found


def _unbroken(found: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """The snapshots as long as each begins where the last one ended."""
    ended = 0
    for row in found:
        if row[1] != ended + 1:
            return
        ended = row[0]
        yield row


def _place(run_id: UUID, since: int, seq: int, mac: bytes) -> str:
    """Where a body belongs. The seal is keyed, and holds for these checkpoints of this run alone."""
    return f"runtime_snapshot.body:{run_id.hex}:{since}-{seq}:{bytes(mac).hex()}"


# Folding


def compact(operations: Iterable[Operation]) -> list[dict[str, Any]]:
    """Fewer operations with the same effect: at most one for each place, in an order that keeps what they mean."""
    made: dict[str, dict[str, Any]] = {}
    for each in operations:
        _take_up(made, each)
    return list(made.values())


def _take_up(made: dict[str, dict[str, Any]], operation: Operation) -> None:
    path = str(operation["path"])
    if operation["op"] != "append":
        for covered in [known for known in made if known == path or known.startswith(path + "/")]:
            del made[covered]
        made[path] = dict(operation)
        return
    before = made.get(path)
    if before is None:
        made[path] = _appending(operation)
    elif before["op"] == "append":
        _extend(before, operation)
    else:
        _append_to_value(made, path, before, operation)


def _appending(operation: Operation) -> dict[str, Any]:
    copy = {**operation, "items": list(operation["items"])}
    return copy | ({"refs": dict(operation["refs"])} if "refs" in operation else {})


def _extend(before: dict[str, Any], operation: Operation) -> None:
    moved = {str(int(place) + len(before["items"])): name for place, name in operation.get("refs", {}).items()}
    before["items"] += operation["items"]
    if moved:
        before["refs"] = {**before.get("refs", {}), **moved}


def _append_to_value(made: dict[str, dict[str, Any]], path: str, before: dict[str, Any], operation: Operation) -> None:
    """Append to a place that was set or deleted before. What was set stays as it is, and may be a reference."""
    if before["op"] == "delete":
        before |= {"op": "set", "value": []}
    # The key is no pointer, so nothing else is ever found under it but by the prefix of its place.
    key = path + "/+"
    if key in made:
        _extend(made[key], operation)
    else:
        made[key] = _appending(operation)


def whole(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The operations that make a state out of nothing; lists item by item, so that large items stay apart."""
    return [_whole(canonical.join([name]), value) for name, value in state.items()]


def _whole(path: str, value: Any) -> dict[str, Any]:
    if isinstance(value, list) and value:
        return {"op": "append", "path": path, "items": value}
    return {"op": "set", "path": path, "value": value}


# Verbs

_KEEP: Final = """
    INSERT INTO runtime_snapshot (id, workspace_id, run_id, seq, since, size, live, mac, body)
    SELECT %(id)s, %(workspace)s, %(run)s, %(seq)s, %(since)s, %(size)s, %(live)s, %(mac)s, %(body)s
        FROM runtime_run WHERE id = %(run)s AND fence = %(fence)s AND status = 'in_progress' AND (%(since)s = 1
            OR EXISTS (SELECT FROM runtime_snapshot WHERE run_id = %(run)s AND seq = %(since)s - 1))
    ON CONFLICT (run_id, seq) DO NOTHING
"""


def keep(stack: Stack, state: Mapping[str, Any], where: Where, *, fence: int) -> None:
    """Fold what is behind the last snapshot into a new one, in a transaction of its own, if this worker still holds the
    run. ``state`` is the one after the checkpoint that is named."""
    made = _piece(stack)
    if stack.size + len(made.clear) >= (1 + ALPHA) * made.live + FLOOR:
        afresh = _afresh(where.workspace_id, state, stack.goto)
        made.live = afresh.live
        made = afresh if stack.size + len(made.clear) >= (1 + ALPHA) * afresh.live else made
    if not _kept(made, where, fence) and made.since != 1:
        # What it would go on from is gone: the run was pruned meanwhile.
        made = _afresh(where.workspace_id, state, stack.goto)
        _kept(made, where, fence)
    stack.size = len(made.clear) + (0 if made.since == 1 else stack.size)
    stack.seq, stack.mac, stack.live, stack.tail, stack.weight = where.seq, where.mac, made.live, [], 0


def _kept(made: _Made, where: Where, fence: int) -> bool:
    row = _row(made, where) | {"fence": fence}
    with rows.within(where.workspace_id):
        return wire.run([*blobs.statements(where.workspace_id, where.run_id, made.lifted), (_KEEP, row)]) == 1


def write_whole(state: Mapping[str, Any], goto: str, where: Where) -> None:
    """Write a snapshot of the whole state after a checkpoint, in the open transaction."""
    made = _afresh(where.workspace_id, state, goto)
    wire.run(blobs.statements(where.workspace_id, where.run_id, made.lifted))
    row = _row(made, where)
    named = {"pk": row.pop("id"), "workspace_id": row.pop("workspace"), "run_id": row.pop("run")}
    Snapshot.objects.create(**named, **row)


@dataclass
class _Made:
    since: int
    clear: bytes
    live: int
    lifted: Mapping[str, bytes]


def _piece(stack: Stack) -> _Made:
    changed = [each for body in stack.tail for each in json.loads(body).get("ops", [])]
    return _Made(stack.seq + 1, _encoded(compact(changed), stack.goto), stack.live, {})


def _afresh(workspace_id: UUID, state: Mapping[str, Any], goto: str) -> _Made:
    operations, lifted = blobs.lifted(workspace_id, whole(state))
    clear = _encoded(operations, goto)
    return _Made(1, clear, len(clear), lifted)


def _row(made: _Made, where: Where) -> dict[str, Any]:
    place = _place(where.run_id, made.since, where.seq, where.mac)
    body = sealing.seal(where.workspace_id, made.clear, place=place)
    named = {"id": rows.uuid7(), "workspace": where.workspace_id, "run": where.run_id, "seq": where.seq}
    sizes = {"since": made.since, "size": len(made.clear), "live": made.live}
    return {**named, **sizes, "mac": where.mac, "body": body}


def _encoded(operations: list[dict[str, Any]], goto: str) -> bytes:
    return json.dumps({"goto": goto, "ops": operations}, ensure_ascii=False, separators=(",", ":")).encode()
