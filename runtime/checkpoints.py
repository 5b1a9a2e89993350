"""Checkpoints: one immutable record for each step and each result, sealed, and chained by authentication codes.

The header (everything but the sealed body) names the body's keyed commitment, so the chain can be verified without
unsealing anything. A key-less chain would protect nothing: whoever can write rows could compute it anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final
from uuid import UUID, uuid4

from django.db import models

from approvals import rows
from approvals.ledger import canonical, keys, sealing
from runtime import state

SCHEMA: Final = 1
"""The form in which this release writes bodies; a newer form is never guessed at."""


class Checkpoint(rows.Row):
    """What one commit added to a run. ``node`` is the step that ran, ``goto`` the next one."""

    PREFIX = "cp"
    WRITE_ONCE: ClassVar[bool] = True

    class Kind(models.TextChoices):
        INPUT = "input"
        STEP = "step"
        RESULT = "result"

    run = models.ForeignKey("runtime.Run", models.PROTECT, related_name="checkpoints", db_constraint=False)
    seq = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=8, choices=Kind.choices)
    schema_version = models.PositiveIntegerField(default=SCHEMA)
    node = models.CharField(max_length=120, blank=True)
    goto = models.CharField(max_length=120, blank=True)
    usage = models.JSONField(default=dict)
    fence = models.PositiveBigIntegerField()
    attempt_id = models.UUIDField(default=uuid4)
    body = models.BinaryField()
    body_commit = models.BinaryField()
    prev_mac = models.BinaryField()
    mac = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="one_checkpoint_of_a_number")]

    clear: bytes = b""
    """What the body holds, on a checkpoint that was drafted just now; one that was read has only the sealed body."""


class Unreadable(Exception):
    """History that is not as it was written, or that this release cannot read. The run is parked, never started
    afresh."""


# Questions


def body_of(checkpoint: Checkpoint) -> dict[str, Any]:
    """What the checkpoint holds, found to be what was committed. Raises Unreadable."""
    if checkpoint.schema_version > SCHEMA:
        raise Unreadable(
            f"Checkpoint {checkpoint.seq} was written by a newer release (form {checkpoint.schema_version})."
        )
    try:
        clear = sealing.unseal(checkpoint.workspace_id, bytes(checkpoint.body), place=_place(checkpoint))
        genuine = keys.holds("commitment", clear, bytes(checkpoint.body_commit))
    except (sealing.Tampered, keys.UnknownKey) as fault:
        raise Unreadable(f"Checkpoint {checkpoint.seq} cannot be unsealed: {fault}") from fault
    if not genuine:
        raise Unreadable(f"Checkpoint {checkpoint.seq} is not the one that was committed.")
    return state.decode(clear)


def history(run_id: UUID, *, after: int = 0) -> list[Checkpoint]:
    """The checkpoints of a run behind a number, in order."""
    return list(Checkpoint.objects.filter(run_id=run_id, seq__gt=after).order_by("seq"))


def verify(chain: Iterable[Checkpoint], *, prev: Checkpoint | None, head_seq: int, head_mac: bytes) -> None:
    """Check that these checkpoints follow ``prev`` without a gap and end in the head. Raises Unreadable."""
    seq, mac, fence = (prev.seq, bytes(prev.mac), prev.fence) if prev else (0, b"", 0)
    for each in chain:
        if each.seq != seq + 1:
            raise Unreadable(f"Checkpoint {seq + 1} is missing.")
        if bytes(each.prev_mac) != mac or each.fence < fence or not _holds(each):
            raise Unreadable(f"Checkpoint {each.seq} is not as it was written.")
        seq, mac, fence = each.seq, bytes(each.mac), each.fence
    if seq != head_seq or mac != bytes(head_mac):
        raise Unreadable(f"The run's head is checkpoint {head_seq}, and its chain ends with {seq}.")


def _holds(checkpoint: Checkpoint) -> bool:
    try:
        return keys.holds("checkpoint", bytes(checkpoint.prev_mac) + _header(checkpoint), bytes(checkpoint.mac))
    except keys.UnknownKey as fault:
        raise Unreadable(f"Checkpoint {checkpoint.seq} names a key that is not here: {fault}") from fault


def verify_tail(run_id: UUID, verified_seq: int, *, head_seq: int, head_mac: bytes) -> None:
    """Verify what was added since the chain was last verified, with the bodies left sealed. Raises Unreadable."""
    tail = history(run_id, after=max(verified_seq - 1, 0))
    prev = tail.pop(0) if verified_seq and tail else None
    if prev and (prev.seq != verified_seq or not _holds(prev)):
        raise Unreadable(f"Checkpoint {verified_seq} is not as it was written.")
    verify(tail, prev=prev, head_seq=head_seq, head_mac=head_mac)


def rehydrate(run_id: UUID, *, head_seq: int, head_mac: bytes) -> tuple[dict[str, Any], str]:
    """The state at the head and the node that comes next, after the whole chain was verified. Raises Unreadable."""
    chain = history(run_id)
    verify(chain, prev=None, head_seq=head_seq, head_mac=head_mac)
    folded: dict[str, Any] = {}
    goto = ""
    for each in chain:
        if each.kind != Checkpoint.Kind.RESULT:
            _fold(folded, each)
            goto = each.goto
    return folded, goto


def _fold(folded: dict[str, Any], checkpoint: Checkpoint) -> None:
    try:
        state.fold(folded, body_of(checkpoint)["ops"])
    except (state.NotState, LookupError, TypeError) as fault:
        raise Unreadable(f"Checkpoint {checkpoint.seq} does not fit the state before it: {fault}") from fault


def committed(run_id: UUID, seq: int, attempt_id: UUID) -> bool:
    """Whether exactly this attempt at this checkpoint is in the database: how a lost acknowledgement is told from a
    loss."""
    return Checkpoint.objects.filter(run_id=run_id, seq=seq, attempt_id=attempt_id).exists()


# Verbs


def draft(
    *,
    workspace_id: UUID,
    run_id: UUID,
    seq: int,
    prev_mac: bytes,
    fence: int,
    kind: str,
    body: Mapping[str, Any],
    node: str = "",
    goto: str = "",
    usage: Mapping[str, int] | None = None,
) -> Checkpoint:
    """The next checkpoint of a run, sealed and signed, not yet written. Raises state.NotState if the body is not pure
    JSON."""
    made = Checkpoint(workspace_id=workspace_id, run_id=run_id, seq=seq, kind=kind, fence=fence, node=node, goto=goto)
    made.clear = clear = state.encode(body)
    made.usage = dict(usage or {})
    made.body_commit = keys.sign("commitment", clear)
    made.body = sealing.seal(workspace_id, clear, place=_place(made))
    made.prev_mac = prev_mac
    made.mac = keys.sign("checkpoint", prev_mac + _header(made))
    return made


def _header(checkpoint: Checkpoint) -> bytes:
    named = ("seq", "schema_version", "node", "goto", "usage", "fence")
    fields = {name: getattr(checkpoint, name) for name in named} | {"kind": str(checkpoint.kind)}
    fields |= {"id": checkpoint.pk.hex, "run": checkpoint.run_id.hex, "workspace": checkpoint.workspace_id.hex}
    fields |= {"attempt": checkpoint.attempt_id.hex, "commit": bytes(checkpoint.body_commit).hex()}
    return canonical.encode(fields)


def _place(checkpoint: Checkpoint) -> str:
    """Where a body belongs: moved to another run or another place of its run, it cannot be unsealed."""
    return f"runtime_checkpoint.body:{checkpoint.run_id.hex}:{checkpoint.seq}"
