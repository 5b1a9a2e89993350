"""Leases: a run is worked on by whoever claimed it last. Every claim mints a new fence, and every write proves it.

A worker that lost its lease, because it slept, hung or was cut off, can commit nothing: its fence is an old one.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection
from django.db.models import DateTimeField, Func, Q

from approvals import rows
from approvals.rows import wire
from runtime import checkpoints, heads, processes
from runtime.checkpoints import Checkpoint
from runtime.runs import Run

TTL: Final = 20
"""Seconds that a lease lasts; it is renewed when a third of them is over."""
TELLING: Final = 0.2
"""Seconds between two pieces of news about a run that only goes on."""

log = logging.getLogger(__name__)


class Later(Func):
    """So many seconds from now by the database's clock."""

    template = "(placet_now() + make_interval(secs => %(expressions)s))"
    output_field = DateTimeField()


class LeaseLost(Exception):
    """Somebody else has the run now: whatever this worker still wanted to write of it is refused."""


class CancelWanted(Exception):
    """The run is to end: no new step, and no call may be sent any more."""


@dataclass
class Lease:
    """One claim of one run, and where its head stood after this worker's last commit."""

    run_id: UUID
    workspace_id: UUID
    fence: int
    head_seq: int
    head_mac: bytes
    verified_seq: int
    pokes: int
    attempts: int
    cancel_by: str
    agent_id: UUID
    version_id: UUID
    requester_id: UUID | None
    budget_id: UUID | None
    title: bytes
    rehearsal: bool
    until: float
    agent: str = ""
    """The agent's name, once `origins` has it from the ledger."""
    renew_until: float = field(default=float("inf"))
    told_at: float = 0.0
    lost: bool = False

    @property
    def public_id(self) -> str:
        return rows.public_id(Run.PREFIX, self.run_id)

    @property
    def valid(self) -> bool:
        """Whether, by this process's own clock, nobody else can have claimed the run."""
        return not self.lost and time.monotonic() < self.until


CLAIM = """
    UPDATE runtime_run SET status = 'in_progress', fence = fence + 1, attempts = attempts + 1, lease_owner = %(me)s,
        lease_until = placet_now() + make_interval(secs => %(ttl)s), wake_at = NULL, hinted_at = NULL,
        reason = '', reason_code = '', ended_at = NULL
    WHERE id = %(run)s AND workspace_id = %(workspace)s
        AND (status = 'ready' OR (status = 'in_progress' AND lease_until < placet_now()))
    RETURNING id, workspace_id, fence, head_seq, head_mac, verified_seq, pokes, attempts, cancel_by,
        agent_id, version_id, requester_id, budget_id, title, rehearsal
"""


def claim(workspace_id: UUID, run_id: UUID) -> Lease | None:
    """Take the run, if it is ready or its worker's lease has run out. None: somebody has it, or there is nothing to
    do."""
    asked = time.monotonic()
    found = wire.rows(CLAIM, {"me": processes.me(), "ttl": TTL, "run": run_id, "workspace": workspace_id})
    return Lease(*found[0], until=asked + TTL) if found else None  # type: ignore[misc] # a line of CLAIM


# Proving it


def prove(lease: Lease, *, obey_cancel: bool = True, where: Q | None = None, **sets: Any) -> None:
    """Lock the run's row and write to it, if this lease still holds it. Raises CancelWanted unless told not to, or
    LeaseLost."""
    held: dict[str, Any] = {"id": lease.run_id, "fence": lease.fence, "status": "in_progress"}
    held |= {"cancel_by": ""} if obey_cancel else {}
    sets = sets or {"fence": lease.fence}
    changed = rows.change(Run, held, sets) if where is None else Run.objects.filter(where, **held).update(**sets)
    if changed == 1:
        return
    refuse(lease, obey_cancel=obey_cancel)


