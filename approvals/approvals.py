"""Approvals: what people are asked, and how an approval opens, changes and ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models

from approvals import bars, expiry, policy_words, resolutions, rows
from approvals.ledger import canonical, entries, keys, sealing
from approvals.people import Person
from approvals.resolutions import Resolution as Resolution
from approvals.revisions import Revision, add_revision, args_of, bar_of, current_revision, revisions, rule_of

__all__ = ["Approval", "Resolution", "add_revision", "args_of", "bar_of", "current_revision", "revisions"]


ENDED = ~models.Q(status="pending")
"""What the indexes of the history hold: whoever asks for it says so in these words."""


class Approval(rows.Row):
    """One question to people: may exactly these bytes run, or stand? Everything a channel needs to show and judge it
    is in the row. ``kind`` says what the bytes are: a call's arguments, a run's variables, what a question is about.

    ``expires_at`` is the deadline that is hashed with the bytes; ``frozen_seconds`` is how long a stop kept it from
    running, and ``ends_at`` what both come to (`approvals.expiry`).

    ``rule`` is a copy for display; the bar that counts is the one in the ruling of the revision, which is signed.
    ``rehearsal``: people decide it as they always do, and nothing of it is ever sent. ``refused_before``: how often
    people had refused the same call of the same agent when it opened, as far as `repeats` counts.
    """

    PREFIX = "apr"

    class Kind(models.TextChoices):
        CALL = "call"
        BREAKPOINT = "breakpoint"
        QUESTION = "question"
        BUDGET = "budget"
        OUTCOME = "outcome"
        GRANT = "grant"
        CHANGE = "change"

    class Status(models.TextChoices):
        PENDING = "pending"
        APPROVED = "approved"
        ANSWERED = "answered"
        REJECTED = "rejected"
        EXPIRED = "expired"
        CANCELLED = "cancelled"
        SUPERSEDED = "superseded"

    class Outcome(models.TextChoices):
        NONE = "none"
        EXECUTED = "executed"
        FAILED = "failed"
        UNKNOWN = "unknown"

    MOVES: ClassVar[Mapping[str, frozenset[str]]] = {
        "pending": frozenset({"approved", "answered", "rejected", "expired", "cancelled", "superseded"}),
    }

    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.CALL)
    subject = models.CharField(max_length=80)
    chain = models.CharField(max_length=40)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.PENDING)
    outcome = models.CharField(max_length=12, choices=Outcome.choices, default=Outcome.NONE)
    outcome_note = models.TextField(blank=True)
    outcome_at = models.DateTimeField(null=True)
    tool = models.CharField(max_length=200)
    tool_title = models.CharField(max_length=200)
    definition_digest = models.CharField(max_length=64)
    schema = models.JSONField()
    response_schema = models.JSONField(default=dict)
    summary = models.TextField(blank=True)
    effect = models.CharField(max_length=12)
    risk = models.CharField(max_length=8)
    agent = models.CharField(max_length=120)
    requester = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    context = models.BinaryField()
    policy_version = models.PositiveIntegerField()
    rule_id = models.CharField(max_length=80)
    rule = models.JSONField()
    teams = ArrayField(models.CharField(max_length=40))
    revision = models.PositiveIntegerField(default=1)
    required = models.PositiveIntegerField()
    expires_at = models.DateTimeField()
    frozen_seconds = models.PositiveIntegerField(default=0)
    ends_at = models.GeneratedField(
        expression=expiry.Shifted("expires_at", "frozen_seconds"), output_field=models.DateTimeField(), db_persist=True
    )
    decided_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(Person, models.PROTECT, null=True, related_name="+")
    choice = models.CharField(max_length=40, blank=True)
    asked_again = models.ForeignKey("self", models.PROTECT, null=True, related_name="+")
    rehearsal = models.BooleanField(default=False)
    refused_before = models.PositiveIntegerField(default=0)
    mac = models.BinaryField(default=b"")

    _masked: tuple[str, ...]
    """The pointers that policy masks, once `masking` found them out."""

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "subject"],
                condition=models.Q(status="pending"),
                name="one_open_approval_of_a_subject",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    status__in=["pending", "approved", "answered", "rejected", "expired", "cancelled", "superseded"]
                ),
                name="approval_status_is_known",
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=["call", "breakpoint", "question", "budget", "outcome", "grant", "change"]),
                name="approval_kind_is_known",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "status", "ends_at"], name="approvals_by_deadline"),
            models.Index(fields=["ends_at"], condition=models.Q(status="pending"), name="approvals_due"),
            models.Index(fields=["workspace", "subject"], name="approvals_of_a_subject"),
            models.Index(fields=["workspace", "-decided_at"], condition=ENDED, name="approvals_decided"),
            models.Index(fields=["workspace", "status", "-decided_at"], condition=ENDED, name="approvals_ended_so"),
            models.Index(fields=["workspace", "tool", "-decided_at"], name="approvals_of_a_tool"),
            models.Index(fields=["workspace", "agent", "-decided_at"], name="approvals_of_an_agent"),
            models.Index(fields=["workspace", "requester", "-decided_at"], name="approvals_of_an_asker"),
            models.Index(
                fields=["workspace", "created_at"], condition=models.Q(status="pending"), name="approvals_waiting"
            ),
            models.Index(fields=["chain"], condition=models.Q(status="pending"), name="approvals_open_in_a_chain"),
        ]

    def __str__(self) -> str:
        return self.public_id

    def holds(self) -> bool:
        """Whether what people are told of the matter, and what stays as it was opened, is as it was written."""
        return keys.holds("approval", _signed(self), bytes(self.mac))


_FIXED = (
    "kind",
    "subject",
    "chain",
    "tool",
    "tool_title",
    "definition_digest",
    "schema",
    "response_schema",
    "summary",
    "effect",
    "risk",
    "agent",
)
"""What an approval was opened with and keeps; of these an edit may raise the risk alone. What else may change is proved
by its revisions, votes and entries."""


def _signed(approval: Approval) -> bytes:
    keys_of = {name: getattr(approval, name).hex for name in ("id", "workspace_id")}
    keys_of |= {name: (getattr(approval, name) or UUID(int=0)).hex for name in ("requester_id", "asked_again_id")}
    facts = {name: getattr(approval, name) for name in _FIXED} | {"kind": str(approval.kind)}
    facts |= {name: said for name in ("rehearsal", "refused_before") if (said := getattr(approval, name))}
    facts["expires_at"] = approval.expires_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    # Only where it says something, so that what was signed before there was any still holds.
    facts |= {"frozen_seconds": frozen} if (frozen := getattr(approval, "frozen_seconds", 0)) else {}
    return canonical.encode(facts | keys_of, max_depth=canonical.MAX_DEPTH + 8)


def sign(approval: Approval) -> bytes:
    """The authentication code of what an approval was opened with."""
    return keys.sign("approval", _signed(approval))


# Questions


def context_of(approval: Approval) -> dict[str, Any]:
    """What the agent said beside the call: ``reason``, ``messages`` and ``title``, all of it unverified. Raises
    Tampered."""
    clear = sealing.unseal(approval.workspace_id, approval.context, place=_context_place(approval.pk))
    context: dict[str, Any] = canonical.parse(clear)
    return context


def resolution(workspace_id: UUID, subject: str) -> Resolution | None:
    """How the newest approval of a subject ended; None while it is pending or where there is none."""
    found = Approval.objects.filter(workspace_id=workspace_id, subject=subject).order_by("-created_at").first()
    return None if found is None or found.status == Approval.Status.PENDING else resolutions.again(found)


def open_among(workspace_id: UUID, subjects: Iterable[str]) -> set[str]:
    """Those of the subjects about which people are still asked. For the sweep's repair."""
    asked = Approval.objects.filter(workspace_id=workspace_id, subject__in=list(subjects), status="pending")
    return set(asked.values_list("subject", flat=True))


