"""Calls: one proposed use of a tool each, the attempts to make it, and how the decision of people reaches it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, ClassVar, Final
from uuid import UUID

from django.db import models

from approvals import gate, rows
from approvals.ledger import canonical, sealing
from approvals.rows import wire
from runtime import hints
from runtime.agents.agent import CallResult
from runtime.attempts import NOTHING_HAPPENED, nothing_happened
from runtime.attempts import Attempt as Attempt
from runtime.attempts import answer_of as answer_of
from runtime.definitions import Tool
from runtime.runs import Run

log = logging.getLogger(__name__)


class Call(rows.Row):
    """One proposed use of a tool, or a question to people, which has none: ``idx`` is its place in the step that
    proposed it, ``key`` its idempotency key for ever.

    ``args`` are the bytes as proposed, and from the moment they are sent those that were approved. ``digest`` names
    the action that may run; ``attempt_id`` is the attempt that counts; ``consumed_seq`` the step that was given the
    result. ``retries`` counts the tries that ended without an effect or an answer, ``lookups`` the times it was looked
    up, and ``due_at`` is when the machine looks at it again. ``questions`` counts how often people were asked what
    became of it, and ``question`` is the last of these approvals until its answer was carried out.
    """

    PREFIX = "call"

    class Kind(models.TextChoices):
        CALL = "call"
        QUESTION = "question"

    class Status(models.TextChoices):
        PROPOSED = "proposed"
        HELD = "held"
        CLEARED = "cleared"
        REFUSED = "refused"
        ANSWERED = "answered"
        EXPIRED = "expired"
        CANCELLED = "cancelled"
        EXECUTING = "executing"
        EXECUTED = "executed"
        FAILED = "failed"
        UNKNOWN = "unknown"

    MOVES: ClassVar[Mapping[str, frozenset[str]]] = {
        "proposed": frozenset({"held", "cleared", "refused"}),
        "held": frozenset({"cleared", "refused", "answered", "expired", "cancelled"}),
        "cleared": frozenset({"executing", "held", "refused", "cancelled"}),
        "executing": frozenset({"executed", "failed", "unknown", "held"}),
        "unknown": frozenset({"executed", "failed", "cleared"}),
    }

    run = models.ForeignKey(Run, models.PROTECT, related_name="calls", db_constraint=False)
    step = models.PositiveBigIntegerField()
    idx = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.CALL)
    tool = models.ForeignKey(Tool, models.PROTECT, null=True, related_name="+", db_constraint=False)
    tool_name = models.CharField(max_length=200)
    effect = models.CharField(max_length=12)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.PROPOSED)
    args = models.BinaryField()
    args_digest = models.CharField(max_length=64)
    digest = models.CharField(max_length=64, blank=True)
    key = models.CharField(max_length=64)
    approval = models.CharField(max_length=40, blank=True)
    reason = models.BinaryField()
    message = models.BinaryField(default=b"")
    attempt_id = models.UUIDField(null=True)
    estimate = models.JSONField(default=dict)
    retries = models.PositiveIntegerField(default=0)
    lookups = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(null=True)
    questions = models.PositiveIntegerField(default=0)
    question = models.CharField(max_length=40, blank=True)
    consumed_seq = models.PositiveBigIntegerField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "step", "idx"], name="one_call_of_a_place"),
            models.UniqueConstraint(fields=["workspace", "key"], name="one_call_of_a_key"),
            models.CheckConstraint(
                condition=models.Q(
                    status__in=[
                        "proposed",
                        "held",
                        "cleared",
                        "refused",
                        "answered",
                        "expired",
                        "cancelled",
                        "executing",
                        "executed",
                        "failed",
                        "unknown",
                    ]
                ),
                name="call_status_is_known",
            ),
        ]
        indexes = [
            models.Index(fields=["run"], condition=models.Q(consumed_seq=None), name="calls_not_consumed"),
            models.Index(fields=["created_at"], condition=models.Q(status="held"), name="calls_held"),
            models.Index(fields=["created_at"], condition=models.Q(status="executing"), name="calls_executing"),
            models.Index(
                fields=["workspace", "created_at"], condition=models.Q(status="unknown"), name="calls_unknown"
            ),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def subject(self) -> str:
        """What people are asked about it is asked under this name."""
        if self.kind == Call.Kind.CALL:
            return self.public_id
        return f"{rows.public_id(Run.PREFIX, self.run_id)}:{self.kind}:{self.step}:{self.idx}"


OPEN: Final = frozenset({"proposed", "held", "cleared", "executing", "unknown"})
FINAL: Final = frozenset({"executed", "failed", "refused", "answered", "expired", "cancelled"})
UNSENT: Final = frozenset({"refused", "answered", "expired", "cancelled"})
"""The ends of a call that was not sent or, once people had it sent again, not sent again."""


# Questions


def args_of(call: Call) -> bytes:
    """The argument bytes: proposed, or approved once they were sent. Raises sealing.Tampered."""
    return _open(call, "args")


def reason_of(call: Call) -> str:
    """Why the agent wanted it, in its own, unverified words."""
    return _open(call, "reason").decode()


def message_of(call: Call) -> str:
    """What policy or a person said of it, or nothing."""
    return _open(call, "message").decode() if call.message else ""


def unconsumed(run_id: UUID) -> list[Call]:
    """The calls whose results no step was given yet, in the order in which the agent proposed them."""
    return _UNCONSUMED(run=run_id)


_UNCONSUMED = rows.Ready(
    lambda: Call.objects.filter(run_id=rows.Slot("run"), consumed_seq=None).order_by("step", "idx")
)


def result_of(call: Call) -> CallResult:
    """How a call ended, as the agent is told. Raises sealing.Tampered, and keys.UnknownKey."""
    if call.status == Call.Status.ANSWERED:
        return _answered(call)
    answer: dict[str, Any] = {}
    replayable = False
    args = args_of(call)
    if call.status in {"executed", "failed"}:
        last = _ended(call)
        answer, replayable = answer_of(last), call.status == "failed" and last.outcome in NOTHING_HAPPENED
    return CallResult(
        call_id=call.public_id,
        tool=call.tool_name,
        args=_shown(args),
        status=str(call.status),
        value=answer.get("value"),
        message=answer.get("message") or _told_of(call),
        replayable=replayable,
    )


def _ended(call: Call) -> Attempt:
    """The attempt that ended the call: its own, and with the answer that every such end is written with. What ended
    before ends were signed has no code."""
    last = Attempt.objects.filter(pk=call.attempt_id, call_id=call.pk).first() if call.attempt_id else None
    if last is None or not last.answer or (last.end_mac and not last.holds()):
        raise sealing.Tampered(f"The answer to {call.public_id} is not as it was written.")
    return last


def _told_of(call: Call) -> str:
    """What was said of it; and that it may have happened all the same, where it was to be sent again and was not."""
    last = Attempt.objects.filter(pk=call.attempt_id).first() if call.attempt_id and call.status in UNSENT else None
    doubt = "An earlier sending of it has no known outcome." if last and not nothing_happened(last, call.effect) else ""
    return f"{message_of(call)} {doubt}".strip()


def question_of(call: Call, number: int | None = None) -> str:
    """The subject under which people are asked what became of the call, for the so-manieth time or the last."""
    return f"{call.public_id}:outcome:{number or call.questions}"


def _answered(call: Call) -> CallResult:
    """What a person gave in the tool's place. An answer that cannot be proved is none: the agent is told so."""
    facts = (call.public_id, call.tool_name, _shown(args_of(call)))
    said = gate.answer(call.workspace_id, call.subject)
    if isinstance(said, gate.NotCleared) or said.response is None:
        why = said.message if isinstance(said, gate.NotCleared) else "It was answered without a response."
        log.error("%s was answered, and the answer does not count: %s", call.public_id, why)
        return CallResult(*facts, status="refused", message=why)
    value = canonical.parse(said.response)
    if said.asks_changes:
        value |= {"approval": call.approval}
    return CallResult(*facts, status="answered", value=value, message=said.message, by=said.by_name)


