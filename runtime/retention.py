"""Retention: what a run wrote can be pruned, erased, or deleted with the run; that it was, by whom, stays on record.

Headers of checkpoints and the ledger outlive all but a deletion, and the ledger outlives that too. The database itself
refuses to change a checkpoint but for emptying its body, and to delete one unless its run's tombstone stands.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar
from uuid import UUID

from django.db import models

from approvals import gate, rows
from approvals.ledger import canonical, entries, keys
from runtime import checkpoints, runs, snapshots
from runtime.attempts import Attempt
from runtime.blobs import Blob, BlobUse
from runtime.budgets import Budget, Hold
from runtime.calls import Call
from runtime.checkpoints import Checkpoint
from runtime.runs import FINAL, Run
from runtime.snapshots import Snapshot, Where
from runtime.threads import Thread


class Tombstone(rows.Row):
    """A run that was deleted, under the id that it had. Nothing is ever written for it again."""

    PREFIX = "run"
    WRITE_ONCE: ClassVar[bool] = True

    by = models.CharField(max_length=40)
    mac = models.BinaryField()

    def holds(self) -> bool:
        """Whether the row is as it was written. Raises UnknownKey."""
        return keys.holds("checkpoint", _signed(self), self.mac)


def _signed(tombstone: Tombstone) -> bytes:
    named = {"tombstone": tombstone.pk.hex, "workspace": tombstone.workspace_id.hex, "by": tombstone.by}
    return canonical.encode(named)


class NotYet(Exception):
    """The run goes on, or has nothing that could go; the message says what would have to be done first."""


# Questions


def unreferenced(workspace_id: UUID, digests: set[bytes]) -> models.QuerySet[Blob]:
    """Those of the blobs that no run uses any more."""
    used = BlobUse.objects.filter(workspace_id=workspace_id, digest=models.OuterRef("digest"))
    mine = Blob.objects.filter(workspace_id=workspace_id, digest__in=digests)
    return mine.filter(~models.Exists(used))


# Pruning


def prune(run: Run, *, by: str, keep: int = 0) -> int:
    """Empty the bodies of all but the last ``keep`` checkpoints, below a snapshot that holds the whole state there.
    Returns how many.

    The snapshot is written, read back and compared before anything goes. The chain verifies as before; a state before
    the snapshot can no longer be read, and says so; large values that only such states held go too. Raises NotYet, or
    Unreadable, and has changed nothing then.
    """
    seq = run.head_seq - keep
    with rows.within(run.workspace_id):
        if not _locked(run, erased_at=None):
            raise NotYet(f"{run.public_id} was erased.")
        held = Checkpoint.objects.filter(run=run, seq__lte=seq).exclude(body=b"").count() if seq > 0 else 0
        if not held:
            raise NotYet(f"{run.public_id} holds nothing before its last {keep} checkpoints that could go.")
        mac = _keep_whole(run, seq)
        emptied = Checkpoint.objects.filter(run=run, seq__lte=seq).exclude(body=b"").update(body=b"")
        _let_go_of_blobs(run, checkpoints.referred(run.pk) | snapshots.referred(run.workspace_id, run.pk))
        body = {"below": seq, "emptied": emptied, "checkpoint_mac": mac.hex()}
        entries.append(run.workspace_id, run.public_id, "run.pruned", body, by=by)
    rows.publish(run.workspace_id, run.public_id)
    return emptied


def _keep_whole(run: Run, seq: int) -> bytes:
    """Put one snapshot of the whole state in the place of all that reach below it. Returns the checkpoint's code."""
    folded = checkpoints.read(run.workspace_id, run.pk, seq)
    mac = bytes(Checkpoint.objects.values_list("mac", flat=True).get(run=run, seq=seq))
    where = Where(run.workspace_id, run.pk, seq, mac)
    Snapshot.objects.filter(run=run, since__lte=seq).delete()
    snapshots.write_whole(folded.state, folded.goto, where)
    again = checkpoints.read(run.workspace_id, run.pk, seq)
    if again.stack.seq != seq or again.state != folded.state or again.goto != folded.goto:
        raise checkpoints.Unreadable(f"The snapshot at checkpoint {seq} does not give the state again.")
    return mac