def seal_context(approval: Approval, context: Mapping[str, Any]) -> bytes:
    """What the agent said beside the call, as the row keeps it."""
    return sealing.seal(approval.workspace_id, canonical.encode(context), place=_context_place(approval.pk))


def _context_place(key: UUID) -> str:
    return f"approvals_approval.context:{key.hex}"


# Verbs


def bar_columns(rule: Mapping[str, Any]) -> dict[str, Any]:
    """What the columns of an approval say of the rule that it stands under."""
    needed = bars.seats(rule)
    return {"rule": rule, "rule_id": rule["id"], "required": len(needed), "teams": sorted(set(needed))}


def read_bar(approval: Approval, revision: Revision) -> None:
    """Have the row in memory say what the signed rule of its revision says, for lists that are read from rows."""
    for name, value in bar_columns(rule_of(approval, revision)).items():
        setattr(approval, name, value)


def raise_bar(approval: Approval, rule: dict[str, Any], *, revision: int, policy_version: int) -> None:
    """Make a new revision, under its rule, the one that people vote on. The approval was found genuine under the lock:
    where the rule says a higher risk than it was opened with, it is signed anew."""
    columns = bar_columns(rule) | {"revision": revision, "policy_version": policy_version}
    approval.risk = policy_words.riskiest([approval.risk, rule.get("risk", approval.risk)])
    columns |= {"risk": approval.risk, "mac": sign(approval)}
    Approval.objects.filter(pk=approval.pk).update(**columns)
    for name, value in columns.items():
        setattr(approval, name, value)


