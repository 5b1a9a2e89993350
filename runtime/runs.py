"""Runs: one stretch of an agent's work. The row is the queue: its status says whether anybody has to look at it, and
when."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, models

from approvals import gate, rows
from approvals.ledger import entries, sealing
from runtime import budgets, checkpoints, failures, hints, state, threads
from runtime.definitions import Agent, AgentVersion, TakesNoRuns, check_in_force


class Run(rows.Row):
    """A run and where it stands. ``head_seq`` and ``head_mac`` name its last checkpoint; ``fence`` grows with every
    claim.

    ``pokes`` counts what happened to its calls from outside, so that a worker about to suspend it notices.
    ``cancel_by`` is the public id of whoever wants it to end: its worker, or the next one, obeys before anything
    else. ``budget_question`` is the approval that asks to raise its budget, until the answer was carried out,
    ``budget_for`` the calls or the step that it was too low for, and ``waited`` the time that people took. Of a
    ``rehearsal`` nothing is ever sent, whatever people say.
    """

    PREFIX = "run"

    class Status(models.TextChoices):
        READY = "ready"
        IN_PROGRESS = "in_progress"
        SUSPENDED = "suspended_approval", "suspended for approval"
        REQUIRES_ACTION = "requires_action", "requires action"
        SLEEPING = "sleeping"
        COMPLETED = "completed"
        FAILED = "failed"
        CANCELLED = "cancelled"
        PARKED = "parked"

    MOVES: ClassVar[Mapping[str, frozenset[str]]] = {
        "ready": frozenset({"in_progress", "cancelled"}),
        "in_progress": frozenset(
            {"ready", "suspended_approval", "requires_action", "sleeping", "completed", "failed", "cancelled", "parked"}
        ),
        "suspended_approval": frozenset({"ready", "cancelled", "parked"}),
        "requires_action": frozenset({"ready", "cancelled", "parked"}),
        "sleeping": frozenset({"ready", "cancelled", "parked"}),
        "failed": frozenset({"ready"}),
        "parked": frozenset({"ready"}),
    }

    thread = models.ForeignKey(threads.Thread, models.PROTECT, related_name="runs", db_constraint=False)
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="runs", db_constraint=False)
    version = models.ForeignKey(AgentVersion, models.PROTECT, related_name="+", db_constraint=False)
    requester = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    started_by = models.CharField(max_length=40)
    start_key = models.CharField(max_length=200, null=True)
    title = models.BinaryField()
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.READY)
    reason_code = models.CharField(max_length=24, blank=True)
    reason = models.TextField(blank=True)
    reason_words = models.BinaryField(default=b"")
    head_seq = models.PositiveBigIntegerField(default=0)
    head_mac = models.BinaryField(default=b"")
    verified_seq = models.PositiveBigIntegerField(default=0)
    fence = models.PositiveBigIntegerField(default=0)
    lease_owner = models.CharField(max_length=120, blank=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    pokes = models.PositiveBigIntegerField(default=0)
    wake_at = models.DateTimeField(db_default=rows.Now(), null=True)
    hinted_at = models.DateTimeField(null=True)
    cancel_by = models.CharField(max_length=40, blank=True)
    cancel_reason = models.BinaryField(default=b"")
    ended_at = models.DateTimeField(null=True)
    erased_at = models.DateTimeField(null=True)
    budget = models.ForeignKey(
        "runtime.Budget", models.PROTECT, null=True, related_name="runs", db_constraint=False, db_index=False
    )
    budget_questions = models.PositiveIntegerField(default=0)
    budget_question = models.CharField(max_length=40, blank=True)
    budget_for = models.JSONField(default=list)
    waited = models.DurationField(default=timedelta)
    rehearsal = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "start_key"], name="one_run_of_a_start_key"),
            models.CheckConstraint(
                condition=models.Q(
                    status__in=[
                        "ready",
                        "in_progress",
                        "suspended_approval",
                        "requires_action",
                        "sleeping",
                        "completed",
                        "failed",
                        "cancelled",
                        "parked",
                    ]
                ),
                name="run_status_is_known",
            ),
        ]
        indexes = [
            models.Index(fields=["wake_at"], condition=models.Q(status__in=["ready", "sleeping"]), name="runs_due"),
            models.Index(fields=["lease_until"], condition=models.Q(status="in_progress"), name="runs_leased"),
            models.Index(fields=["created_at"], condition=models.Q(status="suspended_approval"), name="runs_suspended"),
            models.Index(fields=["status"], condition=~models.Q(budget_question=""), name="runs_asking_for_budget"),
            models.Index(fields=["workspace", "-created_at"], name="runs_by_age"),
            models.Index(fields=["workspace", "status", "-created_at"], name="runs_by_status"),
            models.Index(fields=["workspace", "agent", "-created_at"], name="runs_by_agent"),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def told(self) -> str:
        """Why it stands where it stands, or nothing: in our words, in those of whoever cancelled it, or in those that
        quote its agent. Raises Tampered."""
        said = cancel_reason_of(self) if self.status == "cancelled" else ""
        return said or (failures.words_of(self) if self.reason_code == failures.CODE else "") or self.reason


OPEN = frozenset({"ready", "in_progress", "suspended_approval", "requires_action", "sleeping"})
WAITING = frozenset({"suspended_approval", "requires_action", "sleeping"})
FINAL = frozenset({"completed", "cancelled"})


# Questions


def title_of(run: Run) -> str:
    """What the run was said to be about, by whoever started it. Raises sealing.Tampered."""
    return unseal_title(run.workspace_id, run.pk, bytes(run.title))


def unseal_title(workspace_id: UUID, run_id: UUID, title: bytes) -> str:
    """The same from the sealed bytes alone. Raises sealing.Tampered."""
    return sealing.unseal(workspace_id, title, place=_title_place(run_id)).decode()


def cancel_reason_of(run: Run) -> str:
    """What was said by whoever wants it cancelled, or nothing. Raises sealing.Tampered."""
    if not run.cancel_reason:
        return ""
    return sealing.unseal(run.workspace_id, bytes(run.cancel_reason), place=_reason_place(run.pk)).decode()


def run_named(workspace_id: UUID, public_id: str) -> Run | None:
    """The run of this public id, if the workspace has one."""
    key = rows.parse_id(Run.PREFIX, public_id)
    return Run.objects.filter(workspace_id=workspace_id, pk=key).first() if key else None


def workspace_of(run_id: UUID) -> UUID | None:
    """The workspace of a run, for whoever was told nothing else: a task, an operator."""
    return next(iter(_WORKSPACE_OF(run_id)), None)


_WORKSPACE_OF = rows.entrance(
    "placet_workspace_of_run", "uuid", query="SELECT r.workspace_id FROM public.runtime_run r WHERE r.id = $1"
)


def _title_place(key: UUID) -> str:
    return f"runtime_run.title:{key.hex}"


def _reason_place(key: UUID) -> str:
    return f"runtime_run.cancel_reason:{key.hex}"


# Verbs


def sealed_reason(workspace_id: UUID, run_id: UUID, reason: str) -> bytes:
    """What goes into ``cancel_reason``."""
    return sealing.seal(workspace_id, reason.encode(), place=_reason_place(run_id)) if reason else b""


def start(
    workspace_id: UUID,
    agent: Agent,
    *,
    input: Mapping[str, Any],
    title: str,
    by: str,
    requester_id: UUID | None = None,
    thread: threads.Thread | None = None,
    key: str | None = None,
    budget: Mapping[str, Any] | None = None,
    rehearsal: bool = False,
) -> Run:
    """Accept a run: it is committed before anybody works on it, and a worker is asked to look.

    ``by`` is the public id of whoever starts it, ``requester_id`` the person on whose behalf the agent works. A
    second start with the same ``key`` gives the first run. ``budget`` has caps, which only lower those of the agent's
    definition. Of a ``rehearsal`` nothing is ever sent. Raises state.NotState for input that is not pure JSON,
    TakesNoRuns for an agent of another workspace, one that is switched off or is not as it was registered last, and
    ValueError for a budget that is none.
    """
    if agent.workspace_id != workspace_id or not agent.is_active:
        raise TakesNoRuns(f"The agent {agent.name} takes no runs here.")
    try:
        with rows.within(workspace_id):
            check_in_force(agent)
            run = _accept(
                workspace_id, agent, dict(input), title, by, requester_id, thread, key, budget or {}, rehearsal
            )
    except IntegrityError:
        first = Run.objects.filter(workspace_id=workspace_id, start_key=key).first() if key else None
        if first is None:
            raise
        return first
    return run


def _accept(
    workspace_id: UUID,
    agent: Agent,
    input: dict[str, Any],
    title: str,
    by: str,
    requester_id: UUID | None,
    thread: threads.Thread | None,
    key: str | None,
    budget: Mapping[str, Any],
    rehearsal: bool,
) -> Run:
    run = Run(workspace_id=workspace_id, agent=agent, requester_id=requester_id, started_by=by, start_key=key)
    run.rehearsal = rehearsal
    run.thread = thread or threads.open_thread(workspace_id)
    run.version = agent.versions.get(number=agent.version)
    run.title = sealing.seal(workspace_id, title.encode(), place=_title_place(run.pk))
    first = checkpoints.draft(
        workspace_id=workspace_id,
        run_id=run.pk,
        seq=1,
        prev_mac=b"",
        fence=0,
        kind="input",
        body={"ops": state.changes({"input": input}, {}, ())},
    )
    run.head_seq, run.head_mac = first.seq, first.mac
    caps = budgets.tighter(budgets.caps(run.version.document.get("budget", {})), budgets.caps(budget))
    if caps:
        run.budget = budgets.opened(workspace_id, run.pk, caps)
    run.save(force_insert=True)
    checkpoints.write(first)
    body = {"agent": agent.public_id, "version": agent.version, "checkpoint_mac": bytes(first.mac).hex()}
    body |= {"requester": rows.public_id("per", requester_id) if requester_id else ""}
    body |= {"budget": caps} if caps else {}
    body |= {"rehearsal": True} if rehearsal else {}
    entries.append(workspace_id, run.public_id, "run.started", body, by=by)
    rows.publish(workspace_id, run.public_id)
    hints.hint_on_commit(workspace_id, run.pk)
    return run


def cancel(run: Run, *, by: str, reason: str, person_id: UUID | None = None) -> bool:
    """End a run: its open approvals are withdrawn at once, no call is sent any more, and a worker writes the end.
    False if it has ended already. ``by`` is a public id; whether they may is for the caller to have asked.

    The wish is committed first and by itself. Withdrawing first would wake the run, and its agent could take another
    step before the run's row is reached; and whoever holds that row may lock no open approval.
    """
    if not wish_to_cancel(run, by, reason):
        return False
    gate.withdraw(run.workspace_id, run.public_id, by=by, person_id=person_id, reason=reason)
    hints.hint(run.workspace_id, run.pk)
    return True


def wish_to_cancel(run: Run, by: str, reason: str) -> bool:
    """Commit the wish that a run ends, and nothing else: from here on it takes no step and sends no call. False if it
    has ended, or is to end already."""
    wanted = {"cancel_by": by, "cancel_reason": sealed_reason(run.workspace_id, run.pk, reason)}
    awake = {"status": "ready", "wake_at": rows.Now(), "hinted_at": None}
    with rows.within(run.workspace_id):
        # Else its worker may give it up between the two statements below, and neither would find it.
        list(Run.objects.select_for_update().filter(pk=run.pk).values_list("pk"))
        rows.publish(run.workspace_id, run.public_id)
        unwanted = models.Q(cancel_by="")
        resting = WAITING | {"failed", "parked"}
        if rows.move(Run, run.pk, frm=resting, to="ready", where=unwanted, **wanted, **awake):
            return True
        running = Run.objects.filter(unwanted, pk=run.pk, status__in=["ready", "in_progress"])
        return running.update(**wanted) == 1


def resume(run: Run, *, by: str) -> bool:
    """Let a failed or parked run go on from its last commit. False if it is neither. Whether they may is for the
    caller to ask."""
    fresh: dict[str, Any] = {
        "attempts": 0,
        "reason": "",
        "reason_code": "",
        "ended_at": None,
        "wake_at": rows.Now(),
        "hinted_at": None,
    }
    rested = models.functions.Coalesce(rows.Now() - models.F("ended_at"), timedelta())
    fresh["waited"] = models.F("waited") + rested
    with rows.within(run.workspace_id):
        if not rows.move(Run, run.pk, frm={"failed", "parked"}, to="ready", **fresh):
            return False
        entries.append(run.workspace_id, run.public_id, "run.retried", {}, by=by)
        rows.publish(run.workspace_id, run.public_id)
        hints.hint_on_commit(run.workspace_id, run.pk)
    return True