def refuse(lease: Lease, *, obey_cancel: bool = True) -> NoReturn:
    """Say why a write that had to prove the lease changed nothing. Raises CancelWanted or LeaseLost."""
    held = Q(pk=lease.run_id, fence=lease.fence, status="in_progress")
    if obey_cancel and Run.objects.filter(held).exclude(cancel_by="").exists():
        raise CancelWanted
    lease.lost = True
    raise LeaseLost


def next_checkpoint(lease: Lease, **contents: Any) -> Checkpoint:
    """The checkpoint that would follow the head, not yet written. Takes kind, body, node, goto, usage; raises
    state.NotState."""
    return checkpoints.draft(
        workspace_id=lease.workspace_id,
        run_id=lease.run_id,
        seq=lease.head_seq + 1,
        prev_mac=lease.head_mac,
        fence=lease.fence,
        **contents,
    )


def move_head(lease: Lease, checkpoint: Checkpoint, *, obey_cancel: bool = True) -> None:
    """Write a checkpoint and make it the run's head, in an open transaction. Raises CancelWanted or LeaseLost.

    The head is progress: the count of claims that came to nothing starts again. After COMMIT the caller says `moved`.
    """
    if not heads.move(checkpoint, obey_cancel=obey_cancel):
        refuse(lease, obey_cancel=obey_cancel)
    heads.keep(checkpoint)


def moved(lease: Lease, checkpoint: Checkpoint) -> None:
    """Note, after COMMIT, where the head is."""
    lease.head_seq, lease.head_mac, lease.verified_seq = checkpoint.seq, bytes(checkpoint.mac), checkpoint.seq


def tell(lease: Lease) -> None:
    """Tell open pages that the run went on, a few times a second at most; giving it up tells them in any case."""
    if time.monotonic() - lease.told_at > TELLING:
        lease.told_at = time.monotonic()
        rows.publish(lease.workspace_id, lease.public_id)


def release(lease: Lease, *, to: str, **sets: Any) -> None:
    """Give the run up in another status. Raises LeaseLost."""
    mine = Q(fence=lease.fence)
    given_back: dict[str, Any] = {"lease_owner": "", "lease_until": None, "attempts": 0}
    if not rows.move(Run, lease.run_id, frm="in_progress", to=to, where=mine, **given_back | sets):
        lease.lost = True
        raise LeaseLost
    rows.publish(lease.workspace_id, lease.public_id)


SUSPEND = """
    UPDATE runtime_run SET lease_owner = '', lease_until = NULL, attempts = 0, wake_at = placet_now(), status = CASE
        WHEN EXISTS (SELECT FROM runtime_call WHERE run_id = %(run)s AND consumed_seq IS NULL AND status = 'cleared')
            OR NOT EXISTS (SELECT FROM runtime_call WHERE run_id = %(run)s AND consumed_seq IS NULL
                AND status IN ('proposed', 'held', 'executing', 'unknown'))
            AND NOT EXISTS (SELECT FROM runtime_breakpoint WHERE run_id = %(run)s AND status = 'open')
        THEN 'ready' ELSE 'suspended_approval' END
    WHERE id = %(run)s AND fence = %(fence)s AND status = 'in_progress'
        AND (%(pokes)s::bigint IS NULL OR pokes = %(pokes)s)
    RETURNING status
"""


SLEEP = """
    UPDATE runtime_run SET lease_owner = '', lease_until = NULL, hinted_at = NULL, status = 'sleeping',
        attempts = GREATEST(attempts, 1) - 1,
        wake_at = COALESCE((SELECT min(due_at) FROM runtime_call WHERE run_id = %(run)s AND consumed_seq IS NULL
            AND status IN ('cleared', 'executing', 'unknown')), placet_now())
    WHERE id = %(run)s AND fence = %(fence)s AND status = 'in_progress' AND pokes = %(pokes)s
    RETURNING status
"""


