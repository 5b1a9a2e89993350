"""Heads: how a checkpoint is added to a run and becomes its head, or neither.

The function ``placet_move_head`` (migration 0004) proves the fence, moves the head, writes the checkpoint and marks the
results that the step was given. For a step that does nothing else this one statement is the whole transaction: one
journey to the database and back. (The same four statements, pipelined, took the worker three times as long.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from psycopg.types.json import Jsonb

from approvals.rows import wire
from runtime import blobs
from runtime.checkpoints import Checkpoint

COLUMNS: Final = (
    "id",
    "workspace_id",
    "run_id",
    "seq",
    "kind",
    "schema_version",
    "node",
    "goto",
    "usage",
    "fence",
    "attempt_id",
    "body",
    "body_commit",
    "prev_mac",
    "mac",
)
MOVE: Final = (
    f"SELECT placet_move_head({', '.join(f'%({name})s' for name in COLUMNS)}, %(obey)s, %(consumed)s::uuid[])"
    # The statement says itself where it stands, before the function is called: set_config is volatile.
    " FROM (SELECT set_config('app.workspace', %(workspace_id)s::text, true) OFFSET 0) said"
)


def move(checkpoint: Checkpoint, *, obey_cancel: bool = True, consumed: Sequence[UUID] = ()) -> bool:
    """Make a drafted checkpoint the head of its run, and mark these calls as told to it. False, and nothing is written,
    where the lease was lost or, if that is to be obeyed, the run is to be cancelled.

    Outside a transaction it is one of its own, which is good only for a checkpoint without large values.
    """
    values: dict[str, Any] = {name: getattr(checkpoint, name) for name in COLUMNS}
    values |= {"kind": str(checkpoint.kind), "usage": Jsonb(checkpoint.usage)}
    return bool(wire.value(MOVE, {**values, "obey": obey_cancel, "consumed": list(consumed)}, said=True))


def keep(checkpoint: Checkpoint) -> None:
    """Store the large values that a drafted checkpoint refers to, in the transaction that writes it."""
    wire.run(blobs.statements(checkpoint.workspace_id, checkpoint.run_id, checkpoint.lifted))
