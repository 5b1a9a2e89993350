"""The records, written anew: checkpoints, the ledger, and an old state of everything."""

from __future__ import annotations

from typing import Any, Final

from approvals import rows
from approvals.ledger import anchors, entries
from tests.campaigns.field import Field, lay_out
from tests.campaigns.forgeries import by_sql, kind
from tests.columns import written

# Checkpoints

STEP: Final = "WHERE run_id = %(run)s AND seq"
ALL: Final = "goto, usage, fence, attempt_id, body, body_commit, prev_mac, mac, kind, node"

by_sql("a checkpoint's header is edited", f"UPDATE runtime_checkpoint SET goto = 'elsewhere' {STEP} = 2")
by_sql("a checkpoint's body is edited", f"UPDATE runtime_checkpoint SET body = set_byte(body, 20, 7) {STEP} = 2")
by_sql(
    "two checkpoints are swapped",
    f"UPDATE runtime_checkpoint SET seq = 99 {STEP} = 2",
    f"UPDATE runtime_checkpoint SET seq = 2 {STEP} = 3",
    f"UPDATE runtime_checkpoint SET seq = 3 {STEP} = 99",
)
by_sql("a checkpoint in the middle is deleted", f"DELETE FROM runtime_checkpoint {STEP} = 2")
by_sql(
    "the checkpoints' tail is cut",
    f"DELETE FROM runtime_checkpoint {STEP} = (SELECT head_seq FROM runtime_run WHERE id = %(run)s)",
)
BACK: Final = (
    "UPDATE runtime_run r SET head_seq = c.seq, head_mac = c.mac, verified_seq = c.seq FROM runtime_checkpoint c"
    " WHERE r.id = %(run)s AND c.run_id = r.id AND c.seq = 2"
)
by_sql("the run's head is moved back", BACK)


@kind("the checkpoints' tail is cut together with the head")
def cut_with_head(field: Field) -> None:
    anchors.anchor()
    field.sql(f"DELETE FROM runtime_checkpoint {STEP} > 2", BACK)


@kind("a checkpoint is transplanted from another run")
def from_another_run(field: Field) -> None:
    _transplant(field, field.play("tamper.free", "tamper.asked").pk)


@kind("a checkpoint is transplanted from another workspace")
def from_another_workspace(field: Field) -> None:
    other = lay_out(field.stage, f"{field.workspace.slug}-b").run.pk
    rows.enter(field.workspace)  # laying out a field stands in its own
    _transplant(field, other)


def _transplant(field: Field, other: Any) -> None:
    columns = ", ".join(f"{name} = o.{name}" for name in ALL.split(", "))
    field.sql(
        f"UPDATE runtime_checkpoint c SET {columns} FROM runtime_checkpoint o"
        " WHERE c.run_id = %(run)s AND c.seq = 2 AND o.run_id = %(other)s AND o.seq = 2",
        other=other,
    )


# The ledger

OF_RUN: Final = "WHERE chain_id = (SELECT id FROM approvals_chain WHERE name = %(chain)s) AND seq"
HEAD: Final = (
    "UPDATE approvals_chain c SET seq = e.seq, hash = e.hash, mac = e.mac FROM approvals_entry e"
    " WHERE c.name = %(chain)s AND e.chain_id = c.id AND e.seq = 3"
)

by_sql("an entry is edited", f"UPDATE approvals_entry SET kind = 'call.refused' {OF_RUN} = 2")
by_sql(
    "two entries are swapped",
    f"UPDATE approvals_entry SET seq = 99 {OF_RUN} = 2",
    f"UPDATE approvals_entry SET seq = 2 {OF_RUN} = 3",
    f"UPDATE approvals_entry SET seq = 3 {OF_RUN} = 99",
)
by_sql("an entry in the middle is deleted", f"DELETE FROM approvals_entry {OF_RUN} = 3")
by_sql("the ledger's tail is cut", f"DELETE FROM approvals_entry {OF_RUN} > 3")
by_sql("the ledger's head is moved", HEAD)


@kind("the ledger's tail is cut together with its head")
def cut_ledger_with_head(field: Field) -> None:
    anchors.anchor()
    field.sql(f"DELETE FROM approvals_entry {OF_RUN} > 3", HEAD)


@kind("the chain is written anew with a stolen key")
def written_anew(field: Field) -> None:
    anchors.anchor()
    told = entries.read(field.workspace.pk, field.run.public_id)
    field.sql(f"DELETE FROM approvals_entry {OF_RUN} > 0", "DELETE FROM approvals_chain WHERE name = %(chain)s")
    with rows.within(field.workspace):
        for entry in told:
            body = {name: value for name, value in entry.items() if name not in entries.RESERVED}
            entries.append(field.workspace.pk, field.run.public_id, entry["kind"], body, by=entry["by"])


# All of it

TABLES: Final = {
    "runtime_run": "workspace_id",
    "runtime_call": "workspace_id",
    "runtime_attempt": "workspace_id",
    "runtime_checkpoint": "workspace_id",
    "approvals_chain": "workspace_id",
    "approvals_entry": "workspace_id",
    "approvals_approval": "workspace_id",
    "approvals_decision": "workspace_id",
}


@kind("an old state is put back whole")
def old_state(field: Field) -> None:
    mine = "WHERE workspace_id = %(workspace)s"
    for table in TABLES:
        field.sql(f"CREATE UNLOGGED TABLE IF NOT EXISTS old_{table} AS TABLE {table} WITH NO DATA")
        field.sql(f"INSERT INTO old_{table} SELECT * FROM {table} {mine}")
    field.work()
    anchors.anchor()
    for table in TABLES:
        kept = written(table)
        back = f"INSERT INTO {table} ({kept}) SELECT {kept} FROM old_{table} {mine}"
        field.sql(f"DELETE FROM {table} {mine}", back)
