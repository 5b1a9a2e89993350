"""Checkpoints: one immutable record for each step and each result, sealed, and chained by authentication codes.

The header (everything but the sealed body) names the body's keyed commitment, so the chain can be verified without
unsealing anything. A key-less chain would protect nothing: whoever can write rows could compute it anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final
from uuid import UUID, uuid4

from django.db import models

from approvals import rows
from approvals.ledger import canonical, keys, sealing
from approvals.rows import wire
from runtime import blobs, snapshots, state
from runtime.agents.agent import OVER
from runtime.snapshots import Stack

SCHEMA: Final = 1
"""The form in which this release writes bodies; a newer form is never guessed at."""


class Checkpoint(rows.Row):
    """What one commit added to a run. ``node`` is the step that ran, ``goto`` the next one."""

    PREFIX = "cp"
    WRITE_ONCE: ClassVar[bool] = True
    EXCEPTIONS: ClassVar[tuple[str, ...]] = ("UPDATE (body)", "DELETE")

    class Kind(models.TextChoices):
        INPUT = "input"
        STEP = "step"
        RESULT = "result"
        DECISION = "decision"

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
    """What the body holds, on a checkpoint that was drafted or opened just now."""
    lifted: Mapping[str, bytes] = {}
    """The large values that a checkpoint which was drafted just now refers to, by their names."""

    @property
    def next_node(self) -> str:
        """The node that comes next; none after the last checkpoint of a run."""
        return "" if self.goto == OVER else self.goto


class Unreadable(Exception):
    """History that is not as it was written, or that this release cannot read. The run is parked, never started
    afresh."""


class Erased(Unreadable):
    """What a checkpoint held was erased. Its header stays, and the chain still holds."""


# Questions


def body_of(checkpoint: Checkpoint) -> dict[str, Any]:
    """What the checkpoint holds, large values included, found to be what was committed. Raises Erased, Unreadable."""
    body = sealed_body_of(checkpoint)
    if "ops" in body:
        body["ops"] = _resolved(checkpoint.workspace_id, body["ops"], checkpoint.seq)
    return body


def sealed_body_of(checkpoint: Checkpoint) -> dict[str, Any]:
    """The same with references in the place of large values; ``clear`` has its bytes then. Raises Erased,
    Unreadable."""
    if checkpoint.schema_version > SCHEMA:
        raise Unreadable(
            f"Checkpoint {checkpoint.seq} was written by a newer release (form {checkpoint.schema_version})."
        )
    try:
        clear = sealing.unseal(checkpoint.workspace_id, bytes(checkpoint.body), place=_place(checkpoint))
        genuine = keys.holds("commitment", clear, bytes(checkpoint.body_commit))
    except sealing.Erased as fault:
        raise Erased(f"What checkpoint {checkpoint.seq} held was erased.") from fault
    except (sealing.Tampered, keys.UnknownKey) as fault:
        raise Unreadable(f"Checkpoint {checkpoint.seq} cannot be unsealed: {fault}") from fault
    if not genuine:
        raise Unreadable(f"Checkpoint {checkpoint.seq} is not the one that was committed.")
    checkpoint.clear = clear
    return state.decode(clear)


def referred(run_id: UUID) -> set[str]:
    """The blobs that a run's checkpoints refer to, by their names, without those that were emptied. Raises
    Unreadable."""
    kept = Checkpoint.objects.filter(run_id=run_id).exclude(body=b"").order_by("seq")
    return {name for each in kept.iterator() for name in blobs.names(sealed_body_of(each).get("ops", []))}


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
    tail = _HEADERS(run=run_id, seq=max(verified_seq, 1))
    prev = tail.pop(0) if verified_seq and tail else None
    if prev and (prev.seq != verified_seq or not _holds(prev)):
        raise Unreadable(f"Checkpoint {verified_seq} is not as it was written.")
    verify(tail, prev=prev, head_seq=head_seq, head_mac=head_mac)


_FROM: Final = rows.Ready(
    lambda: Checkpoint.objects.filter(run_id=rows.Slot("run"), seq__gte=rows.Slot("seq")).order_by("seq")
)
_BETWEEN: Final = rows.Ready(
    lambda: Checkpoint.objects.filter(
        run_id=rows.Slot("run"), seq__gte=rows.Slot("seq"), seq__lte=rows.Slot("to")
    ).order_by("seq")
)
_HEADERS: Final = rows.Ready(
    lambda: Checkpoint.objects.filter(run_id=rows.Slot("run"), seq__gte=rows.Slot("seq")).defer("body").order_by("seq")
)


@dataclass
class Folded:
    """A run's state after checkpoint ``seq``, the node that comes next, and the snapshots that it was read from."""

    seq: int
    state: dict[str, Any]
    goto: str
    stack: Stack