def sleep(lease: Lease, *, pokes: int) -> str | None:
    """Give the run up until the first of its calls is due again; None if it was poked meanwhile. Waiting is neither
    progress nor a claim that came to nothing: the count of these stands."""
    return _give_up(lease, SLEEP, pokes)


WAIT = """
    UPDATE runtime_run SET lease_owner = '', lease_until = NULL, attempts = 0, wake_at = placet_now(),
        status = 'suspended_approval'
    WHERE id = %(run)s AND fence = %(fence)s AND status = 'in_progress' AND pokes = %(pokes)s
    RETURNING status
"""


def wait(lease: Lease, *, pokes: int) -> str | None:
    """Give the run up until people have said something, whatever its calls could do; None if it was poked meanwhile."""
    return _give_up(lease, WAIT, pokes)


def suspend(lease: Lease, *, pokes: int | None) -> str | None:
    """Give the run up until people have decided; returns the status it has now, None if it was poked meanwhile.

    The statement decides by itself, but it sees the calls as they were when it began: after waiting for the row's
    lock it would miss the very decision it waited for. A decision pokes the run, so ``pokes``, as read before the
    calls were, tells. Pass None only where the same transaction holds the row already.
    """
    return _give_up(lease, SUSPEND, pokes)


def _give_up(lease: Lease, statement: str, pokes: int | None) -> str | None:
    found = wire.rows(statement, {"run": lease.run_id, "fence": lease.fence, "pokes": pokes})
    if found:
        rows.publish(lease.workspace_id, lease.public_id)
        return str(found[0][0])
    _check_held(lease)
    return None


def _check_held(lease: Lease) -> None:
    row = Run.objects.filter(pk=lease.run_id, fence=lease.fence, status="in_progress").values_list("pokes").first()
    if row is None:
        lease.lost = True
        raise LeaseLost
    lease.pokes = row[0]


def durably(lease: Lease, write: Callable[[], None], landed: Callable[[], bool]) -> None:
    """Commit a transaction whatever happens to the connection: when its acknowledgement is lost, ``landed`` says
    whether it was committed, and if it was not, it is tried again as long as the lease holds. Raises LeaseLost, and
    whatever ``write`` raises."""
    while True:
        try:
            return write()
        except (OperationalError, InterfaceError) as error:
            log.warning("%s: a commit was not acknowledged (%s)", lease.public_id, type(error).__name__)
            connection.close()
            if _found(lease, landed):
                return None


def _found(lease: Lease, landed: Callable[[], bool]) -> bool:
    while lease.valid:
        try:
            with rows.within(lease.workspace_id):
                return landed()
        except (OperationalError, InterfaceError):
            connection.close()
            time.sleep(0.2)
    raise LeaseLost


# Keeping it

_kept: Final[dict[UUID, Lease]] = {}
_guard: Final = threading.Lock()


@contextmanager
def kept(lease: Lease) -> Iterator[Lease]:
    """Renew the lease in the background as long as the block runs."""
    with _guard:
        _kept[lease.run_id] = lease
    processes.keep_up(renew_all)
    try:
        yield lease
    finally:
        with _guard:
            if _kept.get(lease.run_id) is lease:
                del _kept[lease.run_id]


def renew_all() -> None:
    """Renew every lease that this process keeps and that is older than a third of its time; mark those that are
    lost."""
    with _guard:
        held = list(_kept.values())
    for lease in held:
        if not lease.lost and lease.until - TTL * 2 / 3 < time.monotonic() < lease.renew_until:
            _renew(lease)


def _renew(lease: Lease) -> None:
    asked = time.monotonic()
    mine = Q(pk=lease.run_id, fence=lease.fence, status="in_progress")
    with rows.within(lease.workspace_id):
        renewed = Run.objects.filter(mine).update(lease_until=Later(TTL))
    if renewed:
        lease.until = asked + TTL
    else:
        # Between giving a run up and leaving `kept` this is no loss; the mark is then read by nobody.
        lease.lost = True