def settle(
    approval: Approval,
    status: str,
    *,
    by: str,
    person: Person | None = None,
    message: str = "",
    response: bytes | None = None,
    choice: str = "",
    voted_on: Revision | None = None,
    where: models.Q | None = None,
) -> bool:
    """End a pending approval and tell the machine that asked, in the same transaction. False if it was settled
    already. ``voted_on`` is the current revision, where it was read and found genuine under the lock."""
    ended = {"decided_at": rows.Now(), "decided_by": person, "choice": choice}
    if not rows.move(Approval, approval.pk, frm="pending", to=status, where=where, **ended):
        return False
    if voted_on is None:
        approval.refresh_from_db()
    else:
        approval.status, approval.decided_by, approval.choice = status, person, choice
        del approval.decided_at  # the database's clock has set it: whoever looks at it, reads it
    outcome = resolutions.of(approval, message=message, response=response, person=person, voted_on=voted_on)
    body = {"digest": outcome.digest or "", "revision": approval.revision} | ({"choice": choice} if choice else {})
    record(approval, f"approval.{status}", body, by=by)
    resolutions.tell(outcome)
    rows.publish(approval.workspace_id, approval.public_id)
    return True


def expire_due(limit: int = 100) -> int:
    """End what is past its deadline, by the database's clock, each approval in its own transaction. Returns how many
    ended."""
    due = Approval.objects.filter(expiry.overdue(rows.NowOnce())).order_by("ends_at")[:limit]
    return sum(_expire(approval) for approval in due)


def _expire(approval: Approval) -> bool:
    with rows.within(approval.workspace_id):
        late = expiry.overdue(rows.Now())
        return settle(approval, Approval.Status.EXPIRED, by="system", message="Nobody decided in time.", where=late)


def cancel_open(
    workspace_id: UUID, chain: str, *, by: str, person: Person | None, reason: str, subject: str = ""
) -> int:
    """Cancel whatever a chain still asks, or asks about a subject, oldest first. Returns how many approvals ended."""
    pending = Approval.objects.filter(workspace_id=workspace_id, chain=chain, status="pending").order_by("pk")
    pending = pending.filter(subject=subject) if subject else pending
    # All are locked before the first is settled: settling locks the run, and whoever holds a run locks no open
    # approval.
    locked = list(pending.select_for_update())
    return sum(settle(approval, Approval.Status.CANCELLED, by=by, person=person, message=reason) for approval in locked)


def withdraw(
    workspace_id: UUID, chain: str, *, by: str, person_id: UUID | None = None, reason: str, subject: str = ""
) -> int:
    """Cancel all that a chain still asks, or only what it asks about one subject. Before its run is touched: the lock
    order is approval, then run."""
    person = Person.objects.filter(pk=person_id).first() if person_id else None
    with rows.within(workspace_id):
        return cancel_open(workspace_id, chain, by=by, person=person, reason=reason, subject=subject)


def record(approval: Approval, kind: str, body: dict[str, Any], *, by: str) -> None:
    """One entry about an approval in the chain of its run."""
    named = {"approval": approval.public_id, "subject": approval.subject, "revision": approval.revision}
    entries.append(approval.workspace_id, approval.chain, kind, {**named, **body}, by=by)