def read(workspace_id: UUID, run_id: UUID, seq: int, *, head_mac: bytes | None = None) -> Folded:
    """The state after a checkpoint: from the snapshots before it, each bound to its checkpoint, and the checkpoints
    behind the last of them, verified and without a gap. With ``head_mac``, it is also the last one and has this code.

    Raises Unreadable, also for a state that was erased.
    """
    stack, held = snapshots.load(workspace_id, run_id, seq)
    first = {"run": run_id, "seq": max(stack.seq, 1)}
    chain = _BETWEEN(**first, to=seq) if head_mac is None else _FROM(**first)
    prev = _anchor(chain, stack) if stack.seq else None
    last = chain[-1] if chain else prev
    if last is None or last.seq < seq:
        raise Unreadable(f"Checkpoint {seq} is missing.")
    verify(chain, prev=prev, head_seq=seq, head_mac=bytes(last.mac) if head_mac is None else head_mac)
    for each in chain:
        held += _changes(each, must=head_mac is not None)
        stack.add(each.clear, each.goto if each.kind != Checkpoint.Kind.RESULT else None)
    return Folded(seq, _fold({}, _resolved(workspace_id, held, seq), seq), stack.goto, stack)


def _changes(checkpoint: Checkpoint, *, must: bool) -> list[Any]:
    """What a checkpoint changed. ``must``: it leads to the head, so that where it was emptied a snapshot stands in for
    it, unless the whole run was erased."""
    try:
        return list(sealed_body_of(checkpoint).get("ops", []))
    except Erased:
        if must and wire.rows(_NOT_ERASED, {"run": checkpoint.run_id}):
            told = f"The snapshot that stands in for checkpoint {checkpoint.seq} is gone, or not as it was written."
            raise Unreadable(told) from None
        raise


_NOT_ERASED: Final = "SELECT id FROM runtime_run WHERE id = %(run)s AND erased_at IS NULL"


def _anchor(chain: list[Checkpoint], stack: Stack) -> Checkpoint:
    """The checkpoint of the last snapshot, which must be the one that the snapshot was bound to."""
    first = chain.pop(0) if chain else None
    if first is None or first.seq != stack.seq or bytes(first.mac) != stack.mac or not _holds(first):
        raise Unreadable(f"Checkpoint {stack.seq} is not as it was written.")
    return first


def rehydrate(run_id: UUID, *, head_seq: int, head_mac: bytes) -> tuple[dict[str, Any], str]:
    """The state at the head and the node that comes next, verified. Raises Unreadable."""
    workspace_id = Checkpoint.objects.values_list("workspace_id", flat=True).filter(run_id=run_id).first()
    if workspace_id is None:
        raise Unreadable("The run has no checkpoint.")
    folded = read(workspace_id, run_id, head_seq, head_mac=head_mac)
    return folded.state, folded.goto


def _resolved(workspace_id: UUID, operations: list[Any], seq: int) -> list[dict[str, Any]]:
    try:
        return blobs.resolved(operations, blobs.load(workspace_id, blobs.names(operations)))
    except blobs.Missing as fault:
        raise Unreadable(f"Checkpoint {seq}: {fault}") from fault


def _fold(folded: dict[str, Any], operations: list[dict[str, Any]], seq: int) -> dict[str, Any]:
    try:
        return state.fold(folded, operations)
    except (state.NotState, LookupError, TypeError) as fault:
        raise Unreadable(f"What leads to checkpoint {seq} does not fit together: {fault}") from fault


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
    made.clear = clear = _encoded(made, body)
    made.usage = dict(usage or {})
    made.body_commit = keys.sign("commitment", clear)
    made.body = sealing.seal(workspace_id, clear, place=_place(made))
    made.prev_mac = prev_mac
    made.mac = keys.sign("checkpoint", prev_mac + _header(made))
    return made


def _encoded(made: Checkpoint, body: Mapping[str, Any]) -> bytes:
    """The bytes of a body; large values of the state are lifted out of it."""
    clear = state.encode(body)
    if len(clear) < blobs.LARGE or "ops" not in body:
        return clear
    operations, made.lifted = blobs.lifted(made.workspace_id, body["ops"])
    return state.encode({**body, "ops": operations}) if made.lifted else clear


def write(checkpoint: Checkpoint) -> None:
    """Add a run's first checkpoint, in the transaction that adds the run."""
    checkpoint.save(force_insert=True)
    wire.run(blobs.statements(checkpoint.workspace_id, checkpoint.run_id, checkpoint.lifted))


def operations_of(drafted: Checkpoint) -> list[dict[str, Any]]:
    """What a checkpoint that was drafted just now changes, from the very bytes that are committed."""
    return blobs.resolved(state.decode(drafted.clear)["ops"], drafted.lifted)


def _header(checkpoint: Checkpoint) -> bytes:
    named = ("seq", "schema_version", "node", "goto", "usage", "fence")
    fields = {name: getattr(checkpoint, name) for name in named} | {"kind": str(checkpoint.kind)}
    fields |= {"id": checkpoint.pk.hex, "run": checkpoint.run_id.hex, "workspace": checkpoint.workspace_id.hex}
    fields |= {"attempt": checkpoint.attempt_id.hex, "commit": bytes(checkpoint.body_commit).hex()}
    return canonical.encode(fields)


def _place(checkpoint: Checkpoint) -> str:
    """Where a body belongs: moved to another run or another place of its run, it cannot be unsealed."""
    return f"runtime_checkpoint.body:{checkpoint.run_id.hex}:{checkpoint.seq}"
