"""Invariants: what has to be true of every committed state, each as a query that names whatever offends.

All are asked of a workspace in one statement, so of one moment: what is being done meanwhile never looks like a fault.
No byte is unsealed and no MAC computed here, but for `unreadable`; `manage.py ledger verify` does that for the ledger.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import connection

from approvals import rows
from runtime import budgets, checkpoints
from runtime.runs import Run

MOST: Final = 100
"""The most offenders that one invariant names."""


@dataclass(frozen=True)
class Invariant:
    """A name, what it says, and the query that gives (what offends, how) for whatever it is not true of."""

    name: str
    says: str
    sql: str


@dataclass(frozen=True)
class Offender:
    """Something of which an invariant is not true: its public id, and how it offends."""

    invariant: str
    what: str
    how: str

    def __str__(self) -> str:
        return f"{self.invariant}: {self.what} {self.how}"


INVARIANTS: Final[dict[str, Invariant]] = {}


def _invariant(name: str, says: str, *sql: str) -> None:
    INVARIANTS[name] = Invariant(name, says, "\nUNION ALL\n".join(sql))


def _id(prefix: str, column: str) -> str:
    return f"'{prefix}_' || replace({column}::text, '-', '')"


_invariant(
    "votes",
    "An approval ended with a yes only by the votes it needed, on the revision that it ended with.",
    f"""SELECT {_id("apr", "a.id")}, 'is ' || a.status || ' with too few votes' FROM approvals_approval a
    WHERE a.status IN ('approved', 'answered') AND (SELECT count(*) FROM (
        SELECT DISTINCT ON (d.person_id) d.verdict FROM approvals_decision d
        WHERE d.approval_id = a.id AND d.revision = a.revision AND d.verdict <> 'stop'
        ORDER BY d.person_id, d.turn DESC) last
        WHERE last.verdict NOT IN ('reject', 'edit', 'retract', 'override'))
        < CASE WHEN a.choice = 'request_changes' THEN 1 ELSE a.required END
        AND NOT EXISTS (SELECT FROM approvals_decision o WHERE o.approval_id = a.id AND o.revision = a.revision
            AND o.verdict = 'override')""",
    """SELECT a.subject, 'was approved ' || count(*) || ' times' FROM approvals_approval a
    WHERE a.status = 'approved' AND a.kind = 'call'
        AND NOT EXISTS (SELECT FROM approvals_approval again WHERE again.asked_again_id = a.id)
    GROUP BY a.workspace_id, a.subject HAVING count(*) > 1""",
)
_invariant(
    "sent_as_decided",
    "Every sending carried bytes that policy allowed outright, or that people approved, for this very call.",
    f"""SELECT {_id("call", "c.id")}, 'sent, in attempt ' || t.number || ', what no ruling covers'
    FROM runtime_attempt t JOIN runtime_call c ON c.id = t.call_id WHERE NOT EXISTS (
        SELECT FROM approvals_ruling r WHERE r.workspace_id = c.workspace_id AND r.subject = {_id("call", "c.id")}
            AND (r.digest = c.digest OR c.questions > 0 OR t.outcome IN ('not_sent', 'failed_before'))
            AND r.args_digest = t.args_digest
            AND (r.verdict = 'allow' OR EXISTS (
                SELECT FROM approvals_revision v JOIN approvals_approval a ON a.id = v.approval_id
                WHERE v.ruling_id = r.id AND a.status = 'approved' AND a.revision = v.number)))""",
)
_invariant(
    "one_effect",
    "A tool that is not safe to repeat did its work once for a call; an executed call has the attempt that did it.",
    f"""SELECT {_id("call", "c.id")}, 'was executed ' || count(*) || ' times' FROM runtime_call c
    JOIN runtime_attempt t ON t.call_id = c.id WHERE t.outcome = 'executed'
        AND c.effect NOT IN ('pure', 'keyed', 'natural') GROUP BY c.id HAVING count(*) > 1""",
    f"""SELECT {_id("call", "c.id")}, 'is executed, and the attempt that counts is not' FROM runtime_call c
    WHERE c.status = 'executed' AND NOT EXISTS (
        SELECT FROM runtime_attempt t WHERE t.id = c.attempt_id AND t.call_id = c.id AND t.outcome = 'executed')""",
    f"""SELECT {_id("call", "c.id")}, 'has ' || count(*) || ' attempts, the last of number ' || max(t.number)
    FROM runtime_call c JOIN runtime_attempt t ON t.call_id = c.id GROUP BY c.id HAVING count(*) <> max(t.number)""",
)
_invariant(
    "nothing_unasked",
    "Of a call that waits, or that ended without being sent, nothing was sent, or nothing came of it.",
    f"""SELECT {_id("call", "c.id")}, 'is proposed, and was sent' FROM runtime_call c
    WHERE c.status = 'proposed' AND EXISTS (SELECT FROM runtime_attempt t WHERE t.call_id = c.id)""",
    f"""SELECT {_id("call", "c.id")}, 'is ' || c.status || ', and may have had an effect' FROM runtime_call c
    WHERE c.status IN ('held', 'answered', 'expired', 'refused', 'cancelled') AND c.questions = 0 AND EXISTS (
        SELECT FROM runtime_attempt t WHERE t.call_id = c.id AND t.outcome NOT IN ('not_sent', 'failed_before')
            AND (c.effect <> 'lookup' OR t.id = c.attempt_id))""",
)
_invariant(
    "one_history",
    "A run's checkpoints are numbered without a gap, each follows the one before it, and the last one is the head.",
    f"""SELECT {_id("run", "k.run_id")}, 'has a checkpoint ' || k.seq || ' that does not follow the one before it'
    FROM (SELECT run_id, seq, prev_mac, lag(seq, 1, 0::bigint) OVER line AS seq_before,
            lag(mac, 1, ''::bytea) OVER line AS mac_before FROM runtime_checkpoint
        WINDOW line AS (PARTITION BY run_id ORDER BY seq)) k
    WHERE k.seq <> k.seq_before + 1 OR k.prev_mac <> k.mac_before""",
    f"""SELECT {_id("run", "r.id")}, 'has a head that is not its last checkpoint' FROM runtime_run r
    LEFT JOIN LATERAL (SELECT seq, mac FROM runtime_checkpoint k WHERE k.run_id = r.id ORDER BY seq DESC LIMIT 1) last
        ON true WHERE last.seq IS NULL OR last.seq <> r.head_seq OR last.mac <> r.head_mac""",
)
_invariant(
    "fences",
    "Whoever wrote held the lease: fences never fall along a run, and none is newer than the run's own.",
    f"""SELECT {_id("run", "k.run_id")}, 'has a checkpoint ' || k.seq || ' of another worker''s time'
    FROM (SELECT run_id, seq, fence, lag(fence, 1, 0::bigint) OVER line AS before FROM runtime_checkpoint
        WINDOW line AS (PARTITION BY run_id ORDER BY seq)) k JOIN runtime_run r ON r.id = k.run_id
    WHERE k.fence < k.before OR k.fence > r.fence""",
    f"""SELECT {_id("call", "t.call_id")}, 'has an attempt ' || t.number || ' of another worker''s time'
    FROM (SELECT call_id, number, fence, lag(fence, 1, 0::bigint) OVER line AS before FROM runtime_attempt
        WINDOW line AS (PARTITION BY call_id ORDER BY number)) t
    JOIN runtime_call c ON c.id = t.call_id JOIN runtime_run r ON r.id = c.run_id
    WHERE t.fence < t.before OR t.fence > r.fence""",
)
_invariant(
    "budgets",
    "What a budget holds is what its open holds may spend, and all that ended holds spent was counted, once.",
    f"""SELECT {_id("bud", "b.id")}, 'holds ' || b.tokens_held || ' tokens and ' || b.money_held
        || ' of money, its holds ' || h.tokens || ' and ' || h.money FROM runtime_budget b CROSS JOIN LATERAL (
            SELECT coalesce(sum(tokens), 0) AS tokens, coalesce(sum(money), 0) AS money
            FROM runtime_hold WHERE budget_id = b.id AND status = 'held') h
    WHERE b.tokens_held <> h.tokens OR b.money_held <> h.money""",
    f"""SELECT {_id("bud", "b.id")}, 'has used less than its holds spent' FROM runtime_budget b CROSS JOIN LATERAL (
            SELECT coalesce(sum(tokens_spent), 0) AS tokens, coalesce(sum(money_spent), 0) AS money
            FROM runtime_hold WHERE budget_id = b.id AND status <> 'held') h
    WHERE b.tokens_used < LEAST(h.tokens, {budgets.MOST}) OR b.money_used < LEAST(h.money, {budgets.MOST})""",
    f"""SELECT {_id("hld", "h.id")}, 'is held, and its attempt has ended' FROM runtime_hold h
    JOIN runtime_attempt t ON t.id = h.attempt_id WHERE h.status = 'held' AND t.outcome <> ''""",
)
_invariant(
    "own_decisions",
    "An approval lets nothing run but the call of the run that asked for it.",
    f"""SELECT {_id("apr", "a.id")}, 'is of another run than its call' FROM approvals_approval a
    JOIN runtime_call c ON {_id("call", "c.id")} = a.subject
    WHERE a.kind = 'call' AND (a.chain <> {_id("run", "c.run_id")} OR a.workspace_id <> c.workspace_id)""",
)
_invariant(
    "no_lost_wake",
    "Whoever waits, waits for something that is there; nothing that has ended asks anybody.",
    f"""SELECT {_id("run", "r.id")}, 'waits for people, and nobody is asked' FROM runtime_run r
    WHERE r.status = 'suspended_approval' AND NOT EXISTS (SELECT FROM approvals_approval a
        WHERE a.chain = {_id("run", "r.id")} AND a.workspace_id = r.workspace_id AND a.status = 'pending')""",
    f"""SELECT {_id("run", "r.id")}, 'is ' || r.status || ', and ' || {_id("apr", "a.id")} || ' is open'
    FROM runtime_run r JOIN approvals_approval a ON a.chain = {_id("run", "r.id")} AND a.status = 'pending'
    WHERE r.status IN ('completed', 'cancelled')""",
    f"""SELECT {_id("call", "c.id")}, 'is held, and nobody is asked' FROM runtime_call c
    WHERE c.status = 'held' AND NOT EXISTS (SELECT FROM approvals_approval a WHERE a.workspace_id = c.workspace_id
        AND a.status = 'pending' AND a.subject = CASE c.kind WHEN 'call' THEN {_id("call", "c.id")}
            ELSE {_id("run", "c.run_id")} || ':question:' || c.step || ':' || c.idx END)""",
    f"""SELECT {_id("run", "id")}, 'is ' || status || ', and nothing says when it goes on' FROM runtime_run
    WHERE (status IN ('ready', 'sleeping') AND wake_at IS NULL)
        OR (status = 'in_progress' AND lease_until IS NULL)""",
)
_invariant(
    "every_call_ends",
    "No step is taken, and no run completed, before every call that was proposed has a recorded end.",
    f"""SELECT {_id("call", "c.id")}, 'is ' || c.status || ', and a later step was taken' FROM runtime_call c
    WHERE c.consumed_seq IS NULL AND EXISTS (SELECT FROM runtime_checkpoint k
        WHERE k.run_id = c.run_id AND k.kind = 'step' AND k.seq > c.step)""",
    f"""SELECT {_id("call", "c.id")}, 'is ' || c.status || ', and its run is ' || r.status FROM runtime_call c
    JOIN runtime_run r ON r.id = c.run_id WHERE (r.status = 'completed' AND c.consumed_seq IS NULL)
        OR (r.status = 'cancelled' AND c.status IN ('proposed', 'held', 'cleared', 'executing'))""",
    f"""SELECT {_id("call", "c.id")}, 'is ' || c.status || ', and a step was told its end' FROM runtime_call c
    WHERE c.consumed_seq IS NOT NULL AND (c.consumed_seq <= c.step
        OR c.status IN ('proposed', 'held', 'cleared', 'executing', 'unknown'))""",
)
_invariant(
    "nothing_left_over",
    "What belongs to a run or a call goes with it: nothing of one that was deleted is there.",
    f"""SELECT {_id("cp", "k.id")}, 'belongs to no run' FROM runtime_checkpoint k
    WHERE NOT EXISTS (SELECT FROM runtime_run r WHERE r.id = k.run_id)""",
    f"""SELECT {_id("call", "c.id")}, 'belongs to no run' FROM runtime_call c
    WHERE NOT EXISTS (SELECT FROM runtime_run r WHERE r.id = c.run_id)""",
    f"""SELECT {_id("att", "t.id")}, 'belongs to no call' FROM runtime_attempt t
    WHERE NOT EXISTS (SELECT FROM runtime_call c WHERE c.id = t.call_id)""",
)
_invariant(
    "one_ledger",
    "A chain's entries are numbered without a gap, each follows the one before it, and the last one is the head.",
    """SELECT h.name, 'has an entry ' || e.seq || ' that does not follow the one before it' FROM (
        SELECT chain_id, seq, prev, lag(seq, 1, 0::bigint) OVER line AS seq_before, lag(hash) OVER line AS hash_before
        FROM approvals_entry WINDOW line AS (PARTITION BY chain_id ORDER BY seq)) e
    JOIN approvals_chain h ON h.id = e.chain_id
    WHERE e.seq <> e.seq_before + 1 OR (e.hash_before IS NOT NULL AND e.prev <> e.hash_before)""",
    """SELECT h.name, 'has a head that is not its last entry' FROM approvals_chain h
    LEFT JOIN LATERAL (SELECT seq, hash FROM approvals_entry e WHERE e.chain_id = h.id ORDER BY seq DESC LIMIT 1) last
        ON true WHERE h.seq <> COALESCE(last.seq, 0) OR h.hash <> COALESCE(last.hash, h.hash)""",
)
_invariant(
    "one_workspace",
    "Everything of a run belongs to the run's workspace.",
    f"""SELECT {_id("run", "r.id")}, 'holds a row of another workspace' FROM runtime_run r WHERE EXISTS (
        SELECT FROM runtime_checkpoint k WHERE k.run_id = r.id AND k.workspace_id <> r.workspace_id)
        OR EXISTS (SELECT FROM runtime_call c LEFT JOIN runtime_attempt t ON t.call_id = c.id WHERE c.run_id = r.id
            AND (c.workspace_id <> r.workspace_id OR t.workspace_id <> r.workspace_id))
        OR EXISTS (SELECT FROM approvals_approval a
            WHERE a.chain = {_id("run", "r.id")} AND a.workspace_id <> r.workspace_id)""",
)


# Questions


def offenders(*names: str) -> list[Offender]:
    """Whatever the named invariants, or all, are not true of at this moment, in one workspace after the other; at most
    MOST of each."""
    found: list[Offender] = []
    for workspace_id in rows.every_workspace():
        with rows.reading(workspace_id), connection.cursor() as cursor:
            cursor.execute(query(*names))
            found += [Offender(*row) for row in cursor.fetchall()]
    return found


def query(*names: str) -> str:
    """The one statement that asks the named invariants, or all: rows of a name, what offends, and how."""
    return "\nUNION ALL\n".join(
        f"(SELECT '{each.name}', o.* FROM ({each.sql}) AS o (what, how) ORDER BY what, how LIMIT {MOST})"
        for each in (INVARIANTS[name] for name in names or INVARIANTS)
    )


def unreadable() -> Iterator[Offender]:
    """Runs whose state cannot be told from their checkpoints alone: every chain is verified and folded, which takes as
    long as there is history. What was erased on purpose is no fault."""
    for workspace_id in rows.every_workspace():
        with rows.reading(workspace_id):
            found = list(Run.objects.exclude(status="parked").order_by("created_at").values_list("pk", flat=True))
        for key in found:
            yield from _unreadable(workspace_id, key)


def _unreadable(workspace_id: UUID, key: UUID) -> list[Offender]:
    try:
        with rows.within(workspace_id):
            run = Run.objects.get(pk=key)
            checkpoints.rehydrate(run.pk, head_seq=run.head_seq, head_mac=bytes(run.head_mac))
    except checkpoints.Erased:
        return []
    except checkpoints.Unreadable as fault:
        return [Offender("state", rows.public_id(Run.PREFIX, key), f"cannot be read: {fault}")]
    return []
