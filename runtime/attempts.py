"""Attempts: every sending of a call is written down before anything is sent, and so is what it brought."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import models

from approvals import rows
from approvals.ledger import canonical, keys, sealing
from runtime import tools

GRACE: Final = 5
"""Seconds that an attempt's deadline in the database lies behind the tool's own time-out."""
MARGIN: Final = 5
"""Seconds more before a call that may have arrived is taken for one that will not arrive any more."""


NOTHING_HAPPENED: Final = frozenset({tools.NOT_SENT, tools.FAILED_BEFORE})
"""The ends of a sending after which nothing can have happened."""
REPEATED_UNASKED: Final = frozenset({"keyed", "natural"})
"""Effects that a second sending does not double, so that nobody is asked before it."""


class Attempt(rows.Row):
    """One sending of a call. It is written before anything is sent; without an outcome, nobody knows what happened."""

    PREFIX = "att"

    call = models.ForeignKey("runtime.Call", models.PROTECT, related_name="attempts", db_constraint=False)
    number = models.PositiveIntegerField()
    fence = models.PositiveBigIntegerField()
    args_digest = models.CharField(max_length=64)
    send_deadline = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=16, blank=True)
    late = models.BooleanField(default=False)
    note = models.TextField(blank=True)
    answer = models.BinaryField(default=b"")
    usage = models.JSONField(null=True)
    end_mac = models.BinaryField(default=b"")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["call", "number"], name="one_attempt_of_a_number")]

    def holds(self) -> bool:
        """Whether its end is as it was written. Raises UnknownKey."""
        ends = _end(self.pk, self.outcome, self.call_id), _end(self.pk, self.outcome)
        return any(keys.holds("attempt", each, bytes(self.end_mac)) for each in ends)

    @property
    def did_nothing(self) -> bool:
        """Whether it had no effect, and Placet wrote so: for that alone a call may be sent again unasked."""
        try:
            return self.outcome in NOTHING_HAPPENED and self.holds()
        except keys.UnknownKey:
            return False


# Questions


def answer_of(attempt: Attempt) -> dict[str, Any]:
    """What an attempt brought: ``{"value", "message"}``, or nothing."""
    if not attempt.answer:
        return {}
    clear = sealing.unseal(attempt.workspace_id, bytes(attempt.answer), place=_answer_place(attempt.pk))
    answer: dict[str, Any] = json.loads(clear)
    return answer


def quiet_at(call_id: UUID) -> datetime:
    """When no sending of this call can arrive any more: the last deadline of all of them, and a margin."""
    last = Attempt.objects.filter(call_id=call_id).aggregate(last=models.Max("send_deadline"))["last"]
    return (last or rows.now()) + timedelta(seconds=MARGIN)


def nothing_happened(last: Attempt, effect: str) -> bool:
    """Whether, its last sending being this one, a call can have had no effect.

    Before a call of another kind is sent again, a lookup or a person has said that the earlier sendings did nothing. A
    call that is safe to repeat is repeated without asking, so an earlier sending without an answer still counts.
    """
    if not last.did_nothing or effect not in REPEATED_UNASKED:
        return last.did_nothing
    return all(each.did_nothing for each in Attempt.objects.filter(call_id=last.call_id))


def _end(attempt_id: UUID, outcome: str, call_id: UUID | None = None) -> bytes:
    """What is signed of an end. What was signed of old does not say of which call it is; the ledger does."""
    of = {"call": call_id.hex} if call_id else {}
    return canonical.encode({"attempt": attempt_id.hex, "outcome": outcome} | of)


def _answer_place(attempt_id: UUID) -> str:
    return f"runtime_attempt.answer:{attempt_id.hex}"


# Verbs


def signed_end(attempt: Attempt, outcome: str) -> bytes:
    """What goes into ``end_mac`` of an attempt that ends so."""
    return keys.sign("attempt", _end(attempt.pk, outcome, attempt.call_id))


def sealed_answer(attempt: Attempt, value: Any, message: str) -> bytes:
    """What goes into an attempt's ``answer``."""
    clear = canonical.encode({"value": value, "message": message}, max_depth=canonical.MAX_DEPTH + 1)
    return sealing.seal(attempt.workspace_id, clear, place=_answer_place(attempt.pk))