def _locked(run: Run, **where: Any) -> bool:
    return Run.objects.select_for_update().filter(pk=run.pk, **where).exists()


# Erasing


def erase(run: Run, *, by: str) -> None:
    """Empty all that was written in an ended run: state, arguments, answers, reasons, comments. Headers, digests,
    decisions and the ledger stay. Raises NotYet for a run that has not ended or was erased before."""
    with rows.within(run.workspace_id):
        _erase_asked(run)
        emptied = {"erased_at": rows.Now(), "title": b"", "cancel_reason": b"", "reason_words": b""}
        if not Run.objects.filter(pk=run.pk, status__in=FINAL, erased_at=None).update(**emptied):
            raise NotYet(f"{run.public_id} has not ended, or was erased before: cancel it first.")
        Call.objects.filter(run=run).update(args=b"", reason=b"", message=b"")
        Attempt.objects.filter(call__run=run).update(answer=b"", note="")
        Checkpoint.objects.filter(run=run).exclude(body=b"").update(body=b"")
        Snapshot.objects.filter(run=run).delete()
        _let_go_of_blobs(run)
        entries.append(run.workspace_id, run.public_id, "run.erased", {}, by=by)
    rows.publish(run.workspace_id, run.public_id)


def _erase_asked(run: Run) -> None:
    try:
        gate.erase(run.workspace_id, run.public_id)
    except gate.StillOpen as asked:
        raise NotYet(str(asked)) from asked


def _let_go_of_blobs(run: Run, needed: Collection[str] = ()) -> None:
    """Delete the blobs that only this run used, but for those needed. They are locked first: whoever uses one meanwhile
    either comes before, and is seen by the next statement, or finds it gone and writes it anew."""
    uses = BlobUse.objects.filter(run=run).exclude(digest__in=[bytes.fromhex(name) for name in needed])
    digests = {bytes(digest) for digest in uses.values_list("digest", flat=True)}
    uses.delete()
    list(Blob.objects.select_for_update().filter(workspace_id=run.workspace_id, digest__in=digests).order_by("digest"))
    unreferenced(run.workspace_id, digests).delete()


# Deleting


def delete(run: Run, *, by: str) -> None:
    """Delete a run with all its rows, whatever it is doing: a worker that still has it can commit nothing more. Its
    tombstone, the decisions about its calls and its chain of the ledger stay; what people wrote there is emptied.
    Raises NotYet where it asks people again meanwhile.

    The wish that it ends is committed first: withdrawing wakes a run, and a worker could take its next step before it
    is buried. Whatever ends this process in between, the run is cancelled, and can be deleted again.
    """
    reason = "The run is deleted."
    runs.wish_to_cancel(run, by, reason)
    gate.withdraw(run.workspace_id, run.public_id, by=by, reason=reason)
    with rows.within(run.workspace_id):
        _erase_asked(run)
        if not _locked(run):
            raise NotYet(f"{run.public_id} was deleted already.")
        _bury(run, by)
        _let_go_of_blobs(run)
        for model, path in _belongings():
            model.objects.filter(**{path: run}).delete()
        Run.objects.filter(pk=run.pk).delete()
        Budget.objects.filter(root_id=run.pk, runs=None).delete()
        Thread.objects.filter(pk=run.thread_id, runs=None).delete()
        entries.append(run.workspace_id, run.public_id, "run.deleted", {}, by=by)
    rows.publish(run.workspace_id, run.public_id)


def _bury(run: Run, by: str) -> None:
    tombstone = Tombstone(pk=run.pk, workspace_id=run.workspace_id, by=by)
    tombstone.mac = keys.sign("checkpoint", _signed(tombstone))
    tombstone.save(force_insert=True)


def _belongings() -> list[tuple[Any, str]]:
    """What hangs on a run, of whatever kind, calls' own rows first."""
    of_holds = [(Hold, "attempt__call__run")]
    of_calls = [(each.related_model, f"{each.field.name}__run") for each in Call._meta.related_objects]
    return of_holds + of_calls + [(each.related_model, each.field.name) for each in Run._meta.related_objects]