def _shown(args: bytes) -> dict[str, Any]:
    """The arguments, or none where they were refused because they cannot be read."""
    try:
        shown = canonical.parse(args)
    except canonical.Unrepresentable:
        return {}
    return shown if isinstance(shown, dict) else {}


def idempotency_key(run_id: UUID, step: int, idx: int) -> str:
    """The key of a call: the same after any crash, retry or edit, another one for every other call."""
    return canonical.sha256_hex(f"placet call 1\0{run_id.hex}:{step}:{idx}".encode())


def _place(call_id: UUID, column: str) -> str:
    return f"runtime_call.{column}:{call_id.hex}"


def _open(call: Call, column: str) -> bytes:
    return sealing.unseal(call.workspace_id, bytes(getattr(call, column)), place=_place(call.pk, column))


# Verbs


def sealed(workspace_id: UUID, call_id: UUID, column: str, clear: bytes) -> bytes:
    """What goes into a sealed column of a call."""
    return sealing.seal(workspace_id, clear, place=_place(call_id, column))


_POKE = """
    UPDATE runtime_run SET pokes = pokes + 1, hinted_at = NULL,
        status = CASE WHEN status IN ('suspended_approval', 'sleeping')
                OR (status = 'parked' AND reason_code = %(parked_for)s)
            THEN 'ready' ELSE status END,
        waited = waited + COALESCE(placet_now() - CASE status WHEN 'suspended_approval' THEN wake_at
            WHEN 'parked' THEN CASE WHEN reason_code = %(parked_for)s THEN ended_at END END, interval '0'),
        ended_at = CASE WHEN status = 'parked' AND reason_code = %(parked_for)s THEN NULL ELSE ended_at END,
        wake_at = CASE WHEN status = 'in_progress' THEN wake_at ELSE placet_now() END,
        cancel_by = CASE WHEN cancel_by = '' THEN %(cancel_by)s ELSE cancel_by END,
        cancel_reason = CASE WHEN cancel_by = '' THEN %(cancel_reason)s ELSE cancel_reason END
    WHERE id = %(run)s AND workspace_id = %(workspace)s
    RETURNING status
"""


def poke(
    workspace_id: UUID, run_id: UUID, *, cancel_by: str = "", cancel_reason: bytes = b"", parked_for: str = ""
) -> bool:
    """Something happened to a call of this run: lock the run, wake it if it waits for people (or is parked for this
    reason), and leave it to its worker if it has one. False if there is no such run. The run's row comes before its
    calls: the lock order. ``cancel_by`` is the public id of whoever ends the run by it, with the sealed reason."""
    told: dict[str, Any] = {"run": run_id, "workspace": workspace_id, "parked_for": parked_for or "-"}
    found = wire.rows(_POKE, told | {"cancel_by": cancel_by, "cancel_reason": cancel_reason})
    if not found:
        return False
    rows.publish(workspace_id, rows.public_id(Run.PREFIX, run_id))
    if found[0][0] == "ready":
        hints.hint_on_commit(workspace_id, run_id)
    return True


def cancel_rest(run_id: UUID) -> None:
    """End the calls of a run that ends, where nothing was sent. In the transaction that ends the run, which holds its
    row."""
    ending = Call.objects.filter(run_id=run_id, status__in=["held", "cleared"])
    for call_id in ending.order_by("step", "idx").values_list("pk", flat=True):
        rows.move(Call, call_id, frm={"held", "cleared"}, to="cancelled", ended_at=rows.Now())
